"""Loading of OpenVINO models, and the sizes of their inputs."""
