"""Functions whose comments, docstrings and annotations of other libraries describe shapes; a comment names a mistake."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from nptyping import Float, Shape


def pooled(
    x: np.ndarray,  # [B, T, C]
    weights: np.ndarray,  # (T,) one for each step
) -> np.ndarray:  # [B, C]
    return (x * weights[:, None]).sum(1)


def pooled_over_channels(
    x: np.ndarray,  # [B, T, C]
) -> np.ndarray:  # [B, C]; SYM107
    return x.sum(2)


def distances(x, y):
    """Return the distances of points.

    Parameters
    ----------
    x : ndarray of shape (n_samples, n_features)
        Points.
    y : (m_samples, n_features) array_like
        Other points.

    Returns
    -------
    distances : ndarray of shape (n_samples, m_samples)
    """
    return ((np.asarray(x)[:, None] - y) ** 2).sum(-1)


def swapped_distances(x, y):
    """Return the distances of points.

    Args:
        x: (N, D) array
        y (np.ndarray): [M, D]

    Returns:
        array of shape (M, N), SYM107
    """
    return ((x[:, None] - y) ** 2).sum(-1)


def repeated(x, k, mask=None):
    """Repeat a column.

    :param x: array of shape (n, d)
    :param int k: how many
    :param mask: bool array of shape (n,)
    :returns: array of shape (n, k)
    """
    if mask is not None:
        x = np.where(mask[:, None], x, 0.0)
    return np.repeat(x[:, :1], k, axis=1)


def extremes(x):
    """Return the smallest and the largest row.

    Parameters
    ----------
    x : ndarray of shape (n, d)

    Returns
    -------
    low : ndarray of shape (d,)
    high : ndarray of shape (n,)
        SYM107
    """
    return x.min(0), x.max(0)


def noted(x: Annotated[NDArray[np.float64], Literal["N", 3]]) -> Annotated[np.ndarray, "(3, N)"]:
    return x.T


def noted_wrongly(x: Annotated[np.ndarray, "shape (N, 3)"]) -> Annotated[np.ndarray, "(3, N)"]:  # SYM107
    return x


def of_nptyping(
    x: NDArray[Shape["*, ..., N, 3"], Float], y: NDArray[Shape["M, [x, y, z]"], Float]
) -> NDArray[Shape["*, ..., N, M"], Float]:
    return x @ y.T


def of_nptyping_wrongly(x: NDArray[Shape["N rows, M"], Float]) -> NDArray[Shape["N, N"], Float]:  # SYM107
    return x


def of_other_shapes(box: np.ndarray, size, scale=None):
    """Do what nothing certain is written about.

    Args:
        box: [x1, y1, x2, y2]
        size: the size (h, w)
        scale: array of shape (n,), or (n, d) if there are channels

    Returns:
        a pair (low, high)
    """
    return box[0], box[1]
