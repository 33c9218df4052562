"""Random small functions as source text: loops over sizes, slices, joins, reshapes, branches on data and on sizes.

The rank of each variable is known, so that most functions work for some sizes. Each is traced and compared with itself
at all sizes from 0 to 5.

Run as ``python tests/paths/random_sources.py COUNT [SEED] [KIND]``, where KIND names statements of `KINDS`; with ``-v``
it prints the functions that end incomplete.
"""

import linecache
import random
import sys
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

if __name__ == "__main__":
    sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "support", "surveys"))

SHAPES = [["N, M"], ["N, M", "K,"], ["N, M", "M, K"], ["N,", "M,"], ["N, M", "K, M"], ["N,"], ["N, M, K"]]
NUMBERS = (-2, -1, 0, 1, 2, 3)


class Writer:
    """Writes one function: its lines, and the variables so far with their ranks."""

    def __init__(self, seed, statements=()):
        self.statements = statements or STATEMENTS
        self.rng = random.Random(seed)
        self.shapes = self.rng.choice(SHAPES)
        self.arrays = [
            (name, s.count(",") + (not s.endswith(","))) for name, s in zip("xyz", self.shapes, strict=False)
        ]
        self.lines = []
        self.count = 0

    def text(self):
        for _ in range(self.rng.randint(1, 4)):
            self.rng.choice(self.statements)(self)
        result = ", ".join(dict.fromkeys([self.arrays[-1][0], self.rng.choice(self.arrays)[0]]))
        head = f"def function({', '.join(n for n, _ in self.arrays[: len(self.shapes)])}):"
        return "\n".join([head, *(f"    {line}" for line in self.lines), f"    return {result}", ""])

    # Parts of expressions.

    def array(self, *ranks):
        """A variable of one of some ranks; any if there is none."""
        of_rank = [a for a in self.arrays if a[1] in ranks]
        return self.rng.choice(of_rank or self.arrays)

    def new(self, rank, text):
        self.count += 1
        name = f"v{self.count}"
        self.lines.append(f"{name} = {text}")
        self.arrays.append((name, max(0, rank)))
        return name

    def number(self):
        return str(self.rng.choice(NUMBERS))

    def axis(self, rank):
        return self.rng.randrange(-rank, rank) if rank else 0

    def size(self, rank=None):
        """An expression of a size."""
        name, rank = self.array(1, 2, 3)
        one = f"{name}.shape[{self.axis(rank)}]" if rank else f"{name}.size"
        other = self.array(1, 2, 3)[0]
        return self.rng.choice([
            one, f"len({name})" if rank else one, f"{one} // 2", f"{one} - 1", f"{one} + 1",
            f"min({one}, {other}.size)",
            f"max({one}, 2)", f"{one} % 3", f"2 * {one}", f"{other}.size", f"{other}.ndim", self.number(),
        ])  # fmt: skip

    def bound(self):
        return self.rng.choice(["", "", self.number(), self.number(), self.size()])

    def sliced(self):
        return f"{self.bound()}:{self.bound()}" + self.rng.choice(["", "", "", ":2", ":-1", ":3"])

    def index(self, rank):
        """An index of an array, and how many axes are left."""
        parts, left = [], 0
        for _ in range(self.rng.randint(1, rank) if rank else 0):
            kind = self.rng.randrange(6)
            if kind < 3:
                parts.append(self.sliced())
                left += 1
            elif kind == 3:
                parts.append(self.rng.choice([self.number(), self.size()]))
            elif kind == 4:
                parts.append("None")
                left += 1
            else:
                parts.append(":")
                left += 1
        used = sum(p != "None" for p in parts)
        return ", ".join(parts) or "...", left + rank - used

    def condition(self):
        name, _ = self.array()
        other, _ = self.array()
        return self.rng.choice([
            f"{self.size()} > {self.size()}", f"{name}.shape == {other}.shape", f"{self.size()} % 2 == 0",
            f"{name}.sum() > 0", f"{name}.size and {name}.max() > 0.5", f"({name} > 0.5).any()",
            f"np.all({name} > {other})",
            f"{self.size()} == {self.size()}", f"not {self.size()}",
        ])  # fmt: skip


def broadcast(w):
    (a, p), (b, q) = w.array(), w.array()
    operator = w.rng.choice(["+", "*", "-", ">"])
    w.new(max(p, q), f"({a} {operator} {b}) * 1.0")


def matmul(w):
    (a, p), (b, q) = w.array(1, 2), w.array(1, 2)
    text = w.rng.choice([f"{a} @ {b}", f"{a} @ {b}.T", f"{a}.T @ {b}", f"np.dot({a}, {b})"])
    w.new(max(0, p + q - 2), text)


def reduction(w):
    a, rank = w.array(1, 2, 3)
    name = w.rng.choice(["sum", "mean", "max", "min", "prod", "std", "argmax", "argmin", "any", "all"])
    axis, keep = w.axis(rank), w.rng.random() < 0.3 and not name.startswith("arg")
    given = w.rng.choice([f"axis={axis}", f"{axis}"]) + (", keepdims=True" if keep else "")
    w.new(rank if keep else rank - 1, f"np.{name}({a}, {given}) * 1.0")


def select(w):
    a, rank = w.array(1, 2, 3)
    index, left = w.index(rank)
    w.new(left, f"{a}[{index}]")


def fancy(w):
    a, rank = w.array(1, 2, 3)
    b, _ = w.array(1, 2)
    way = w.rng.randrange(7)
    if way == 0:
        w.new(rank, f"{a}[np.argsort({b}.ravel())]")
    elif way == 1:
        w.new(rank, f"{a}[[{w.number()}, {w.number()}]]")
    elif way == 2:
        w.new(1, f"{a}[{a} > 0.5]")
    elif way == 3:
        w.new(rank, f"{a}[np.arange({w.size()})]")
    elif way == 4:
        w.new(rank, f"np.take({a}, [{w.number()}, 0, {w.number()}], axis={w.axis(rank)})")
    elif way == 5:
        w.new(max(0, rank - 1), f"{a}[np.arange(len({a})), {w.number()}]" if rank > 1 else f"{a}[np.arange(3)]")
    else:
        w.new(rank, f"{a}[{b}.ravel() > 0.5]")


def shape_of(w):
    a, rank = w.array(1, 2, 3)
    b, of = w.array(1, 2, 3)
    way = w.rng.randrange(12)
    texts = [
        (2, f"{a}.reshape(-1, {w.rng.choice(['2', '3', w.size()])})"),
        (1, f"{a}.reshape(-1)"),
        (2, f"{a}.reshape({w.size()}, {w.size()})"),
        (of, f"{a}.reshape({b}.shape)"),
        (rank + 1, f"np.expand_dims({a}, {w.axis(rank + 1)})"),
        (rank, f"np.swapaxes({a}, 0, {w.axis(rank)})"),
        (rank - 1, f"np.squeeze({a}, axis={w.axis(rank)})"),
        (of, f"np.broadcast_to({a}, {b}.shape)"),
        (rank, f"np.tile({a}, {w.rng.choice(['2', w.size()])})"),
        (rank, f"np.repeat({a}, {w.rng.choice(['2', w.size()])}, axis={w.axis(rank)})"),
        (rank, f"np.roll({a}, {w.size()}, axis={w.axis(rank)})"),
        (rank, f"np.pad({a}, {w.rng.choice(['1', '(1, 2)', f'(0, {w.size()})'])})"),
    ]
    w.new(*texts[way])


def join(w):
    a, rank = w.array(1, 2)
    b, _ = w.array(rank)
    axis = w.axis(rank)
    texts = [
        (rank, f"np.concatenate([{a}, {b}], axis={axis})"),
        (rank + 1, f"np.stack([{a}, {b}], axis={axis})"),
        (max(rank, 2), f"np.vstack([{a}, {b}])"),
        (rank, f"np.hstack([{a}, {b}])"),
        (2, f"np.column_stack([{a}, {b}])"),
        (rank, f"np.append({a}, {b}, axis={axis})"),
        (rank, f"np.where({a} > 0.5, {a}, {b})"),
        (rank, f"np.insert({a}, {w.number()}, 0.5, axis={axis})"),
        (rank, f"np.delete({a}, {w.rng.choice([w.number(), w.size()])}, axis={axis})"),
        (2, f"np.outer({a}, {b})"),
    ]
    w.new(*w.rng.choice(texts))


def made(w):
    texts = [
        (1, f"np.arange({w.size()}) * 1.0"),
        (1, f"np.zeros({w.size()})"),
        (2, f"np.ones(({w.size()}, {w.size()}))"),
        (1, f"np.linspace(0, 1, {w.size()})"),
        (2, f"np.eye({w.size()})"),
        (1, f"np.array([float(i) for i in range({w.size()})])"),
        (1, f"np.array([0.5] * {w.size()})"),
    ]
    w.new(*w.rng.choice(texts))


def function(w):
    a, rank = w.array(1, 2, 3)
    axis = w.axis(rank)
    texts = [
        (rank, f"np.diff({a}, axis={axis})"),
        (rank, f"np.cumsum({a}, axis={axis})"),
        (rank, f"np.sort({a}, axis={axis})"),
        (rank, f"np.flip({a}, axis={axis})"),
        (max(1, rank - 1), f"np.diagonal({a})" if rank > 1 else f"np.diag({a}).ravel()"),
        (1, f"np.unique({a})"),
        (1, f"np.nonzero({a} > 0.5)[0] * 1.0"),
        (rank, f"np.array_split({a}, 2, axis={axis})[{w.rng.randrange(2)}]"),
        (rank, f"np.split({a}, 2, axis={axis})[0]"),
        (2, f"np.cov({a})" if rank == 2 else f"np.atleast_2d({a}.ravel())"),
        (1, f"np.convolve({a}.ravel(), [1.0, 2.0], mode={w.rng.choice(['full', 'valid', 'same'])!r})"),
        (rank, f"np.gradient({a}, axis={axis})"),
        (rank + 1, f"np.lib.stride_tricks.sliding_window_view({a}, 2, axis={axis})"),
        (rank - 1, f"np.trapezoid({a}, axis={axis})"),
        (rank - 1, f"np.median({a}, axis={axis})"),
        (rank - 1, f"np.percentile({a}, 30, axis={axis})"),
        (rank, f"np.take_along_axis({a}, np.argsort({a}, axis={axis}), axis={axis})"),
        (1, f"np.bincount(({a}.ravel() * 3).astype(int)) * 1.0"),
        (1, f"np.histogram({a}, bins=4)[0] * 1.0"),
    ]
    w.new(*w.rng.choice(texts))


def loop(w):
    a, rank = w.array(1, 2, 3)
    b, _ = w.array(1, 2)
    w.count += 1
    i, v = f"i{w.count}", f"v{w.count}"
    step = w.rng.choice(["1", "2", "3"])
    ways = [
        (rank, [f"{v} = []", f"for {i} in {a}:", f"    {v}.append({i} * 2)", f"{v} = np.array({v})"]),
        (rank, [f"{v} = np.stack([{a}[{i}] + {i} for {i} in range(len({a}))])"]),
        (rank - 1, [f"{v} = 0.0", f"for {i} in range(len({a})):", f"    {v} = {v} + {a}[{i}]",
             f"{v} = np.asarray({v})"]),
        (rank, [f"{v} = np.zeros({a}.shape)", f"for {i} in range({w.size()}):", f"    {v}[{i}] = {a}[{i}]"]),
        (rank, [f"{v} = [{a}[{i} : {i} + {step}] for {i} in range(0, len({a}), {step})]",
             f"{v} = np.concatenate({v})"]),
        (1, [f"{v} = np.array([p.sum() + q.sum() for p, q in zip({a}, {b})])"]),
        (rank, [f"{v} = {a}", f"for {i} in range({w.size()}):", f"    {v} = {v}[1:]"]),
        (rank, [f"{v} = {a}", f"for {i} in range({w.size()}):", f"    {v} = np.concatenate([{v}, {a}[:1]])"]),
        (rank, [f"{v} = {a}", f"while len({v}) > {w.rng.choice('1234')}:", f"    {v} = {v}[::2]"]),
        (rank, [f"{v} = {a}", f"while len({v}) > 1 and len({v}) % 2 == 0:", f"    {v} = {v}[::2] + {v}[1::2]"]),
        (rank, [f"{v} = np.array([r for r in {a} if r.sum() > 0.5])"]),
        (1, [f"{v} = np.array([{i} * 1.0 for {i}, r in enumerate({a}) if {i} % 2 == 0])"]),
        (1, [f"{v} = np.zeros(len({a}))", f"for {i}, r in enumerate({a}):", "    if r.sum() > 0.5:",
             f"        {v}[{i}] = 1"]),
        (rank, [f"{v} = {a}", f"for {i} in range(20):", f"    {v} = {v} * 0.5", f"    if {v}.sum() < 0.1:",
             "        break"]),
        (rank, [f"{v} = {a}", f"while {v}.size and {v}.max() > 0.1:", f"    {v} = {v} / 2"]),
        (0, [f"{v} = 0.0", f"for {i} in range(len({a}) - 1):", f"    {v} += float(({a}[{i} + 1] - {a}[{i}]).sum())"]),
        (1, [f"{v} = np.array(sorted({a}.ravel(), reverse=True))"]),
        (0, [f"{v} = np.asarray(max(r.sum() for r in {a}))"]),
        (1, [f"{v} = []", f"for {i} in range(len({a})):", f"    if {a}[{i}].sum() > 1:", f"        {v}.append({i})",
             f"{v} = np.asarray({v})"]),
        (1, [f"{v} = np.asarray(sorted({{len(r.shape) for r in {a}}}))"]),
    ]  # fmt: skip
    result, lines = w.rng.choice(ways)
    w.lines += lines
    w.arrays.append((v, max(0, result)))


def branch(w):
    a, rank = w.array()
    b, _ = w.array(rank)
    w.count += 1
    v = f"v{w.count}"
    texts = [
        f"{a} * 2",
        f"{a} + {b}",
        f"{b}",
        f"{a}[1:]" if rank else a,
        f"{a}.T",
        f"np.zeros({a}.shape)",
        f"{a}.copy()",
    ]
    w.lines += [f"if {w.condition()}:", f"    {v} = {w.rng.choice(texts)}", "else:", f"    {v} = {w.rng.choice(texts)}"]
    w.arrays.append((v, rank))


def guard(w):
    w.lines += [f"if {w.condition()}:", "    raise ValueError('no')"]


def written(w):
    a, rank = w.array(1, 2, 3)
    b, _ = w.array()
    index, _ = w.index(rank)
    name = w.new(rank, f"{a} * 1.0")
    w.lines.append(f"{name}[{index}] = {w.rng.choice(['0.5', b, f'{b}.sum()'])}")


def tried(w):
    (a, rank), (b, _) = w.array(1, 2), w.array(1, 2)
    w.count += 1
    v = f"v{w.count}"
    body = w.rng.choice([f"{a} @ {b}", f"{a} + {b}", f"{a}.reshape({b}.shape)", f"{a}[{w.number()}]"])
    w.lines += ["try:", f"    {v} = {body}", "except (ValueError, IndexError):", f"    {v} = {a}"]
    w.arrays.append((v, rank))


def table(w):
    """A real array of the module, of which data or sizes choose elements."""
    (a, rank), (b, _) = w.array(1, 2), w.array(1, 2)
    index = w.rng.choice(
        [f"({a} * 9).astype(int) % 6", f"np.argsort({a}, axis=-1)", f"{a}.argmax(axis=-1)", f"{a} > 0.5"]
    )
    texts = [
        (rank + 1, f"TABLE[{index}]"),
        (rank, f"TABLE[{index}, {w.rng.choice(['0', '-1', '4', w.size()])}]"),
        (rank + 1, f"np.take(TABLE, {index}, axis=0)"),
        (rank + 1, f"TABLE.take({index}, axis=0)"),
        (2, f"TABLE[:{w.size()}]"),
        (2, f"TABLE[{w.size()}:, :{w.size()}]"),
        (1, f"TABLE[{w.size()}]"),
        (1, f"TABLE.dot({b})"),
        (2, f"TABLE @ {b}"),
        (2, f"TABLE.reshape({w.size()}, {w.size()})"),
        (rank, f"LEVELS.searchsorted({a}) * 1.0"),
        (1, f"{b}[LEVELS.astype(int)]"),
        (1, f"{b}[IDS[{w.rng.choice([':', '1:', f'{w.size()}:', f':{w.size()}'])}]]"),
        (1, f"np.zeros(IDS[{w.size()}])"),
    ]
    w.new(*w.rng.choice(texts))


def created(w):
    """An array whose sizes are known, into which something of the arguments is written."""
    (a, rank), (b, _) = w.array(1, 2), w.array()
    size = w.size()
    first = w.rng.choice(
        ["np.empty(4)", "np.zeros(4)", "np.array([1.0, 2, 3, 4])", "np.eye(4)", "np.eye(4) * 2", "np.ones((4, 3))",
         "np.zeros(4, int)", "np.arange(4)", "np.full(4, 2)"]
    )  # fmt: skip
    place = w.rng.choice(["0", "-1", "1", ":2", "...", size, f":{size}"])
    value = w.rng.choice([f"{a}.sum()", f"{a}", f"{b}.mean()", f"{a}[{w.number()}]", w.size()])
    name = w.new(2 if "," in first or "eye" in first else 1, first)
    operator = w.rng.choice(["=", "=", "+="])
    way = w.rng.randrange(6)
    if way < 3:
        w.lines.append(f"{name}[{place}] {operator} {value}")
    elif way == 3:
        w.lines.append(f"np.add({name}, {value}, out={name})")
    elif way == 4:
        w.lines += [f"for i, v in enumerate({a}):", f"    {name}[i % 4] {operator} {w.rng.choice(['1', 'v.sum()'])}"]
    else:
        sizes = w.rng.choice([f"np.ones({a}.ndim, int)", f"np.array({a}.shape)", f"np.full({rank}, {size})"])
        w.lines += [f"{name} = {sizes}", f"{name}[{w.axis(rank)}] = {w.size()}"]
        last = w.rng.choice([f"{a}.reshape({name})", f"np.zeros({name}.tolist())", f"{a}[:{name}[0]]", f"{a}[{name}]"])
        w.lines.append(f"{name} = {last}")
    if w.rng.random() < 0.3:
        w.lines.append(f"{name} = {w.rng.choice(['np.cross', 'np.linalg.cross'])}({name}[:3], {a}.ravel()[:3])")


def keyed(w):
    """Sizes as keys of dicts and members of sets, in caches, and ranges of floats."""
    (a, _), (b, _) = w.array(1, 2, 3), w.array(1, 2, 3)
    one, other, third = w.size(), w.size(), w.size()
    w.count += 1
    d, v = f"d{w.count}", f"v{w.count}"
    number = w.rng.choice("0123")
    ways = [
        [f"{d} = {{{one}: 2, {other}: 3}}", f"{v} = np.zeros(len({d}))"],
        [f"{d} = {{{one}: {a}, {number}: {b}}}", f"{v} = {d}[{third}]"],
        [f"{d} = {{{number}: 1, 2: 3}}", f"{v} = np.ones({d}.get({one}, 4))"],
        [f"{d} = {{}}", f"{d}[{a}.shape] = 1", f"{d}[{b}.shape] = 2", f"{v} = np.zeros(sum({d}.values()))"],
        [f"{d} = {{}}", f"for u in ({a}, {b}):", f"    {d}.setdefault(len(u), []).append(u)",
         f"{v} = np.zeros([len(g) for g in {d}.values()])"],
        [f"{v} = {a} if {one} in {{{number}, {other}}} else {b}"],
        [f"{d} = set()", f"{d}.add({one})", f"{d}.add({other})", f"{d}.discard({third})", f"{v} = np.ones(len({d}))"],
        [f"{v} = window({one}) * 1.0"],
        [f"if {one} not in MEMO:", f"    MEMO[{one}] = np.zeros({one} + 1)", f"{v} = MEMO[{one}] * 1.0"],
        [f"{d} = {{{one}: 1}}", f"if {other} in {d}:", f"    {d}[{other}] += 2", f"{v} = np.ones({d}[{one}])"],
        [f"{d} = {{{one}: 1, {other}: 2}}", f"del {d}[{third}]", f"{v} = np.ones(len({d}))"],
        [f"{d} = {{{one}: 1, {other}: 2}}", f"{v} = np.ones({d}.pop({third}, 3))"],
        [f"{v} = np.array(tuple(set({a}.ravel())))"],
        [f"{v} = np.arange({w.rng.choice(['0.5', '0.0', '1.5'])}, {one} + {w.rng.choice(['0.5', '0.25', '1.0'])})"],
        [f"{v} = np.arange(float({one}))"],
        [f"{v} = np.arange({one} / 2)"],
        [f"{v} = np.fromiter((r.sum() for r in {a}), float)"],
        [f"{v} = np.zeros(len({{len({a}), len({b}), {one}}}))"],
    ]  # fmt: skip
    w.lines += w.rng.choice(ways)
    w.arrays.append((v, 1))


def joined(w):
    """Branches on data whose arms assign, alone and in loops; the least and the largest of numbers."""
    (a, _), (b, _) = w.array(1, 2), w.array(1, 2)
    w.count += 1
    v, n, i = f"v{w.count}", f"n{w.count}", f"i{w.count}"
    test = w.rng.choice([f"{a}.sum() > 0", f"{b}.sum() > 1", f"({a} > 0.5).any()", f"{a}.mean() < {b}.mean()"])
    here = w.rng.choice([f"{a}[{i}].sum() > 0.5", f"{a}[{i}].sum() > s", f"s < {a}[{i}].max()", f"{b}.sum() > s"])
    value = w.rng.choice(
        [f"{a}[{i}].sum()", f"s + {a}[{i}].sum()", "s * 2", "0.0", "1", "s", f"{i} * 0.5", f"{b}.sum()"]
    )
    one, other = (
        w.rng.choice([a, b, f"{a} * 2", f"{a}[1:]", f"{b}.copy()", "0.0", f"np.zeros(len({a}))"]) for _ in "ab"
    )
    start = w.rng.choice(["0.0", "0", "1.5", f"{b}.sum()"])
    each, more = f"for {i} in range(len({a})):", w.rng.choice([f"{a}.sum()", "1"])
    ways = [
        [f"{v} = {one} if {test} else {other}", f"{v} = {v} + {b}"],
        [f"if {test}:", f"    {v} = {one}", f"    {n} = 1", "else:", f"    {v} = {other}", f"    {n} = {w.number()}",
         f"{v} = np.atleast_1d({v})[:{n}]"],
        [f"s = {start}", each, f"    if {here}:", f"        s = {value}", f"{v} = np.full(3, s)"],
        [f"s = {start}", each, f"    if {here}:", f"        s = {value}", "    else:",
         f"        s = {w.rng.choice(['0.0', 's - 1', '2'])}", f"{v} = np.full(3, s)"],
        [f"s, {n} = {start}, 0", each, f"    if {here}:", f"        s = {value}",
         f"        {n} = {w.rng.choice([i, '1', f'{n} + 1', f'len({b})'])}", f"{v} = {a}[{n}:]"],
        [f"s, {n} = {start}, 0", each, f"    if {here}:", f"        {n} += 1",
         f"{v} = np.zeros({n})"],
        [f"s, f = {start}, False", each, f"    if {here}:", "        f = True",
         f"{v} = {a} if f else {b}"],
        [f"s, {v} = {start}, {b}", each, f"    if {here}:", f"        {v} = {one}", "    else:",
         f"        {v} = {other}"],
        [f"s, {v} = {start}, np.zeros(len({a}))", each, f"    if {here}:",
         f"        {v}[{i}] = s", "    else:", f"        {v}[{w.size()}] = 1", f"        s = {value}"],
        [f"s, {v} = {start}, {b} * 1.0", f"if {test}:", f"    {v}[0] = 3", f"    s += {more}",
         f"{v} = {v} * s"],
        [f"s = {start}", each, f"    for j in range({w.size()}):",
         f"        s = {w.rng.choice(['min', 'max'])}(s, {value}, {b}.sum())", f"{v} = np.full(2, s)"],
        [f"{v} = np.array(sorted([{a}.sum(), {b}.sum()]))"],
        [f"{v} = np.zeros((len({a}) + 1, len({b}) + 1))", f"for {i} in range(1, len({a}) + 1):",
         f"    for j in range(1, len({b}) + 1):", f"        {v}[{i}, j] = min({v}[{i} - 1, j], {v}[{i}, j - 1]) + 1",
         f"        if {a}[{i} - 1].sum() == {b}[j - 1].sum():", f"            {v}[{i}, j] = {v}[{i} - 1, j - 1]"],
    ]  # fmt: skip
    w.lines += w.rng.choice(ways)
    w.arrays.append((v, 1))


STATEMENTS = (broadcast, matmul, reduction, select, select, fancy, shape_of, shape_of, join, made, function, function)
STATEMENTS += (loop, loop, loop, branch, branch, guard, written, tried)


KINDS = {"plain": STATEMENTS, "arrays": (*STATEMENTS, *[table, created] * 6), "keys": (*STATEMENTS, *[keyed] * 10)}
KINDS["joins"] = (*STATEMENTS, *[joined] * 16)
CONSTANTS = {"TABLE": np.arange(30.0).reshape(6, 5), "LEVELS": np.arange(3.0), "IDS": np.array([1, 3, 2, 1])}

CACHED = "import functools\n\n@functools.lru_cache\ndef window(n):\n    return np.hanning(n)\n"


def made_function(seed, kind="plain"):
    """The function of a seed, its text, and the shapes of its arguments."""
    writer = Writer(seed, KINDS[kind])
    text = writer.text()
    file = f"<random {kind} {seed}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    space = {"np": np, "__name__": "random_source", **CONSTANTS, "MEMO": {}}
    exec(compile(CACHED, "<cached>", "exec"), space)
    exec(compile(text, file, "exec"), space)
    return space["function"], text, writer.shapes


def checked(seed, sizes=range(6), kind="plain"):
    """A random function, the report on it, and how they compare."""
    from paths.held import held

    import symbcast as sb

    function, text, shapes = made_function(seed, kind)
    report = sb.trace(function, *shapes)
    return text, report, held(report, function, *shapes, sizes=sizes)


def main(count, first, kind):
    counts, reasons, start = Counter(), Counter(), time.perf_counter()
    warnings.simplefilter("ignore")
    for seed in range(first, first + count):
        text, report, found = checked(seed, kind=kind)
        outcome = "wrong" if found.wrong else "exact" if report.complete else "incomplete"
        counts[outcome] += 1
        if outcome == "wrong":
            print("WRONG", seed, text, found, report.condition, sep="\n", flush=True)
        if outcome == "incomplete":
            reasons[report.reason.partition(", at ")[0]] += 1
            if "-v" in sys.argv:
                print("incomplete", seed, text, report.reason, sep="\n", flush=True)
    print(f"{count} functions, {time.perf_counter() - start:.0f} s: {dict(counts)}")
    for reason, number in reasons.most_common(25):
        print(f"{number:5} {reason}")


if __name__ == "__main__":
    numbers = [int(a) for a in sys.argv[1:] if a.isdecimal()]
    named = [a for a in sys.argv[1:] if a in KINDS]
    main(numbers[0], numbers[1] if len(numbers) > 1 else 0, named[0] if named else "plain")
