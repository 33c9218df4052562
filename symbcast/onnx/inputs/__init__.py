"""Loading models from files and memory, and naming their inputs."""
