"""Whether ONNX Runtime opens a model: what it infers, folds and looks up before the first run."""
