"""Collect the nodes' requirements on sizes, and derive the condition on the model's inputs."""
