"""The ladder through the tiers."""
