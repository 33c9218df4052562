"""What ONNX Runtime does otherwise than the documents of ONNX."""
