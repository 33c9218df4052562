"""Contracts: from a condition to the ranges that servers and compilers take."""
