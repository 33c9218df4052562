"""Random torch modules, drawn by number, whose indices, steps, splits and factors are data or sizes.

They go beyond `random_modules`: positions that sorts and searches return, ranges with open steps, splits at places,
bags, sizes times floats, parts of memory. All random numbers come from the inputs, so that a run can be repeated.
"""

from __future__ import annotations

from random import Random

import torch
from random_modules import COMPUTED, JOINED, MOST_ELEMENTS, SHAPED, TAKEN, TRIES, Drawn, _filled

POSITIONS = (
    "{v}.argsort()[:{n}]",
    "{v}.argsort()[{n}:]",
    "{v}.argsort()[:{s}]",
    "{v}.argsort()[::{m}]",
    "{v}.argsort()",
    "{v}.argsort().narrow(0, {m}, {n})",
    "{v}.argsort().flip(0)[:{n}]",
    "{v}.argsort().roll(1)",
    "{v}.argsort() // {m}",
    "({v}.argsort() + {m})",
    "({v}.argsort() - {m})",
    "{v}.argsort().clamp(max={n})",
    "({v}.argsort() % {n})",
    "{v}.argsort().argsort()",
    "{v}.argsort()[None].expand(2, -1)",
    "{v}.argsort()[:{n}, None]",
    "{v}.argsort().reshape(-1, 1)[:, 0]",
    "{v}.argsort()[{v}.argsort()[:{n}]]",
    "{v}.argsort().repeat(2)",
    "torch.cat([{v}.argsort(), torch.arange({s})])",
    "{v}.topk({n}).indices",
    "{v}.topk({s}).indices",
    "{v}.topk({n}).indices[1:]",
    "{v}.sort().indices[:{n}]",
    "{v}.sort(descending=True)[1][{m}:]",
    "{a}.argsort(-1)[..., :{n}].reshape(-1)",
    "{a}.argsort(0)[:{n}].reshape(-1)",
    "{a}.topk({n}, 0).indices.reshape(-1)",
    "{a}.argmax().reshape(1)",
    "{a}.argmax({d}).reshape(-1)",
    "{a}.max({d}).indices.reshape(-1)",
    "{a}.median({d}).indices.reshape(-1)",
    "{a}.kthvalue({n}, {d}).indices.reshape(-1)",
    "{v}.unique(return_inverse=True)[1]",
    "({v} > 0).nonzero()[:, 0]",
    "({a} > 0).nonzero()[:, -1]",
    "torch.bucketize({v}, {w2}.sort().values)",
    "torch.searchsorted({w2}.sort().values, {v})",
    "({v} > 0).long().cumsum(0)",
    "(({v} > 0).long().cumsum(0) - 1).clamp(min=0)",
    "({v} > 0).sum().reshape(1)",
    "({a} > 0).long().sum({d}).reshape(-1)",
    "torch.count_nonzero({v}).reshape(1)",
    "({v} > 0).long()",
    "(({v} > 0).long() * {n})",
    "({v}.sigmoid() * {s}).long().clamp(max={t})",
    "torch.where({v} > 0, {n}, 0)",
    "torch.arange({s}, {t})",
    "torch.arange({n}, {s}, {m})",
    "torch.arange({s})[{v}.argsort()[:{n}]]",
    "torch.zeros({s}, dtype=torch.int64).scatter(0, {v}.argsort()[:{n}], 1)",
)
"""Integers of data that sizes bound."""
PLACED = (
    "{a}[{i}]",
    "{a}[{i}]",
    "{a}[:, {i}]",
    "{a}[..., {i}]",
    "{a}[{i}, {i}]",
    "{a}.index_select({d}, ({i}).reshape(-1))",
    "F.embedding({i}, {a})",
    "F.embedding({i}, torch.ones({n}, 2))",
    "F.embedding({i}, torch.ones({s}, 2))",
    "{a}.index_add(0, ({i}).reshape(-1), {b})",
    "{a}.index_fill({d}, ({i}).reshape(-1), 2.0)",
    "{a}.index_put(({i},), torch.ones(1))",
    "{a}.gather({d}, {a}.argsort({d}))",
    "{a}.gather({d}, {b}.argsort({d}))",
    "{a}.gather({d}, {b}.argsort({d})[:{n}])",
    "{a}.gather(-1, {b}.topk({n}).indices)",
    "{a}.scatter({d}, {b}.argsort({d}), 1.0)",
    "{a}.take({i})",
    "torch.take_along_dim({a}, {b}.argsort({d}), {d})",
    "F.one_hot({i}, {s}).float()",
    "F.one_hot({i}).float()",
    "F.embedding_bag({i}, {a}, torch.arange({s}), mode='sum')",
    "F.embedding_bag({i}, torch.ones({n}, 3), torch.arange({s}), include_last_offset=True)",
    "F.embedding_bag(({i}).reshape(-1, 1), {a}, mode='max')",
    "{a}[({v} > 0).nonzero()[:, 0]]",
    "{a}[{a} > 0]",
    "{a}[{v} > 0]",
    "torch.masked_select({a}, {b} > 0)",
    "{a}.unique()",
    "{a}.unique(dim={d})",
    "torch.unique_consecutive({a}, return_counts=True)[1]",
    "torch.bincount({i}).float()",
)
RANGED = (
    "torch.arange(0, {n}, {s})",
    "torch.arange({s}, {t}, {m})",
    "torch.arange({t}, {s}, -{m})",
    "torch.arange({n}, {m}, {s} - {t})",
    "torch.arange(0, {s}, {t})",
    "torch.arange({s}, 0, -{t})",
    "torch.arange({s}, -1, -1)",
    "torch.arange(0, {s}, 0.5)",
    "torch.ones(torch.arange({s}, {t}).shape[0], 2)",
    "torch.linspace(0, 1, {s})",
    "{a}.tensor_split([{n}, {w}], {d})",
    "{a}.tensor_split([{m}, -{m}], {d})",
    "{a}.tensor_split(({s}, {t}), {d})",
    "{a}.tensor_split({n}, {d})",
    "{a}.hsplit([{n}, {w}])",
    "{a}.vsplit([{m}, {n}])",
    "{a}.dsplit([{m}])",
    "{a}.hsplit({m})",
    "{a}.vsplit({m})",
    "{a}.split([{n}, {a}.shape[{d}] - {n}], {d})",
    "{a}.split({s}, {d})",
    "{a}.split_with_sizes([{s}, {t}], {d})",
    "{a}.chunk({n}, {d})",
    "{a}.narrow({d}, {s}, {t})",
    "{a}.narrow({d}, -{m}, {m})",
    "{a}.unfold({d}, {n}, {m})",
    "{a}.as_strided(({n}, {m}), ({m}, 1))",
    "{a}.as_strided(({s},), (1,))",
    "{a}.as_strided(({s}, {n}), ({n}, 1), {m})",
    "{a}.repeat_interleave({n})",
    "{a}.repeat_interleave({s})",
    "{a}.repeat_interleave({n}, {d})",
    "{a}.repeat_interleave(torch.arange({a}.shape[{d}]), {d})",
    "{a}.repeat_interleave(torch.tensor([{n}]), {d})",
    "{a}.view(torch.int16)",
    "{a}.to(torch.float64).view(torch.float32)",
    "torch.diff({a}, {m}, {d})",
    "torch.combinations({v}, {m})",
    "torch.cartesian_prod({v}, {v})",
    "torch.tril_indices({s}, {t})",
    "torch.vander({v}, {s})",
    "torch.eye({s}, {t})",
    "torch.diag_embed({a}, {k})",
    "F.pad({a}, ({s}, -{t}))",
    "{a}.select_scatter({b}, {d}, {s})",
    "{a}.slice_scatter({b}, {d}, {s}, {t})",
    "{a}.diagonal_scatter({b}, {k}, {d}, {e})",
)
"""Ranges, splits and parts."""
SCALED = (
    *(f"F.interpolate({{a}}, scale_factor={c})" for c in (0.75, 0.7, 1 / 3, 2.5, 0.1, 1.1, 0.5)),
    "F.interpolate({a}, scale_factor=(0.75, 0.5))",
    "F.interpolate({a}, scale_factor=0.6, mode='bilinear')",
    "F.interpolate({a}, scale_factor=0.7, recompute_scale_factor=True)",
    "torch.ones(int({s} * 0.5))",
    "torch.ones(int({s} * 0.7), {n})",
    "torch.ones(int({s} / {n}))",
    "torch.ones(round({s} * 0.75))",
    "torch.ones(math.ceil({s} / {n}))",
    "torch.ones(math.ceil({s} * 0.3))",
    "torch.ones(math.floor({s} * 1.5))",
    "torch.ones(math.floor({s} * 0.3))",
    "torch.ones(int(({s} - {t}) / 2) + 4)",
    "torch.ones(int(math.sqrt({s})))",
    "{a}[..., : int({s} * 0.5)]",
    "{a}[..., {s} // {n} :]",
    "{a} * ({s} / {n})",
)
FAMILIES = (PLACED, PLACED, PLACED, RANGED, RANGED, SCALED, TAKEN, SHAPED, COMPUTED, JOINED)
SPACE = {"torch": torch, "F": torch.nn.functional, "math": __import__("math")}


def drawn(number: int) -> Drawn:
    """Return the module of a number."""
    random = Random(f"index {number}")
    torch.manual_seed(number)
    sizes = [random.choice((2, 3, 4, 5, 6, 8)) for _ in range(random.choice((2, 3)))]
    shapes = tuple(
        tuple(random.choice(sizes) for _ in range(random.choice((1, 1, 2, 2, 3, 4))))
        for _ in range(random.choice((1, 2, 2)))
    )
    fixed = tuple((n, a) for n, shape in enumerate(shapes) for a in range(len(shape)) if random.random() < 0.25)
    values = {f"x{n}": torch.randn(shape) for n, shape in enumerate(shapes)}
    lines: list[str] = []
    for _ in range(random.randint(1, 4)):
        made = _line(random, values)
        if made is None:
            break
        name = f"x{len(values)}"
        lines.append(f"{name} = {made[0]}")
        values[name] = made[1]
    ends = [n for n in values if n not in "".join(lines)] or [list(values)[-1]]
    outputs = ", ".join(dict.fromkeys((*ends, list(values)[-1])))
    return Drawn(shapes, fixed, (*lines, f"return ({outputs},)"))


def _line(random: Random, values: dict[str, torch.Tensor]) -> tuple[str, torch.Tensor] | None:
    """Return an expression on some values that runs, and its result; one output is taken if it has several."""
    for _ in range(TRIES):
        template = random.choice(random.choice(FAMILIES))
        if "{i}" in template:
            template = template.replace("{i}", random.choice(POSITIONS))
        vectors = [n for n, v in values.items() if v.ndim == 1]
        for name in ("{v}", "{w2}"):
            found = random.choice(list(values))
            vector = random.choice(vectors) if vectors and random.random() < 0.7 else f"{found}.reshape(-1)"
            template = template.replace(name, vector)
        text = _filled(random, template, values)
        try:
            found = eval(text, {**SPACE, **values})
        except Exception:  # whatever it is: this line is not drawn
            continue
        if isinstance(found, (tuple, list)):
            place = random.randrange(len(found)) if found else 0
            text, found = f"({text})[{place}]", found[place]
        if isinstance(found, torch.Tensor) and 0 < found.numel() <= MOST_ELEMENTS:
            return text if found.is_floating_point() else f"{text}.float()", found.float()
    return None
