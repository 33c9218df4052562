"""The operators of StableHLO, CHLO and the dialects beside them."""
