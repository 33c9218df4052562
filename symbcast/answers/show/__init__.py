"""Answers shown: documents made of them, and what draws a document as text, HTML, LaTeX, JSON, or on a terminal."""
