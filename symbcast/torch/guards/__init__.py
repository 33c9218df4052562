"""What torch's guards accept, compared with what the graph requires."""
