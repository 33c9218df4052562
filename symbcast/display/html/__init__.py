"""Answers as static HTML: no script, no style sheet, nothing from elsewhere, on a light page or a dark one."""
