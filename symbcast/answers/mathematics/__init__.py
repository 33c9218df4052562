"""Names, dimensions and formulas as LaTeX, for MathJax and for LaTeX with amsmath and amssymb."""
