"""What a caller knows of a graph's inputs."""
