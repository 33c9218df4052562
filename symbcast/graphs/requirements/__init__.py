"""The requirements of a model's nodes on sizes, and the resulting condition on its inputs."""
