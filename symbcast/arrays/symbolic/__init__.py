"""Arrays with symbolic shapes, and what is known of their elements."""
