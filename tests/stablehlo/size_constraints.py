"""The constraints of StableHLO's specification that are about sizes, by operator.

MLIR's verifier checks the others when it reads a module: ranks, attributes, element types, regions. It also checks
these where all sizes are numbers. Constraints on the lengths of operands that hold shapes are about sizes, too.
"""

from __future__ import annotations

_NAMES = {
    "C1": """
        abs add and atan2 bitcast_convert cbrt ceil convert cosine count_leading_zeros divide exponential
        exponential_minus_one floor imag is_finite log log_plus_one logistic map maximum minimum multiply
        negate not optimization_barrier or popcnt power real reduce_precision remainder reverse
        round_nearest_afz round_nearest_even rsqrt shift_left shift_right_arithmetic shift_right_logical
        sign sine sqrt subtract tan tanh uniform_dequantize uniform_quantize xor
    """,
    "C2": "compare dynamic_iota get_tuple_element reshape",
    "C1 C2": "complex rng_bit_generator select",
    "C3": "collective_reduce rng transpose",
    "C3 C4": "case collective_broadcast triangular_solve",
    "C2 C3": "if sort",
    "C3 C4 C5 C6 C7": "batch_norm_inference batch_norm_training",
    "C4 C5": "dynamic_slice fft",
    "C5": "broadcast_in_dim collective_permute",
    "C6": "all_gather all_reduce",
    "C1 C2 C3": "while",
    "C1 C2 C4": "clamp",
    "C1 C3": "cholesky",
    "C1 C3 C4 C18 C19 C24": "scatter",
    "C1 C6": "dynamic_update_slice",
    "C1 C7": "reduce",
    "C1 C8": "reduce_scatter",
    "C10 C11 C14 C15 C16 C25": "convolution",
    "C2 C11": "select_and_scatter",
    "C2 C14 C15": "reduce_window",
    "C2 C3 C4": "dynamic_pad",
    "C2 C4": "dynamic_reshape",
    "C2 C4 C5 C7 C10 C11 C14 C15 C16 C25": "dynamic_conv",
    "C2 C6": "concatenate",
    "C2 C9": "all_to_all",
    "C3 C4 C5": "batch_norm_grad",
    "C3 C5": "slice",
    "C3 C8 C11 C12 C13": "dynamic_gather",
    "C3 C9 C12 C17 C21 C22": "gather",
    "C4": "pad",
    "C5 C7": "dynamic_broadcast_in_dim",
    "C9 C10 C12": "dot_general",
}
"""Constraints, and the operators that have them."""

SIZES = {name: frozenset(constraints.split()) for constraints, names in _NAMES.items() for name in names.split()}
"""The constraints about sizes by operator, such as ``C2``."""
