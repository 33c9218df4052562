"""Ten more models that are exported, chosen by a rule before any of them was tried.

Of timm the families of models that `exported_models.CASES` does not have, in alphabetical order, at one, two, three
and four fifths, each with its first small model. Of transformers the kinds of models in alphabetical order, at one, two
and seven eighths, and from there on the first that torch exports. Three were written here, of operators that the others
seldom have.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from exported_models import Case, image, small_text
from torch import nn
from torch.nn import functional as F  # noqa: N812 - its usual name


class Segmenter(nn.Module):
    """An image padded to whole blocks, made smaller twice, scaled back beside what was before, and cut again."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.ModuleList([nn.Conv2d(a, 8, 3, 2, 1) for a in (3, 8)])
        self.last = nn.Conv2d(16, 2, 1)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        height, width = image.shape[2:]
        padded = F.pad(image, (0, -width % 8, 0, -height % 8))
        fine = F.relu(self.down[0](padded))
        coarse = F.relu(self.down[1](fine))
        coarse = F.interpolate(coarse, size=fine.shape[2:], mode="bilinear")
        found = self.last(torch.cat([fine, coarse], 1))
        return F.interpolate(found, scale_factor=2.0)[:, :, :height, :width]


class Spectrum(nn.Module):
    """A sound cut into windows that overlap, convolved in strides and back, beside what it was."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(16, 12)
        self.down, self.up = nn.Conv1d(12, 16, 5, 2), nn.ConvTranspose1d(8, 12, 5, 2, output_padding=1)

    def forward(self, sound: torch.Tensor) -> torch.Tensor:
        windows = self.first(sound.unfold(1, 16, 8)).transpose(1, 2)
        back = self.up(F.glu(self.down(windows), 1))
        length = min(back.shape[2], windows.shape[2])
        both = torch.stack([back[:, :, :length], windows[:, :, -length:]])
        return F.avg_pool1d(both.mean(0), 3, 2, ceil_mode=True)


class Blocks(nn.Module):
    """Attention within blocks of an image that is shifted, on half of the scale."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.attend = nn.Conv2d(3, 8, 2, 2), nn.Linear(8, 24)
        self.last = nn.Conv2d(8, 12, 1)

    def forward(self, image: torch.Tensor, place: torch.Tensor) -> torch.Tensor:
        x = torch.roll(self.first(image), (-2, -2), (2, 3)).permute(0, 2, 3, 1)
        b, h, w, c = x.shape
        x = x.view(b, h // 4, 4, w // 4, 4, c).transpose(2, 3).reshape(-1, 16, c)
        q, k, v = self.attend(x + place).chunk(3, -1)
        x = F.scaled_dot_product_attention(q, k, v)
        x = x.view(b, h // 4, w // 4, 4, 4, c).transpose(2, 3).reshape(b, h, w, c).permute(0, 3, 1, 2)
        return F.pixel_shuffle(self.last(torch.roll(x, (2, 2), (2, 3))), 2) + image


def _segmenter() -> Case:
    return Case(Segmenter().eval(), (torch.randn(2, 3, 37, 50),), {"image": {0: "batch", 2: "H", 3: "W"}})


def _spectrum() -> Case:
    return Case(Spectrum().eval(), (torch.randn(2, 200),), {"sound": {0: "batch", 1: "time"}})


def _blocks() -> Case:
    names = {"image": {0: "batch", 2: "H", 3: "W"}, "place": {1: "places"}}
    return Case(Blocks().eval(), (torch.randn(2, 3, 32, 48), torch.randn(1, 16, 8)), names)


def _sound() -> Case:
    made = small_text(
        "Data2VecAudio",
        ("input_values",),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        conv_dim=(8, 8),
        conv_stride=(5, 2),
        conv_kernel=(10, 3),
        num_conv_pos_embedding_groups=2,
        num_conv_pos_embeddings=5,
    )()
    names = {"input_values": {0: "batch", 1: "time"}}
    return made._replace(names=names, kwargs={"input_values": torch.randn(2, 700)})


def _both() -> Case:
    part = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
    part.update(num_key_value_heads=2, head_dim=8, vocab_size=64)
    ids = (*_IDS, "decoder_input_ids")
    return small_text("T5Gemma", ids, encoder=part, decoder=dict(part, cross_attention_hidden_size=32))()


_IDS = ("input_ids", "attention_mask")

OTHERS: dict[str, Callable[[], Case]] = {
    "efficientformer": image("efficientformer_l1", 224),
    "inception_resnet": image("inception_resnet_v2", 128),
    "pit": image("pit_xs_224", 224),
    "swin": image("swin_s3_tiny_224", 224),
    "data2vec_audio": _sound,
    "gemma2": small_text(
        "Gemma2",
        _IDS,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        num_key_value_heads=2,
        head_dim=8,
    ),
    "t5gemma": _both,
    "segmenter": _segmenter,
    "spectrum": _spectrum,
    "blocks": _blocks,
}
"""Ten models, by name."""
