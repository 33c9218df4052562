"""Branches, loops and scans."""
