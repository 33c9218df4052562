"""What `symbcast model` does with one file or many."""
