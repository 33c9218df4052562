"""The public API: thin classes over the plain answers of `symbcast.core.program`, the only ones that import lazily."""
