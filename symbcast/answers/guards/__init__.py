"""Conditions as guards in other languages: each a pure function of a condition and the names of its sizes."""
