"""Sixteen functions of PyTorch with one mistake each, in the line with a comment: the right code."""

# ruff: noqa: N812

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor


def linear(x: Float[Tensor, "b i"], w: Float[Tensor, "i o"]) -> Float[Tensor, "b o"]:
    return F.linear(x, w)  # return F.linear(x, w.T)


def embedded(ids: Int[Tensor, "b t"], table: Float[Tensor, "v d"]) -> Float[Tensor, "b t d"]:
    return F.embedding(ids, table).transpose(1, 2)  # return F.embedding(ids, table)


def flattened(x: Float[Tensor, "b c h w"]) -> Float[Tensor, "b c*h*w"]:
    return torch.flatten(x, 2)  # return torch.flatten(x, 1)


def batched_product(x: Float[Tensor, "b n d"], y: Float[Tensor, "b m d"]) -> Float[Tensor, "b n m"]:
    return torch.bmm(x, y.mT.transpose(0, 1))  # return torch.bmm(x, y.mT)


def gathered(x: Float[Tensor, "b v"], target: Int[Tensor, "b"]) -> Float[Tensor, "b"]:
    return x.gather(1, target[:, None])  # return x.gather(1, target[:, None])[:, 0]


def padded(x: Float[Tensor, "b h w"]) -> Float[Tensor, "b h+2 w"]:
    return F.pad(x, (1, 1))  # return F.pad(x, (0, 0, 1, 1))


def unfolded(x: Float[Tensor, "n d"]) -> Float[Tensor, "n-2 d 3"]:
    return x.unfold(1, 3, 1)  # return x.unfold(0, 3, 1)


def convolved(x: Float[Tensor, "b c t"], w: Float[Tensor, "o c 5"]) -> Float[Tensor, "b o t"]:
    return F.conv1d(x, w, padding=1)  # return F.conv1d(x, w, padding=2)


def downsampled(x: Float[Tensor, "b c 2*h 2*w"]) -> Float[Tensor, "b c h w"]:
    return F.avg_pool2d(x, 2, stride=1)  # return F.avg_pool2d(x, 2)


def mixed(x: Float[Tensor, "b t d"], y: Float[Tensor, "b s d"]) -> Float[Tensor, "b t+s d"]:
    return torch.cat([x, y], dim=-1)  # return torch.cat([x, y], dim=1)


def heads_joined(x: Float[Tensor, "b h t d"]) -> Float[Tensor, "b t h*d"]:
    b, h, t, d = x.shape
    return x.transpose(1, 2).reshape(b, h, t * d)  # return x.transpose(1, 2).reshape(b, t, h * d)


def attended(q: Float[Tensor, "b t d"], k: Float[Tensor, "b s d"], v: Float[Tensor, "b s e"]) -> Float[Tensor, "b t e"]:
    weights = torch.softmax(q @ k.mT, dim=-1)
    return weights.mT @ v  # return weights @ v


def cosine(x: Float[Tensor, "n d"], y: Float[Tensor, "m d"]) -> Float[Tensor, "n m"]:
    return F.cosine_similarity(x, y[:, None], dim=-1)  # return F.cosine_similarity(x[:, None], y, dim=-1)


def masked(x: Float[Tensor, "b t d"], keep: Bool[Tensor, "b t"]) -> Float[Tensor, "b t d"]:
    return x.masked_fill(~keep, 0.0)  # return x.masked_fill(~keep[..., None], 0.0)


def entropy(logits: Float[Tensor, "b c t"], target: Int[Tensor, "b t"]) -> Float[Tensor, "b t"]:
    return F.log_softmax(logits, 1).sum(2)  # return F.log_softmax(logits, 1).sum(1)


def normalised(
    x: Float[Tensor, "b c h w"], mean: Float[Tensor, "c"], std: Float[Tensor, "c"]
) -> Float[Tensor, "b c h w"]:
    return (x - mean) / std  # return (x - mean[:, None, None]) / std[:, None, None]
