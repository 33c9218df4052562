"""Operators of ONNX Runtime's own domains, and quantised ones."""
