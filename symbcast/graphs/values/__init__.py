"""What is known of the values in a graph: their sizes, and the elements of those that hold sizes."""
