"""Recompilations of ``torch.compile``: which guards failed, and which axes to mark."""
