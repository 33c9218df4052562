"""What the paths of a run say together: regions, conditions, findings, and the answer."""
