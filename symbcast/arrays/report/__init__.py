"""The answer about a traced function."""
