"""Operators of neural networks: attention, normalisation, recurrent cells, windows, scales."""
