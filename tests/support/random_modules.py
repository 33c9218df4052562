"""Random torch modules, drawn by number: chains and graphs of operators, written as the lines of a ``forward``.

A line is kept if it runs at the sizes of the example, so that each module runs there.
"""

from __future__ import annotations

import math
from random import Random
from typing import NamedTuple

import torch

MOST_ELEMENTS, TRIES = 4000, 400
SHAPED = (
    "{a}.reshape(-1)",
    "{a}.reshape(-1, {s})",
    "{a}.reshape({s}, -1)",
    "{a}.reshape({s}, {t}, -1)",
    "{a}.reshape({a}.shape[0], -1)",
    "{a}.reshape({b}.shape)",
    "{a}.view({a}.shape[0], -1)",
    "{a}.flatten({d}, {e})",
    "{a}.unflatten({d}, ({n}, -1))",
    "{a}.unflatten({d}, (-1, {s}))",
    "{a}.transpose({d}, {e})",
    "{a}.movedim({d}, {e})",
    "{a}.unsqueeze({d})",
    "{a}.squeeze({d})",
    "{a}.expand({s}, *{a}.shape)",
    "{a}.unsqueeze({d}).expand(*{a}.shape[:{d}], {s}, *{a}.shape[{d}:])",
    "{a}.expand_as({b})",
    "{a}.repeat({n}, *[1] * {a}.ndim)",
    "{a}.repeat(*[{n}] * {a}.ndim)",
    "{a}.repeat(*[1] * ({a}.ndim - 1), {s})",
    "{a}.repeat_interleave({n}, {d})",
    "{a}.repeat_interleave({s}, {d})",
    "torch.tile({a}, ({n}, {m}))",
    "{a}.flip({d})",
    "{a}.roll({n}, {d})",
    "{a}.roll({s}, {d})",
    "{a}.unfold({d}, {n}, {m})",
    "{a}.diagonal({k}, {d}, {e})",
    "torch.tril({a}, {k})",
    "torch.block_diag({a}, {b})",
    "torch.kron({a}, {b})",
    "{a}.broadcast_to(torch.broadcast_shapes({a}.shape, {b}.shape))",
)
TAKEN = (
    "{a}[:{s}]",
    "{a}[{s}:]",
    "{a}[:, :{s}]",
    "{a}[..., {s}:]",
    "{a}[..., -{n}:]",
    "{a}[..., :-{n}]",
    "{a}[..., ::{m}]",
    "{a}[..., {n}:{s}]",
    "{a}[..., 0]",
    "{a}[..., -1]",
    "{a}[{n}]",
    "{a}[{s}]",
    "{a}[:, {s} - 1]",
    "{a}.narrow({d}, {n}, {s})",
    "{a}.narrow({d}, {s}, {n})",
    "{a}.select({d}, {s})",
    "{a}.split({n}, {d})",
    "{a}.split({s}, {d})",
    "{a}.split([{n}, {a}.shape[{d}] - {n}], {d})",
    "{a}.split([{s}, {a}.shape[{d}] - {s}], {d})",
    "{a}.chunk({n}, {d})",
    "{a}.tensor_split({n}, {d})",
    "{a}.unbind({d})",
    "{a}.index_select({d}, {i})",
    "{a}[{i}]",
    "{a}[:, {i}]",
    "{a}[{i}, {i}]",
    "{a}[..., {i}]",
    "{a}[{i}[:, None], {i}]",
    "torch.take_along_dim({a}, {i}.reshape(*[1] * ({a}.ndim - 1), -1), -1)",
    "{a}.gather({d}, {i}.expand(*{a}.shape[:-1], -1))",
    "{a}.gather({d}, torch.zeros({s}, {t}, dtype=torch.int64))",
    "{a}.scatter({d}, torch.zeros({s}, {t}, dtype=torch.int64), 1.0)",
    "{a}.scatter_add({d}, torch.zeros_like({b}, dtype=torch.int64), {b})",
    "{a}.index_add({d}, {i}, {b})",
    "{a}.index_copy({d}, {i}, {b})",
    "{a}.index_fill({d}, {i}, 2.0)",
    "{a}.index_put(({i},), {b})",
    "{a}.index_put(({i},), {b}, accumulate=True)",
    "F.embedding({i}, {a})",
    "F.embedding({i}, torch.ones({n}, 3))",
    "F.embedding({i}, torch.ones({w}, 3))",
    "{a}.slice_scatter({b}, {d}, {n})",
    "{a}.select_scatter({b}, {d}, {n})",
    "torch.searchsorted({a}, {b})",
    "torch.bucketize({a}, {b})",
    "F.one_hot({i}, {s}).float()",
    "F.one_hot({i}, {w}).float()",
)
MADE = (
    "torch.arange({s}).float()",
    "torch.arange({n}, {s}).float()",
    "torch.arange(0, {s}, {m}).float()",
    "torch.linspace(0, 1, {s})",
    "torch.zeros({s}, {t})",
    "torch.ones({s})",
    "torch.full(({s}, {n}), 2.0)",
    "torch.eye({s})",
    "torch.eye({s}, {t})",
    "torch.tril(torch.ones({s}, {s}))",
    "{a}.new_zeros({s}, {a}.shape[-1])",
    "torch.meshgrid(torch.arange({s}).float(), torch.arange({t}).float(), indexing='ij')",
    "torch.hann_window({s})",
)
COMPUTED = (
    "{a} + {b}",
    "{a} * {b}",
    "torch.maximum({a}, {b})",
    "torch.where({a} > 0, {a}, {b})",
    "torch.where({a} > {b}, {a}, 0.0)",
    "{a} + {a}.transpose({d}, {e})",
    "{a} + torch.arange({s})",
    "{a}.relu()",
    "{a}.softmax({d})",
    "{a}.cumsum({d})",
    "{a}.cumprod({d})",
    "{a}.cummax({d})",
    "{a}.logcumsumexp({d})",
    "{a}.sum({d})",
    "{a}.sum()",
    "{a}.mean({d}, keepdim=True)",
    "{a}.std({d})",
    "{a}.var({d}, keepdim=True)",
    "{a}.amax({d})",
    "{a}.max({d})",
    "{a}.max()",
    "{a}.min({d}, keepdim=True)",
    "{a}.argmax({d}).float()",
    "{a}.prod({d})",
    "{a}.logsumexp({d})",
    "{a}.norm(dim={d})",
    "({a} > 0).all({d}).float()",
    "{a}.median({d})",
    "{a}.kthvalue({n}, {d})",
    "{a}.topk({n}, {d})",
    "{a}.topk({s}, {d})",
    "{a}.sort({d})",
    "{a}.argsort({d}).float()",
    "{a}.diff(dim={d})",
    "torch.cdist({a}, {b})",
    "F.cosine_similarity({a}, {b}, {d})",
    "F.normalize({a}, dim={d})",
    "{a}.masked_fill({b} > 0, 1.0)",
    "torch.lerp({a}, {b}, 0.5)",
    "torch.cross({a}, {b}, dim={d})",
    "F.glu({a}, {d})",
    "F.mse_loss({a}, {b})",
    "F.cross_entropy({a}, {i})",
    "F.nll_loss({a}, {i})",
)
JOINED = (
    "torch.cat([{a}, {b}], {d})",
    "torch.cat([{a}, {a}, {b}], {d})",
    "torch.cat([{a}, torch.zeros({s}, {t})], {d})",
    "torch.stack([{a}, {b}], {d})",
    "torch.hstack([{a}, {b}])",
    "torch.vstack([{a}, {b}])",
    "torch.column_stack([{a}, {b}])",
)
MULTIPLIED = (
    "{a} @ {b}",
    "{a} @ {a}.transpose(-1, -2)",
    "{a} @ {b}.transpose(-1, -2)",
    "torch.mm({a}, {b})",
    "torch.bmm({a}, {b})",
    "torch.addmm({b}, {a}, {a}.t())",
    "torch.einsum('ij,jk->ik', {a}, {b})",
    "torch.einsum('bij,bkj->bik', {a}, {b})",
    "torch.einsum('...i,...i->...', {a}, {b})",
    "torch.einsum('ii->i', {a})",
    "torch.einsum('ij,kl->ijkl', {a}, {b})",
    "torch.outer({a}, {b})",
    "torch.tensordot({a}, {b}, {m})",
    "F.linear({a}, torch.ones(3, {a}.shape[-1]))",
    "F.linear({a}, torch.ones(3, {n}))",
    "F.linear({a}, torch.ones({s}, {a}.shape[-1]))",
    "F.bilinear({a}, {a}, torch.ones(2, {a}.shape[-1], {a}.shape[-1]))",
    "F.scaled_dot_product_attention({a}, {b}, {b})",
    "F.scaled_dot_product_attention({a}, {a}, {b})",
    "F.scaled_dot_product_attention({a}, {a}, {a}, is_causal=True)",
    "F.scaled_dot_product_attention({a}, {b}, {b}, attn_mask=torch.ones({s}, {t}))",
    "F.layer_norm({a}, ({a}.shape[-1],))",
    "F.layer_norm({a}, ({n},))",
    "F.rms_norm({a}, ({a}.shape[-1],))",
    "F.group_norm({a}, {m})",
    "F.batch_norm({a}, None, None, training=True)",
    "F.batch_norm({a}, torch.zeros({n}), torch.ones({n}))",
    "F.instance_norm({a})",
)
SLID = (
    "F.conv1d({a}, torch.ones(2, {a}.shape[-2], {n}), stride={m})",
    "F.conv1d({a}, torch.ones(2, {w}, {n}), padding={p})",
    "F.conv1d({a}, torch.ones(2, {a}.shape[-2], {n}), padding='same')",
    "F.conv1d({a}, torch.ones({a}.shape[-2], 1, {n}), groups={a}.shape[-2])",
    "F.conv1d({a}, {b})",
    "F.conv2d({a}, torch.ones(2, {a}.shape[-3], {n}, {m}), stride={m}, padding={p})",
    "F.conv2d({a}, torch.ones(2, {w}, {n}, {n}), dilation={m})",
    "F.conv_transpose1d({a}, torch.ones({a}.shape[-2], 2, {n}), stride={m}, padding={p})",
    "F.conv_transpose2d({a}, torch.ones({a}.shape[-3], 2, {n}, {n}), stride={m})",
    "F.max_pool1d({a}, {n}, {m})",
    "F.max_pool2d({a}, {n}, {m}, {p})",
    "F.avg_pool1d({a}, {n}, {m})",
    "F.avg_pool2d({a}, {n}, ceil_mode=True)",
    "F.avg_pool2d({a}, ({n}, {m}))",
    "F.adaptive_avg_pool1d({a}, {n})",
    "F.adaptive_avg_pool2d({a}, ({n}, {m}))",
    "F.adaptive_avg_pool2d({a}, ({s}, {n}))",
    "F.adaptive_max_pool2d({a}, {n})",
    "F.interpolate({a}, size={s})",
    "F.interpolate({a}, scale_factor={m})",
    "F.interpolate({a}, scale_factor=0.5)",
    "F.interpolate({a}, scale_factor=1.5, mode='bilinear')",
    "F.interpolate({a}, size=({s}, {t}), mode='bilinear', align_corners=True)",
    "F.interpolate({a}, size={a}.shape[-1] * 2, mode='linear')",
    "F.unfold({a}, {n}, stride={m}, padding={p})",
    "F.pixel_shuffle({a}, {m})",
    "F.pixel_unshuffle({a}, {m})",
    "F.channel_shuffle({a}, {m})",
    "F.pad({a}, ({n}, {m}))",
    "F.pad({a}, (-{n}, {m}))",
    "F.pad({a}, (0, {s}))",
    "F.pad({a}, (0, {s} - {a}.shape[-1]))",
    "F.pad({a}, ({n}, {m}), mode='reflect')",
    "F.pad({a}, ({n}, {m}, {p}, {n}), mode='reflect')",
    "F.pad({a}, ({n}, {m}), mode='replicate')",
    "F.pad({a}, ({n}, {m}), mode='circular')",
    "F.lp_pool1d({a}, 2, {n})",
)
FAMILIES = (SHAPED, SHAPED, TAKEN, TAKEN, MADE, COMPUTED, JOINED, MULTIPLIED, SLID)
INDICES = (
    "torch.arange({s})",
    "torch.arange({s}) // {m}",
    "torch.arange({s}) * {m}",
    "(torch.arange({s}) + {n})",
    "({n} - torch.arange({s}))",
    "torch.arange({s}).clamp(max={n})",
    "torch.arange({s}).remainder({n})",
    "torch.arange({n}, {s})",
    "(torch.ones({s}, dtype=torch.int64).cumsum(0) - 1)",
    "torch.zeros({s}, dtype=torch.int64)",
    "torch.full(({s},), {n})",
    "torch.full(({n},), {s})",
    "torch.tensor([0, {n}])",
    "torch.arange({s}).flip(0)",
    "torch.arange({s})[{n}:]",
    "torch.arange({s})[::{m}]",
    "torch.cat([torch.arange({s}), torch.arange({t})])",
    "torch.arange({s}).repeat_interleave({m})",
    "{a}.argmax(-1).reshape(-1)",
    "({a} > {n}).sum(-1).reshape(-1)",
    "{a}.long().reshape(-1)",
    "torch.triu_indices({s}, {s})[0]",
    "torch.arange({s}).reshape(-1, 1).expand(-1, {n}).flatten()",
)
"""Indices, most of which sizes alone decide."""


class Drawn(NamedTuple):
    """A module as lines of its ``forward``, and the shapes of its example inputs; ``fixed`` axes are not left open."""

    shapes: tuple[tuple[int, ...], ...]
    fixed: tuple[tuple[int, int], ...]
    lines: tuple[str, ...]

    @property
    def source(self) -> str:
        """The function that it runs."""
        names = ", ".join(f"x{n}" for n in range(len(self.shapes)))
        return "\n    ".join((f"def forward(self, {names}):", *self.lines))

    def module(self) -> torch.nn.Module:
        """Return it as a module."""
        space = {"torch": torch, "F": torch.nn.functional, "math": math}
        exec(self.source, space)
        return type("Drawn", (torch.nn.Module,), {"forward": space["forward"]})()

    def example(self) -> tuple[torch.Tensor, ...]:
        """Return the inputs that it is exported with."""
        return tuple(torch.ones(shape) for shape in self.shapes)

    def dynamic(self) -> tuple[dict[int, object], ...]:
        """Return dynamic shapes that leave all axes to torch but the fixed ones."""
        auto = torch.export.Dim.AUTO
        return tuple(
            {axis: auto for axis in range(len(shape)) if (n, axis) not in self.fixed}
            for n, shape in enumerate(self.shapes)
        )


def drawn(number: int) -> Drawn:
    """Return the module of a number."""
    random = Random(number)
    sizes = [random.choice((2, 3, 4, 5, 6, 8)) for _ in range(random.choice((2, 3, 4)))]
    shapes = tuple(
        tuple(random.choice(sizes) for _ in range(random.choice((1, 2, 2, 3, 3, 4))))
        for _ in range(random.choice((1, 1, 2)))
    )
    fixed = tuple((n, a) for n, shape in enumerate(shapes) for a in range(len(shape)) if random.random() < 0.15)
    values = {f"x{n}": torch.ones(shape) for n, shape in enumerate(shapes)}
    lines, used = [], set()
    for _ in range(random.randint(2, 8)):
        made = _line(random, values)
        if made is None:
            break
        text, found = made
        name = f"x{len(values)}"
        used |= {n for n in values if f"{n}." in text or f"{n}[" in text or f"{n} " in text or f"{n}," in text}
        lines.append(f"{name} = {text}")
        values[name] = found
    ends = [n for n in values if n not in used] or [list(values)[-1]]
    return Drawn(shapes, fixed, (*lines, f"return ({', '.join(ends)},)"))


def _line(random: Random, values: dict[str, torch.Tensor]) -> tuple[str, torch.Tensor] | None:
    """Return an expression on some values that runs, and what it gives; one of several outputs is taken."""
    for _ in range(TRIES):
        text = _filled(random, random.choice(random.choice(FAMILIES)), values)
        try:
            found = eval(text, {"torch": torch, "F": torch.nn.functional, **values})
        except Exception:  # whatever it is: this line is not drawn
            continue
        if isinstance(found, (tuple, list)):
            place = random.randrange(len(found)) if found else 0
            text, found = f"({text})[{place}]", found[place]
        if 0 < found.numel() <= MOST_ELEMENTS:
            return text if found.is_floating_point() else f"{text}.float()", found.float()
    return None


def _filled(random: Random, template: str, values: dict[str, torch.Tensor]) -> str:
    names = list(values)
    recent = [*names, *names[-2:] * 2]
    first = random.choice(recent)
    rank = values[first].ndim

    def size() -> str:
        name = random.choice(names)
        if not values[name].ndim or random.random() < 0.15:
            return str(random.randint(1, 4))
        base = f"{name}.shape[{random.randrange(values[name].ndim)}]"
        forms = (
            "{}",
            "{}",
            "{}",
            "({} // 2)",
            "({} - 1)",
            "({} + 1)",
            "(2 * {})",
            "min({}, 3)",
            "max({}, 3)",
            "({} % 3)",
        )
        return random.choice(forms).format(base)

    index = random.choice(INDICES) if "{i}" in template else ""
    return template.replace("{i}", index).format(
        a=first,
        b=random.choice(recent),
        d=random.randrange(rank) if rank else 0,
        e=random.randrange(rank) if rank else 0,
        n=random.randint(1, 4),
        m=random.randint(1, 3),
        p=random.randint(0, 2),
        k=random.randint(-1, 2),
        w=random.choice(values[first].shape) if rank else 1,
        s=size(),
        t=size(),
    )
