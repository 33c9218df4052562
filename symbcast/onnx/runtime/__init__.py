"""Where ONNX Runtime differs from the ONNX documents."""
