"""The public face: thin classes over the plain answers of `symbcast.program`, the only ones that import lazily."""
