"""OpenVINO's operators, by family: each maps a node onto the shape functions of `symbcast.operators`."""
