"""Convolutions, pools, resizing and signals."""
