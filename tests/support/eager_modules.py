"""Modules that torch does not export, with the shapes to trace them for; all of them run in plain Python."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812 - its usual name

import symbcast as sb


class Gated(nn.Module):
    """An `if` on a mean: only one branch halves the features."""

    def forward(self, x):
        if x.mean() > 0:
            return x.view(x.shape[0], 2, x.shape[1] // 2).sum(1)
        return x


class Found(nn.Module):
    """Rows by a mask; nothing is left if it is empty."""

    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 3)

    def forward(self, x, keep):
        places = (keep > 0).nonzero()[:, 0]
        if places.shape[0] == 0:
            return x.new_zeros(0, 3)
        return self.net(x[places])


class Counted(nn.Module):
    """The number of elements that differ decides which head runs."""

    def __init__(self):
        super().__init__()
        self.few, self.many = nn.Linear(4, 2), nn.Linear(6, 2)

    def forward(self, x):
        different = torch.unique(x)
        return self.few(x) if different.numel() < 3 else self.many(x)


class Cached(nn.Module):
    """States are kept in an attribute, beside which the next ones are put."""

    def __init__(self):
        super().__init__()
        self.states = torch.zeros(2, 5)

    def forward(self, x):
        self.states = torch.cat([self.states, x])[-8:]
        return x @ self.states.T


class Boxes(nn.Module):
    """Boxes above a threshold, the best of them first, at most three."""

    def forward(self, boxes, scores):
        kept = scores > 0.5
        boxes, scores = boxes[kept], scores[kept]
        if boxes.numel() == 0:
            return boxes
        return boxes[scores.argsort(descending=True)[:3]]


class Lengths(nn.Module):
    """A batch is cut to its longest sequence, which must fill whole blocks."""

    def forward(self, x, lengths):
        most = int(lengths.max())
        if most <= 0:
            raise ValueError("there are no sequences")
        return x.unfold(1, 2, 2).mean(-1), most


class Speech(nn.Module):
    """Frames of a sound for letters by CTC, which torch does not export."""

    def __init__(self):
        super().__init__()
        self.net = nn.Conv1d(8, 12, 3, 2, 1)

    def forward(self, sound, text, lengths):
        scores = F.log_softmax(self.net(sound), 1).permute(2, 0, 1)
        frames = torch.full((scores.shape[1],), scores.shape[0], dtype=torch.int64)
        return F.ctc_loss(scores, text, frames, lengths)


@dataclass
class Output:
    """What a model returns, in a class that torch does not know."""

    scores: torch.Tensor
    rows: int


class Wrapped(nn.Module):
    """The output is an object."""

    def forward(self, x, y):
        return Output(torch.matmul(x, y), x.shape[0])


class Fallback(nn.Module):
    """Blocks where they fit; where not, the rest is cut. An `if` on data scales them."""

    def forward(self, x):
        scale = 2 if float(x.sum()) > 0 else 1
        try:
            return scale * x.reshape(x.shape[0], -1, 3)
        except RuntimeError:
            return x[:, : x.shape[1] // 3 * 3].reshape(x.shape[0], scale, -1)


class Pyramid(nn.Module):
    """Convolutions and a ratio of sizes in floats, checked by an assertion on data."""

    def __init__(self):
        super().__init__()
        self.net = nn.Conv2d(3, 4, 3, 2)

    def forward(self, image):
        y = self.net(image)
        assert not torch.isnan(y).any(), "the image has no numbers"
        rows = int(y.shape[2] * 0.5)
        return y[:, :, :rows] + y[:, :, y.shape[2] - rows :], F.interpolate(y, size=image.shape[2:])


class Experts(nn.Module):
    """Each row of a batch goes to the expert of its sign."""

    def __init__(self):
        super().__init__()
        self.experts = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])

    def forward(self, x):
        chosen = (x.sum(-1) > 0).long()
        out = torch.zeros_like(x)
        for n, expert in enumerate(self.experts):
            places = (chosen == n).nonzero().squeeze(-1)
            if places.numel():
                out[places] = expert(x[places])
        return out


class Named(nn.Module):
    """Tensors by keywords, for which torch takes no dynamic shapes; the sum of one decides."""

    def forward(self, **given):
        total = given["weights"].sum().item()
        if total < 0:
            return given["left"]
        return torch.stack([given["left"] * total, given["right"]])


class Memory(nn.Module):
    """A buffer is written in part, then compared: data decide if it is returned."""

    def __init__(self):
        super().__init__()
        self.register_buffer("held", torch.zeros(6, 4))

    def forward(self, x):
        self.held[: x.shape[0]] = x
        if bool((self.held.sum(0) > 1).any()):
            return self.held.clone()
        return self.held[: x.shape[0]].clone()


CASES = {
    "gated": (Gated, ("N, M",), {}),
    "found": (Found, ("N, 4", "M"), {}),
    "counted": (Counted, ("N, M",), {}),
    "cached": (Cached, ("N, M",), {}),
    "boxes": (Boxes, ("N, 4", "M"), {}),
    "lengths": (Lengths, ("N, T", sb.array("N", dtype="int64")), {}),
    "speech": (Speech, ("B, 8, T", sb.array("N, 3", dtype="int64"), sb.array("M", dtype="int64")), {}),
    "wrapped": (Wrapped, ("N, M", "K, L"), {}),
    "fallback": (Fallback, ("N, M",), {}),
    "pyramid": (Pyramid, ("1, 3, H, W",), {}),
    "experts": (Experts, ("N, M",), {}),
    "named": (Named, (), {"weights": sb.array("K", dtype="float32"), "left": sb.array("N, M", dtype="float32"),
                          "right": sb.array("L, M", dtype="float32")}),
    "memory": (Memory, ("N, M",), {}),
}  # fmt: skip
"""The class of each module, and what it is traced with."""
