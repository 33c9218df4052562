"""Attention, in the variants of ONNX and ONNX Runtime."""
