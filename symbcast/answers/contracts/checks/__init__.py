"""Checks of ranges: failing sizes, and how requests are made to fit."""
