"""Names, dimensions and formulas as LaTeX that MathJax sets, and a LaTeX with amsmath and amssymb."""
