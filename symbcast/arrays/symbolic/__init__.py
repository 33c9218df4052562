"""Arrays with symbolic shapes, and facts about their elements."""
