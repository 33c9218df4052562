"""Answers written for other programs."""
