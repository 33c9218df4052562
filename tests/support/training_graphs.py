"""Ten modules in training that return a loss, by kinds of training; none was tried before the list was written."""

from __future__ import annotations

import torch
from eager_modules import Speech
from exported_models import Case, UNet
from torch import nn
from torch.nn import functional as F  # noqa: N812 - its usual name


class Classifier(nn.Module):
    """Convolutions with batch norms and dropout; cross entropy with smoothed labels."""

    def __init__(self):
        super().__init__()
        layers = [nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 16, 3, 2, 1), nn.BatchNorm2d(16)]
        self.body = nn.Sequential(*layers, nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.1))
        self.head = nn.Linear(16, 5)

    def forward(self, image, label):
        return F.cross_entropy(self.head(self.body(image)), label, label_smoothing=0.1)


class Segmenter(nn.Module):
    """Binary cross entropy and a Dice loss of a U-Net."""

    def __init__(self):
        super().__init__()
        self.net = UNet()

    def forward(self, image, mask):
        scores = self.net(image)
        p = scores.sigmoid()
        dice = 1 - (2 * (p * mask).sum((2, 3)) + 1) / (p.sum((2, 3)) + mask.sum((2, 3)) + 1)
        return F.binary_cross_entropy_with_logits(scores, mask) + dice.mean()


class Language(nn.Module):
    """The next token by a causal encoder, with a padded loss."""

    def __init__(self):
        super().__init__()
        self.embed, self.place = nn.Embedding(50, 16), nn.Embedding(64, 16)
        layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
        self.body, self.head = nn.TransformerEncoder(layer, 2), nn.Linear(16, 50)

    def forward(self, ids):
        length = ids.shape[1]
        x = self.embed(ids) + self.place(torch.arange(length))
        mask = nn.Transformer.generate_square_subsequent_mask(length)
        scores = self.head(self.body(x, mask=mask, is_causal=True))
        return F.cross_entropy(scores[:, :-1].flatten(0, 1), ids[:, 1:].flatten(), ignore_index=0)


class Contrastive(nn.Module):
    """Two views of a batch: each must be closest to its own."""

    def __init__(self):
        super().__init__()
        self.one, self.other = nn.Linear(12, 8), nn.Linear(10, 8)

    def forward(self, left, right):
        a, b = F.normalize(self.one(left), dim=-1), F.normalize(self.other(right), dim=-1)
        scores = a @ b.T / 0.07
        own = torch.arange(scores.shape[0])
        return (F.cross_entropy(scores, own) + F.cross_entropy(scores.T, own)) / 2


class Denoiser(nn.Module):
    """A diffusion step: noise is added by a schedule, and predicted."""

    def __init__(self):
        super().__init__()
        self.net, self.time = nn.Conv2d(3, 3, 3, padding=1), nn.Embedding(100, 3)
        self.register_buffer("keep", torch.linspace(1, 0.01, 100))

    def forward(self, image, noise, step):
        keep = self.keep[step][:, None, None, None]
        noised = keep.sqrt() * image + (1 - keep).sqrt() * noise
        found = self.net(noised) + self.time(step)[:, :, None, None]
        return F.mse_loss(found, noise)


class Triplet(nn.Module):
    """An embedding by a recurrent layer, with a triplet loss."""

    def __init__(self):
        super().__init__()
        self.net = nn.GRU(6, 8, batch_first=True)

    def forward(self, anchor, near, far):
        found = [self.net(x)[1][-1] for x in (anchor, near, far)]
        return F.triplet_margin_loss(*found, margin=0.5)


class Distilled(nn.Module):
    """A student learns from a teacher's probabilities and from labels."""

    def __init__(self):
        super().__init__()
        self.student, self.teacher = nn.Linear(20, 7), nn.Sequential(nn.Linear(20, 30), nn.GELU(), nn.Linear(30, 7))

    def forward(self, x, label):
        with torch.no_grad():
            wanted = F.softmax(self.teacher(x) / 2, -1)
        found = self.student(x)
        return F.kl_div(F.log_softmax(found / 2, -1), wanted, reduction="batchmean") + F.nll_loss(
            F.log_softmax(found, -1), label
        )


class Autoencoder(nn.Module):
    """A variational autoencoder of sequences: reconstruction and divergence."""

    def __init__(self):
        super().__init__()
        self.down, self.up = nn.Conv1d(4, 16, 4, 2, 1), nn.ConvTranspose1d(8, 4, 4, 2, 1)

    def forward(self, x):
        mean, log = self.down(x).chunk(2, 1)
        z = mean + torch.randn_like(mean) * (log / 2).exp()
        return F.l1_loss(self.up(z), x) - 0.5 * (1 + log - mean**2 - log.exp()).sum(1).mean()


class Boxes(nn.Module):
    """Boxes and classes of a grid, matched with given ones: smooth L1, focal loss and overlaps."""

    def __init__(self):
        super().__init__()
        self.net = nn.Conv2d(3, 9, 3, 2, 1)

    def forward(self, image, boxes, classes):
        found = self.net(image).flatten(2).transpose(1, 2)
        near = torch.cdist(found[..., :4], boxes).argmin(-1)
        wanted = torch.gather(boxes, 1, near[..., None].expand(-1, -1, 4))
        label = torch.gather(classes, 1, near)
        hot = F.one_hot(label, 5).to(found)
        p = found[..., 4:].sigmoid()
        focal = -(hot * (1 - p) ** 2 * p.clamp(min=1e-6).log()).sum(-1)
        return F.smooth_l1_loss(found[..., :4], wanted) + focal.mean()


def _ints(*shape):
    return torch.ones(*shape, dtype=torch.int64)


_IMAGE = {0: "batch", 2: "H", 3: "W"}
TRAINING = {
    "classifier": lambda: Case(Classifier().train(), (torch.randn(4, 3, 32, 40), _ints(4)),
                               {"image": _IMAGE, "label": {0: "batch"}}),
    "segmenter": lambda: Case(Segmenter().train(), (torch.randn(2, 3, 16, 24), torch.ones(2, 2, 16, 24)),
                              {"image": _IMAGE, "mask": _IMAGE}),
    "language": lambda: Case(Language().train(), (_ints(3, 12),), {"ids": {0: "batch", 1: "length"}}),
    "contrastive": lambda: Case(Contrastive().train(), (torch.randn(5, 12), torch.randn(5, 10)),
                                {"left": {0: "batch"}, "right": {0: "others"}}),
    "denoiser": lambda: Case(Denoiser().train(), (torch.randn(2, 3, 8, 9), torch.randn(2, 3, 8, 9), _ints(2)),
                             {"image": _IMAGE, "noise": _IMAGE, "step": {0: "batch"}}),
    "triplet": lambda: Case(Triplet().train(), tuple(torch.randn(3, n, 6) for n in (4, 5, 7)),
                            {n: {0: "batch", 1: n} for n in ("anchor", "near", "far")}),
    "distilled": lambda: Case(Distilled().train(), (torch.randn(6, 20), _ints(6)),
                              {"x": {0: "batch"}, "label": {0: "labels"}}),
    "autoencoder": lambda: Case(Autoencoder().train(), (torch.randn(3, 4, 32),), {"x": {0: "batch", 2: "time"}}),
    "boxes": lambda: Case(Boxes().train(), (torch.randn(2, 3, 16, 20), torch.rand(2, 6, 4), _ints(2, 6)),
                          {"image": _IMAGE, "boxes": {0: "batch", 1: "boxes"}, "classes": {0: "batch", 1: "labels"}}),
    "speech": lambda: Case(Speech().train(), (torch.randn(3, 8, 30), _ints(3, 5), _ints(3) * 4),
                           {"sound": {0: "batch", 2: "time"}, "text": {0: "batch", 1: "letters"},
                            "lengths": {0: "batch"}}),
}  # fmt: skip
"""Ten modules with their loss, by name."""
