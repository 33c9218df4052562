"""What the nodes of a model ask of sizes, and what that comes to for its inputs."""
