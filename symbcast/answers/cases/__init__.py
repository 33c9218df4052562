"""Answers divided into cases: in each, all output sizes and all stretched axes are the same."""
