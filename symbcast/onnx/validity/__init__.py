"""What a model must be before it is asked for which sizes it runs; what is not is a `ModelError`."""
