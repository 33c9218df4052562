"""Models as they come: from files, from memory, and what their inputs are called."""
