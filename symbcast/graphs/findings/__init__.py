"""What a graph requires and fails by: which node, why, and what would mend it."""
