"""A package whose rules cannot be loaded."""

raise RuntimeError("its library is missing")
