"""Values of tensors: their shapes, their known elements, and bounds of the elements that are unknown."""
