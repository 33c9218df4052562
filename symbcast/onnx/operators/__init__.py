"""The operators of ONNX and ONNX Runtime, one file for a family; each registers its operators on import."""
