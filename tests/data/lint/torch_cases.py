"""Annotated functions and modules of PyTorch; the comment at the end of a signature has the codes that lint finds."""

import torch
from jaxtyping import Float
from torch import Tensor, nn


def total(x: Float[Tensor, "n m"]) -> Float[Tensor, "n"]:  # SYM101
    return x.sum(0)


def product(x: Float[Tensor, "n k"], y: Float[Tensor, "k m"]) -> Float[Tensor, "n m"]:
    return x @ y


def product_transposed(x: Float[Tensor, "n k"], y: Float[Tensor, "m k"]) -> Float[Tensor, "n m"]:  # SYM105
    return x @ y


def added(x: Float[Tensor, "n"], y: Float[Tensor, "m"]) -> Float[Tensor, "n"]:  # SYM102
    return x + y


def joined(x: Float[Tensor, "n m"], y: Float[Tensor, "n m"]) -> tuple[Float[Tensor, "2*n m"], Float[Tensor, "n m"]]:
    return torch.cat([x, y]), x * y


def squared_error(x: Float[Tensor, "n"], y: Float[Tensor, "n 1"]) -> Float[Tensor, ""]:  # SYM104
    return ((x - y) ** 2).mean()


def every_second(x: Float[Tensor, "2*n d"]) -> Float[Tensor, "n d"]:
    return x[::2]


def every_third(x: Float[Tensor, "2*n d"]) -> Float[Tensor, "n d"]:  # SYM101
    return x[::3]


class Net(nn.Module):
    def __init__(self, dim: int, hidden: int):
        super().__init__()
        self.first = nn.Linear(dim, hidden)
        self.second = nn.Linear(hidden, dim)

    def forward(self, x: Float[Tensor, "batch dim"]) -> Float[Tensor, "batch dim"]:
        return x + self.second(torch.relu(self.first(x)))

    def encoded(self, x: Float[Tensor, "batch dim"]) -> Float[Tensor, "batch hidden"]:
        return self.first(x)

    def pooled(self, x: Float[Tensor, "batch dim"]) -> Float[Tensor, "batch hidden"]:  # SYM103
        return self.first(x).mean(0)
