"""LiteRT's operators, by family: each maps an operator onto the shape functions of `symbcast.operators`."""
