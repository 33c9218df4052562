"""The commands, each a file."""
