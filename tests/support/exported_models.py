"""Models that are exported: each with its arguments, which axes are left open, and the names for them.

They are small, with random weights, and were chosen by kind before any of them was looked at: classifiers of images
(timm), encoders, decoders and both (transformers), and four written here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812 - its usual name


class Case(NamedTuple):
    """A module, what it is exported with, and for each argument the names of the axes that are left open."""

    module: nn.Module
    args: tuple[Any, ...]
    names: dict[str, Any]
    kwargs: dict[str, Any] | None = None

    def auto(self) -> dict[str, Any]:
        """Return what leaves all these axes to torch."""
        return _mapped(self.names, lambda _: torch.export.Dim.AUTO)

    def named(self) -> dict[str, Any]:
        """Return what gives each of these axes a `Dim` of its name."""
        made: dict[str, Any] = {}
        return _mapped(self.names, lambda name: made.setdefault(name, torch.export.Dim(name)))


def _mapped(names: Any, change: Callable[[str], Any]) -> Any:
    if isinstance(names, dict):
        return {key: _mapped(value, change) for key, value in names.items()}
    if isinstance(names, (list, tuple)):
        return [_mapped(value, change) for value in names]
    return None if names is None else change(names)


class UNet(nn.Module):
    """Two levels down by pools and up by transposed convolutions, with what was before put beside."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.third = (nn.Conv2d(a, b, 3, padding=1) for a, b in ((3, 4), (4, 8), (8, 8)))
        self.up1, self.up2 = nn.ConvTranspose2d(8, 8, 2, 2), nn.ConvTranspose2d(8, 4, 2, 2)
        self.join1, self.join2 = nn.Conv2d(16, 8, 3, padding=1), nn.Conv2d(8, 2, 3, padding=1)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        a = F.relu(self.first(image))
        b = F.relu(self.second(F.max_pool2d(a, 2)))
        c = F.relu(self.third(F.max_pool2d(b, 2)))
        d = F.relu(self.join1(torch.cat([self.up1(c), b], 1)))
        return self.join2(torch.cat([self.up2(d), a], 1))


class FPN(nn.Module):
    """Three scales of an image, each added to the coarser one made twice as large."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.ModuleList([nn.Conv2d(a, 8, 3, 2, 1) for a in (3, 8, 8)])
        self.side = nn.ModuleList([nn.Conv2d(8, 8, 1) for _ in range(3)])

    def forward(self, image: torch.Tensor) -> list[torch.Tensor]:
        scales = []
        for down in self.down:
            image = F.relu(down(image))
            scales.append(image)
        sides = [side(s) for side, s in zip(self.side, scales, strict=True)]
        found = [sides[-1]]
        for side in reversed(sides[:-1]):
            found.append(side + F.interpolate(found[-1], scale_factor=2.0, mode="nearest"))
        return found


class CachedAttention(nn.Module):
    """One layer of attention whose keys and values of before are given, with a mask over all of them."""

    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(32, 32) for _ in range(3))

    def forward(
        self, x: torch.Tensor, mask: torch.Tensor, cache: dict[str, torch.Tensor]
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        b, t, _ = x.shape
        q, k, v = (f(x).view(b, t, 4, 8).transpose(1, 2) for f in (self.q, self.k, self.v))
        k, v = torch.cat([cache["k"], k], 2), torch.cat([cache["v"], v], 2)
        scores = (q @ k.transpose(-1, -2)) / 8**0.5 + mask
        return (scores.softmax(-1) @ v).transpose(1, 2).reshape(b, t, 32), k, v


class TCN(nn.Module):
    """Dilated convolutions of a sequence, in blocks of eight steps at the end."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Conv1d(4, 4, 3, dilation=2**n) for n in range(3)])
        self.head = nn.Linear(32, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            y = F.relu(layer(x))
            x = y + x[:, :, -y.shape[2] :]
        b, c, t = x.shape
        return self.head(x.reshape(b, c, t // 8, 8).permute(0, 2, 1, 3).reshape(b, t // 8, 32))


def _vision() -> None:
    """Let torchvision be imported beside a build of torch that its own operators cannot be loaded into.

    timm imports it; no model here uses its operators.
    """
    if not _KEPT:
        library = torch.library.Library("torchvision", "DEF")
        for name in _OPERATORS:
            library.define(f"{name}(Tensor x) -> Tensor")
        _KEPT.append(library)


_GRADUATED = ("roi_align", "roi_pool", "ps_roi_align", "ps_roi_pool", "deform_conv2d")
_OPERATORS = ("nms", "qnms", "qroi_align", *_GRADUATED, *(f"_{name}_backward" for name in _GRADUATED))
_KEPT: list[Any] = []


def image(name: str, size: int = 64, **options: Any) -> Callable[[], Case]:
    def made() -> Case:
        _vision()
        import timm

        torch.manual_seed(0)
        module = timm.create_model(name, pretrained=False, **options).eval()
        return Case(module, (torch.randn(2, 3, size, size),), {_argument(module): {0: "batch", 2: "H", 3: "W"}})

    return made


def _argument(module: nn.Module) -> str:
    from inspect import signature

    return next(iter(signature(module.forward).parameters))


def small_text(kind: str, inputs: tuple[str, ...], **options: Any) -> Callable[[], Case]:
    def made() -> Case:
        _vision()
        import transformers

        torch.manual_seed(0)
        config = getattr(transformers, f"{kind}Config")(vocab_size=64, **options)
        module = getattr(transformers, f"{kind}Model")(config).eval()
        module.config.use_cache = False
        module.config.return_dict = False
        for part in ("encoder", "decoder"):
            if hasattr(getattr(module, part, None), "config"):
                getattr(module, part).config.use_cache = False
        shapes = {name: {0: "batch", 1: "decoded" if name.startswith("decoder") else "seq"} for name in inputs}
        given = {name: torch.ones(2, 5 if name.startswith("decoder") else 7, dtype=torch.long) for name in inputs}
        return Case(module, (), shapes, given)

    return made


def _unet() -> Case:
    torch.manual_seed(0)
    return Case(UNet().eval(), (torch.randn(2, 3, 32, 48),), {"image": {0: "batch", 2: "H", 3: "W"}})


def _fpn() -> Case:
    torch.manual_seed(0)
    return Case(FPN().eval(), (torch.randn(2, 3, 32, 48),), {"image": {0: "batch", 2: "H", 3: "W"}})


def _cached() -> Case:
    torch.manual_seed(0)
    cache = {"k": torch.randn(2, 4, 6, 8), "v": torch.randn(2, 4, 6, 8)}
    names = {
        "x": {0: "batch", 1: "step"},
        "mask": {2: "step", 3: "total"},
        "cache": {"k": {0: "batch", 2: "past"}, "v": {0: "batch", 2: "past"}},
    }
    return Case(CachedAttention().eval(), (torch.randn(2, 3, 32), torch.zeros(1, 1, 3, 9), cache), names)


def _tcn() -> Case:
    torch.manual_seed(0)
    return Case(TCN().eval(), (torch.randn(2, 4, 30),), {"x": {0: "batch", 2: "time"}})


_SMALL = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
_IDS = ("input_ids", "attention_mask")

CASES: dict[str, Callable[[], Case]] = {
    "unet": _unet,
    "fpn": _fpn,
    "cached_attention": _cached,
    "tcn": _tcn,
    "resnet18": image("resnet18"),
    "mobilenetv3": image("mobilenetv3_small_050"),
    "convnext": image("convnext_atto"),
    "efficientnet": image("efficientnet_lite0"),
    "regnet": image("regnetx_002"),
    "ghostnet": image("ghostnet_050"),
    "repvgg": image("repvgg_a0"),
    "vit": image("vit_tiny_patch16_224", dynamic_img_size=True),
    "bert": small_text("Bert", _IDS, **_SMALL),
    "distilbert": small_text("DistilBert", _IDS, dim=32, n_layers=2, n_heads=4, hidden_dim=64),
    "gpt2": small_text("GPT2", _IDS, n_embd=32, n_layer=2, n_head=4),
    "llama": small_text("Llama", _IDS, num_key_value_heads=2, **_SMALL),
    "t5": small_text("T5", (*_IDS, "decoder_input_ids"), d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4),
    "electra": small_text("Electra", _IDS, embedding_size=32, **_SMALL),
    "qwen2": small_text("Qwen2", _IDS, num_key_value_heads=2, **_SMALL),
    "albert": small_text("Albert", _IDS, embedding_size=16, **_SMALL),
}
"""Twenty models, by name."""
