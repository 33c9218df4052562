"""Models of OpenVINO as they come, and the sizes of their inputs."""
