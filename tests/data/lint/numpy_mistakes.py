"""Functions with one mistake each, in the line with a comment, which has the right code."""

import numpy as np
from jaxtyping import Bool, Float, Int


def row_sums(x: Float[np.ndarray, "n m"]) -> Float[np.ndarray, "n"]:
    return x.sum(0)  # return x.sum(1)


def column_means(x: Float[np.ndarray, "n m"]) -> Float[np.ndarray, "m"]:
    return x.mean(axis=-1)  # return x.mean(axis=0)


def column_maxima(x: Float[np.ndarray, "n m"]) -> Float[np.ndarray, "m"]:
    return np.max(x, axis=1)  # return np.max(x, axis=0)


def normalised(x: Float[np.ndarray, "n m"]) -> Float[np.ndarray, "n m"]:
    return x / x.sum(1)  # return x / x.sum(1, keepdims=True)


def softmax(x: Float[np.ndarray, "n m"]) -> Float[np.ndarray, "n m"]:
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1)  # return e / e.sum(1, keepdims=True)


def product(x: Float[np.ndarray, "n k"], y: Float[np.ndarray, "m k"]) -> Float[np.ndarray, "n m"]:
    return x @ y  # return x @ y.T


def affine(
    x: Float[np.ndarray, "batch inp"], w: Float[np.ndarray, "out inp"], b: Float[np.ndarray, "out"]
) -> Float[np.ndarray, "batch out"]:
    return x @ w + b  # return x @ w.T + b


def gram(x: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "d d"]:
    return x @ x.T  # return x.T @ x


def squared_error(found: Float[np.ndarray, "n"], wanted: Float[np.ndarray, "n 1"]) -> Float[np.ndarray, ""]:
    return ((found - wanted) ** 2).mean()  # return ((found - wanted[:, 0]) ** 2).mean()


def hinge(score: Float[np.ndarray, "n 1"], label: Float[np.ndarray, "n"]) -> Float[np.ndarray, ""]:
    return np.maximum(0, 1 - score * label).sum()  # return np.maximum(0, 1 - score[:, 0] * label).sum()


def residual_norm(x: Float[np.ndarray, "n d"], y: Float[np.ndarray, "n"]) -> Float[np.ndarray, ""]:
    mean = x.mean(1, keepdims=True)  # mean = x.mean(1)
    return ((mean - y) ** 2).sum()


def distances(x: Float[np.ndarray, "n d"], y: Float[np.ndarray, "m d"]) -> Float[np.ndarray, "n m"]:
    return ((x[:, None] - y[None]) ** 2).sum(1)  # return ((x[:, None] - y[None]) ** 2).sum(-1)


def swapped_distances(x: Float[np.ndarray, "n d"], y: Float[np.ndarray, "m d"]) -> Float[np.ndarray, "n m"]:
    return ((x[None] - y[:, None]) ** 2).sum(-1)  # return ((x[:, None] - y[None]) ** 2).sum(-1)


def covariance(x: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "d d"]:
    centred = x - x.mean(1)  # centred = x - x.mean(0)
    return centred.T @ centred


def joined(x: Float[np.ndarray, "n d"], y: Float[np.ndarray, "m d"]) -> Float[np.ndarray, "n+m d"]:
    return np.concatenate([x, y], axis=1)  # return np.concatenate([x, y], axis=0)


def stacked(x: Float[np.ndarray, "n d"], y: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n 2 d"]:
    return np.stack([x, y])  # return np.stack([x, y], axis=1)


def patches(image: Float[np.ndarray, "c h w"]) -> Float[np.ndarray, "h w c"]:
    return image.transpose(1, 0, 2)  # return image.transpose(1, 2, 0)


def heads(x: Float[np.ndarray, "t 4*d"]) -> Float[np.ndarray, "4 t d"]:
    return x.reshape(4, x.shape[0], -1).swapaxes(0, 1)  # return x.reshape(x.shape[0], 4, -1).swapaxes(0, 1)


def flat(x: Float[np.ndarray, "b h w"]) -> Float[np.ndarray, "b h*w"]:
    return x.reshape(x.shape[1], -1)  # return x.reshape(x.shape[0], -1)


def differences(x: Float[np.ndarray, "t d"]) -> Float[np.ndarray, "t-1 d"]:
    return np.diff(x)  # return np.diff(x, axis=0)


def shifted(x: Float[np.ndarray, "t d"]) -> Float[np.ndarray, "t-1 d"]:
    return x[2:]  # return x[1:]


def evens(x: Float[np.ndarray, "n"]) -> Float[np.ndarray, "n//2"]:
    return x[::2]  # return x[1::2]


def padded(x: Float[np.ndarray, "n"]) -> Float[np.ndarray, "n+2"]:
    return np.pad(x, (1, 0))  # return np.pad(x, (1, 1))


def weighted(x: Float[np.ndarray, "n d"], w: Float[np.ndarray, "n"]) -> Float[np.ndarray, "d"]:
    return (x * w).sum(0)  # return (x * w[:, None]).sum(0)


def attention_scores(q: Float[np.ndarray, "h t d"], k: Float[np.ndarray, "h s d"]) -> Float[np.ndarray, "h t s"]:
    return np.einsum("htd,hsd->hst", q, k)  # return np.einsum("htd,hsd->hts", q, k)


def batched(x: Float[np.ndarray, "b n k"], y: Float[np.ndarray, "b k m"]) -> Float[np.ndarray, "b n m"]:
    return x @ y.swapaxes(0, 1)  # return x @ y


def traces(x: Float[np.ndarray, "b n n"]) -> Float[np.ndarray, "b"]:
    return np.trace(x)  # return np.trace(x, axis1=1, axis2=2)


def outer(x: Float[np.ndarray, "n"], y: Float[np.ndarray, "m"]) -> Float[np.ndarray, "n m"]:
    return x * y[:, None]  # return x[:, None] * y


def selected(x: Float[np.ndarray, "n d"], rows: Int[np.ndarray, "k"]) -> Float[np.ndarray, "k d"]:
    return x[:, rows]  # return x[rows]


def masked(x: Float[np.ndarray, "n d"], mask: Bool[np.ndarray, "n"]) -> Float[np.ndarray, "n d"]:
    return np.where(mask, x, 0.0)  # return np.where(mask[:, None], x, 0.0)


def last(x: Float[np.ndarray, "*batch t d"]) -> Float[np.ndarray, "*batch d"]:
    return x[-1]  # return x[..., -1, :]


def means(x: Float[np.ndarray, "*batch d"]) -> Float[np.ndarray, "*batch"]:
    return x.mean(0)  # return x.mean(-1)


def kept(x: Float[np.ndarray, "n m"]) -> Float[np.ndarray, "n 1"]:
    return x.sum(1)  # return x.sum(1, keepdims=True)


def added(x: Float[np.ndarray, "#n m"], y: Float[np.ndarray, "#n m"]) -> Float[np.ndarray, "n m"]:
    return np.concatenate([x, y])[: len(x)]  # return x + y


def best(x: Float[np.ndarray, "n m"]) -> Int[np.ndarray, "n"]:
    return x.argmax(0)  # return x.argmax(1)


def cumulative(x: Float[np.ndarray, "n m"]) -> Float[np.ndarray, "n m"]:
    return np.cumsum(x)  # return np.cumsum(x, axis=0)
