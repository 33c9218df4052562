"""Annotations that raise an error when they are evaluated; type checkers only read some of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

if TYPE_CHECKING:
    from elsewhere import Missing


def commas(x: Float[np.ndarray, "n, m"]) -> Float[np.ndarray, "n"]:  # SYM203
    return x.sum(1)


def missing(x: Float[np.ndarray, "n"], y: Missing = None) -> Float[np.ndarray, "n"]:
    return x


def joined(x: Float[np.ndarray, "n"], y: "str" | None = None) -> Float[np.ndarray, "n"]:
    return x
