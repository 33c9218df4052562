"""Answers shown: rows aligned as plain text."""
