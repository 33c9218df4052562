"""symbcast."""
