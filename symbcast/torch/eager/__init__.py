"""Runs of torch code with tensors that have sizes but no elements, when no exported graph is to be had."""
