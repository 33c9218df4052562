"""What is checked about one annotated function."""
