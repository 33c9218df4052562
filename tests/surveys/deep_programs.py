"""Random programs of 5 to 80 operations that work at hidden sizes, held against the same operations on integers.

``python tests/surveys/deep_programs.py 500 [first]`` holds the programs of that many numbers at the hidden sizes, near
them and at random ones, and prints what is wrong; ``python tests/surveys/deep_programs.py certify 500 [first]`` has z3
prove the answers too. `properties/test_deep_programs.py` holds a sample. The integers are computed here, without the
rules under test.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from math import prod
from pathlib import Path

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "support", "surveys"))

from undefined_terms import holds, text, value

import symbcast as sb
from symbcast.core.programs.conditions import plain_answer
from symbcast.core.solver.evaluation import value_function

LENGTHS = (5, 8, 12, 20, 30, 50, 80)
MOST_NAMES = 7
LARGEST = 64
"""No hidden size is larger, so that products stay small."""
NEAR, FAR = 60, 30


class RefusedError(Exception):
    """An operation does not work at some sizes."""


def require(condition):
    if not condition:
        raise RefusedError


class Range:
    """An unknown size between bounds; each use of its text is a size of its own."""

    def __init__(self, low, high):
        self.low, self.high = low, high

    def __str__(self):
        return f"{self.low}..{'' if self.high is None else self.high}"


class Out:
    """An output of an earlier step."""

    def __init__(self, step, number=0):
        self.step, self.number = step, number


class Step:
    """One operation: its name, its operands (outputs, or tuples of terms), and what else it takes."""

    def __init__(self, name, operands, **others):
        self.name, self.operands, self.others = name, operands, others


class Program:
    """A random program of some number; ``hidden`` are the sizes at which it works."""

    def __init__(self, number):
        self.random = random.Random(number)
        self.length = self.random.choice(LENGTHS)
        self.hidden, self.bounds, self.steps, self.shapes = {}, {}, [], {}
        while len(self.steps) < self.length:
            before = dict(self.hidden)
            step = self._drawn()
            if step is None or not self._taken(step):
                self.hidden = before

    def _taken(self, step):
        """Add a step, unless it does not work or its outputs are large; return whether it was added."""
        try:
            outputs = apply(step, [self._known(o) for o in step.operands], self.hidden)
        except RefusedError:
            return False
        if any(size > LARGEST for shape in outputs for size in shape) or any(len(s) > 5 for s in outputs):
            return False
        self.shapes.update({(len(self.steps), n): shape for n, shape in enumerate(outputs)})
        self.steps.append(step)
        return True

    # Drawing sizes.

    def _term(self, size, *, is_new=True):
        """Return a term that has a size at the hidden sizes."""
        choose = self.random.choice
        kind = choose(("number", "name", "name", "name", "name", "more", "more", "unknown", "range"))
        same = [name for name, hidden in self.hidden.items() if hidden == size and isinstance(name, str)]
        if kind == "number":
            return size
        if kind == "name" and same:
            return choose(same)
        if kind == "unknown" and is_new and len(self.hidden) < MOST_NAMES:
            return self._named(f"?{'abcdefg'[len(self.hidden)]}", size)
        if kind == "range" and is_new and len(self.hidden) < MOST_NAMES:
            made = Range(max(0, size - choose((0, 1, 2))), choose((None, size, size + 2)))
            self.hidden[made] = size
            return made
        if kind == "more" and self.hidden:
            return self._adjusted(size)
        if len(self.hidden) < MOST_NAMES:
            return self._named(f"{'NMKHWTS'[len(self.hidden)]}", size)
        return choose(same) if same else size

    def _named(self, name, size):
        self.hidden[name] = size
        return name

    def _adjusted(self, size):
        """Return an operation on hidden sizes, plus or minus what it lacks."""
        choose = self.random.choice
        names = [name for name in self.hidden if isinstance(name, str)] or [size]
        a, b = choose(names), choose((*names, 2, 3, 4))
        made = choose(
            (("//", a, b), ("%", a, b), ("min", a, b), ("max", a, b), ("*", a, choose((2, 3))), ("broadcast", a, b))
        )
        found = value(made, self.hidden)
        if found is None:
            return size
        return made if found == size else ("+", made, size - found) if found < size else ("-", made, found - size)

    def _plain(self, size):
        """Return a term without a new label or a range: only shapes introduce these."""
        found = self._term(size, is_new=False)
        return size if isinstance(found, Range) else found

    def _shape(self, sizes):
        return tuple(map(self._term, sizes))

    def _known(self, operand):
        if isinstance(operand, Out):
            return self.shapes[operand.step, operand.number]
        return tuple(value(d, self.hidden) for d in operand)

    def _operand(self, rank=None):
        """Return an earlier output or a new shape, and its hidden sizes."""
        outputs = [key for key, shape in self.shapes.items() if rank is None or len(shape) == rank]
        if outputs and self.random.random() < 0.75:
            key = self.random.choice(outputs[-6:])
            return Out(*key), self.shapes[key]
        count = self.random.randint(1, 3) if rank is None else rank
        sizes = [self.random.choice((*self.hidden.values(), 1, 2, 3, 4, 6, 8)) for _ in range(count)]
        shape = self._shape(sizes)
        return shape, tuple(sizes)

    # Drawing operations.

    def _drawn(self):
        name = self.random.choice(DRAWN)
        return getattr(self, f"_draw_{name}")()

    def _draw_broadcast(self):
        data, sizes = self._operand()
        count = self.random.randint(0, len(sizes))
        other = [1 if self.random.random() < 0.3 else size for size in sizes[len(sizes) - count :]]
        return Step("broadcast", [data, self._shape(other)][:: self.random.choice((1, -1))])

    def _draw_expand(self):
        data, sizes = self._operand()
        target = [self.random.choice((2, 3, 5)) if size == 1 else size for size in sizes]
        return Step("expand", [data, self._shape([2] * self.random.randint(0, 1) + target)])

    def _draw_concat(self):
        data, sizes = self._operand()
        axis = self.random.randrange(len(sizes)) if sizes else None
        if axis is None:
            return None
        other = [self.random.randint(0, 4) if n == axis else size for n, size in enumerate(sizes)]
        return Step("concat", [data, self._shape(other)], axis=axis)

    def _draw_stack(self):
        data, sizes = self._operand()
        return Step("stack", [data, self._shape(sizes)], axis=self.random.randint(0, len(sizes)))

    def _draw_matmul(self):
        data, sizes = self._operand(self.random.choice((2, 3)))
        return Step("matmul", [data, self._shape((sizes[-1], self.random.choice((1, 3, 4))))])

    def _draw_einsum(self):
        data, sizes = self._operand(2)
        return Step("einsum", [data, self._shape((sizes[1], 3))])

    def _draw_equal(self):
        data, sizes = self._operand()
        return Step("equal", [data, self._shape(sizes)])

    def _draw_reshape(self):
        data, sizes = self._operand()
        total, target = prod(sizes), []
        for _ in range(self.random.randint(1, 3)):
            divisors = [d for d in (1, 2, 3, 4, 6, 8, *sizes) if d and total % d == 0]
            target.append(self.random.choice(divisors))
            total //= target[-1]
        terms = [*map(self._plain, target), -1 if self.random.random() < 0.6 else self._plain(total)]
        return Step("reshape", [data], target=terms)

    def _draw_transpose(self):
        data, sizes = self._operand()
        order = list(range(len(sizes)))
        self.random.shuffle(order)
        return Step("transpose", [data], order=order) if order else None

    def _draw_flatten(self):
        data, sizes = self._operand()
        return Step("flatten", [data], start=self.random.randrange(len(sizes))) if sizes else None

    def _draw_squeeze(self):
        data, sizes = self._operand()
        ones = [n for n, size in enumerate(sizes) if size == 1]
        return Step("squeeze", [data], axis=self.random.choice(ones)) if ones else None

    def _draw_unsqueeze(self):
        data, sizes = self._operand()
        return Step("unsqueeze", [data], axis=self.random.randint(0, len(sizes)))

    def _draw_tile(self):
        data, sizes = self._operand()
        return Step("tile", [data], repeats=[self._plain(self.random.choice((1, 1, 2))) for _ in sizes])

    def _draw_reduce(self):
        data, sizes = self._operand()
        if not sizes:
            return None
        return Step("reduce", [data], axis=self.random.randrange(len(sizes)), keep=self.random.random() < 0.5)

    def _window(self):
        choose = self.random.choice
        return {"kernel": choose((1, 2, 3)), "stride": choose((1, 2)), "padding": choose((0, 0, 1))}

    def _draw_pool(self):
        data, _ = self._operand(self.random.choice((3, 4)))
        return Step("pool", [data], **self._window())

    def _draw_conv(self):
        data, sizes = self._operand(self.random.choice((3, 4)))
        window = self._window()
        channels = self._shape((3, sizes[1]))
        return Step("conv", [data, (*channels, *(window["kernel"],) * (len(sizes) - 2))], **window)

    def _draw_slice(self):
        data, sizes = self._operand()
        if not sizes:
            return None
        axis = self.random.randrange(len(sizes))
        start = self.random.choice((None, 0, 1, self._plain(1), -2))
        stop = self.random.choice((None, -1, 3, self._plain(sizes[axis]), ("//", self._plain(sizes[axis]), 2)))
        return Step("slice", [data], axis=axis, start=start, stop=stop, step=self.random.choice((1, 1, 2)))

    def _draw_split(self):
        data, sizes = self._operand()
        axis = self.random.randrange(len(sizes)) if sizes else None
        if axis is None:
            return None
        if self.random.random() < 0.5:
            return Step("split", [data], axis=axis, parts=self.random.choice((1, 2, 3, 4)))
        first = self.random.randint(0, sizes[axis])
        return Step("split", [data], axis=axis, parts=tuple(map(self._plain, (first, sizes[axis] - first))))

    def _draw_pad(self):
        data, sizes = self._operand()
        return Step("pad", [data], widths=[(self.random.randint(0, 2), self.random.randint(0, 2)) for _ in sizes])

    def _draw_one_hot(self):
        data, _ = self._operand()
        return Step("one_hot", [data], classes=self._plain(self.random.randint(1, 5)))

    def _draw_top_k(self):
        data, sizes = self._operand()
        if not sizes:
            return None
        return Step("top_k", [data], count=self._plain(self.random.randint(0, sizes[-1])))

    def _draw_layer_norm(self):
        data, sizes = self._operand()
        return Step("layer_norm", [data, self._shape(sizes[-1:])]) if sizes else None

    def _draw_reflect(self):
        data, sizes = self._operand()
        return Step("reflect", [data], widths=[(self.random.randint(0, 2), self.random.randint(0, 1)) for _ in sizes])

    def _draw_gather(self):
        data, sizes = self._operand()
        axis = self.random.randrange(len(sizes)) if sizes else None
        return None if axis is None else Step("gather", [data, self._shape([3] * self.random.randint(0, 2))], axis=axis)

    def _draw_gather_elements(self):
        data, sizes = self._operand()
        axis = self.random.randrange(len(sizes)) if sizes else None
        if axis is None:
            return None
        indices = [self.random.randint(0, 4 if n == axis else size) for n, size in enumerate(sizes)]
        return Step("gather_elements", [data, self._shape(indices)], axis=axis)

    def _draw_gather_nd(self):
        data, sizes = self._operand()
        return Step("gather_nd", [data, (*self._shape([3]), 1)]) if sizes else None

    def _draw_scatter(self):
        data, sizes = self._operand()
        axis = self.random.randrange(len(sizes)) if sizes else None
        if axis is None:
            return None
        updates = [2 if n == axis else size for n, size in enumerate(sizes)]
        return Step("scatter", [data, self._shape([2]), self._shape(updates)], axis=axis)

    def _draw_scatter_nd(self):
        data, sizes = self._operand()
        if not sizes:
            return None
        return Step("scatter_nd", [data, (*self._shape([2]), 1), self._shape((2, *sizes[1:]))])

    def _draw_batch_norm(self):
        data, sizes = self._operand(self.random.choice((2, 3, 4)))
        return Step("batch_norm", [data, *(self._shape(sizes[1:2]) for _ in range(self.random.randint(1, 3)))])

    def _draw_group_norm(self):
        data, _ = self._operand(self.random.choice((2, 3, 4)))
        return Step("group_norm", [data], groups=self.random.choice((1, 2, 3, 4)))

    def _draw_attention(self):
        query, sizes = self._operand(3)
        batch, keys = self.random.choice((sizes[0], 1)), self.random.choice((2, 3, 5))
        return Step("attention", [query, self._shape((batch, keys, sizes[2])), self._shape((sizes[0], keys, 4))])

    def _draw_gru(self):
        data, _ = self._operand(3)
        return Step(self.random.choice(("gru", "rnn", "lstm")), [data], hidden=self._plain(self.random.randint(1, 5)))

    def _draw_resize(self):
        data, sizes = self._operand()
        return Step("resize", [data, self._shape([self.random.choice((2, 3, 6)) for _ in sizes])])

    def _draw_require(self):
        """Return a requirement that holds at the hidden sizes: a comparison, or one of two."""
        names = [name for name in self.hidden if isinstance(name, str)]
        if not names:
            return None
        name, other = self.random.choice(names), self._adjusted(self.random.randint(0, 9))
        size, further = self.hidden[name], value(other, self.hidden)
        made = self.random.choice(
            (
                (">=", name, size - 1),
                ("==", ("%", name, 2), size % 2),
                ("or", ("==", name, other), ("<=", name, size + 3)),
                ("!=", other, further + 1),
                ("or", ("==", other, further), ("compatible", name, 3)),
                ("not", ("==", other, further + 2)),
            )
        )
        return Step("require", [], formula=made)


DRAWN = [name.removeprefix("_draw_") for name in vars(Program) if name.startswith("_draw_")] + ["broadcast"] * 4


# On integers.


def apply(step, shapes, sizes):
    """Return the output shapes of a step for operands of integers; raise `RefusedError` if it does not work."""
    require(all(size is not None and size >= 0 for shape in shapes for size in shape))
    return ON_INTEGERS[step.name](*shapes, *((step.others, sizes) if step.others else ()))


def term_value(term, sizes):
    found = value(term, sizes)
    require(found is not None and found >= 0)
    return found


def broadcast(left, right):
    rank = max(len(left), len(right))
    pairs = zip((1,) * (rank - len(left)) + tuple(left), (1,) * (rank - len(right)) + tuple(right), strict=True)
    return [tuple(joined(a, b) for a, b in pairs)]


def joined(a, b):
    require(a == b or 1 in (a, b))
    return b if a == 1 else a


def expand(data, target):
    require(len(data) <= len(target))
    require(all(a in (1, b) for a, b in zip(data[::-1], target[::-1], strict=False)))
    return [tuple(target)]


def concat(left, right, others, _):
    axis = others["axis"]
    require(all(a == b for n, (a, b) in enumerate(zip(left, right, strict=True)) if n != axis))
    return [tuple(a + b if n == axis else a for n, (a, b) in enumerate(zip(left, right, strict=True)))]


def stack(left, right, others, _):
    require(left == right)
    return [(*left[: others["axis"]], 2, *left[others["axis"] :])]


def matmul(left, right):
    require(left[-1] == right[0])
    return [(*left[:-1], right[1])]


def einsum(left, right):
    joined(left[1], right[0])  # NumPy and torch stretch a size of 1 here, unlike in a product of matrices
    return [(left[0], right[1])]


def equal(left, right):
    require(tuple(left) == tuple(right))
    return [tuple(left)]


def reshape(data, others, sizes):
    target = [d if d == -1 else term_value(d, sizes) for d in others["target"]]
    given = [d for d in target if d != -1]
    if -1 not in target:
        require(prod(data) == prod(given))
        return [tuple(target)]
    require(prod(given) != 0 and prod(data) % prod(given) == 0)
    return [tuple(prod(data) // prod(given) if d == -1 else d for d in target)]


def transpose(data, others, _):
    return [tuple(data[n] for n in others["order"])]


def flatten(data, others, _):
    return [(*data[: others["start"]], prod(data[others["start"] :]))]


def squeeze(data, others, _):
    require(data[others["axis"]] == 1)
    return [tuple(size for n, size in enumerate(data) if n != others["axis"])]


def unsqueeze(data, others, _):
    return [(*data[: others["axis"]], 1, *data[others["axis"] :])]


def tile(data, others, sizes):
    return [tuple(n * term_value(times, sizes) for n, times in zip(data, others["repeats"], strict=True))]


def reduce(data, others, _):
    kept = (1,) if others["keep"] else ()
    return [(*data[: others["axis"]], *kept, *data[others["axis"] + 1 :])]


def positions(size, others):
    room = size + 2 * others["padding"] - others["kernel"]
    require(room >= 0)
    return room // others["stride"] + 1


def pool(data, others, _):
    return [(*data[:2], *(positions(size, others) for size in data[2:]))]


def conv(data, weights, others, _):
    require(data[1] == weights[1])
    return [(data[0], weights[0], *(positions(size, others) for size in data[2:]))]


def cut(data, others, sizes):
    start, stop = (
        end if end is None or isinstance(end, int) else term_value(end, sizes)
        for end in (others["start"], others["stop"])
    )
    length = len(range(data[others["axis"]])[start : stop : others["step"]])
    return [tuple(length if n == others["axis"] else size for n, size in enumerate(data))]


def split(data, others, sizes):
    axis, parts = others["axis"], others["parts"]
    if isinstance(parts, int):
        require(data[axis] % parts == 0)
        lengths = [data[axis] // parts] * parts
    else:
        lengths = [term_value(part, sizes) for part in parts]
        require(sum(lengths) == data[axis])
    return [tuple(length if n == axis else size for n, size in enumerate(data)) for length in lengths]


def pad(data, others, _):
    return [tuple(a + size + b for size, (a, b) in zip(data, others["widths"], strict=True))]


def reflect(data, others, _):
    require(all(size > max(ends) or not any(ends) for size, ends in zip(data, others["widths"], strict=True)))
    return pad(data, others, _)


def gather(data, indices, others, _):
    axis = others["axis"]
    # As NumPy does: axes after this one may be empty, and the indices are still checked.
    require(data[axis] or 0 in (*data[:axis], *indices))
    return [(*data[:axis], *indices, *data[axis + 1 :])]


def gather_elements(data, indices, others, _):
    axis = others["axis"]
    require(all(i <= size for n, (i, size) in enumerate(zip(indices, data, strict=True)) if n != axis))
    require(data[axis] or 0 in indices)
    return [tuple(indices)]


def gather_nd(data, indices):
    require(data[0] or not indices[0])
    return [(indices[0], *data[1:])]


def scatter(data, indices, updates, others, _):
    axis = others["axis"]
    require(
        updates[axis] == indices[0]
        and all(u == d for n, (u, d) in enumerate(zip(updates, data, strict=True)) if n != axis)
    )
    require(data[axis] or 0 in indices)
    return [tuple(data)]


def scatter_nd(data, indices, updates):
    require(tuple(updates) == (indices[0], *data[1:]) and (data[0] or not indices[0]))
    return [tuple(data)]


def batch_norm(data, *parameters):
    require(all(size == data[1] for (size,) in parameters))
    return [tuple(data)]


def group_norm(data, others, _):
    require(data[1] % others["groups"] == 0)
    return [tuple(data)]


def attention(query, key, values):
    require(query[2] == key[2] and key[1] == values[1])
    return [(joined(joined(query[0], key[0]), values[0]), query[1], values[2])]


def recurrent(data, others, sizes):
    hidden = term_value(others["hidden"], sizes)
    return [(*data[:2], hidden), (1, data[1], hidden)]


def lstm(data, others, sizes):
    output, state = recurrent(data, others, sizes)
    return [output, state, state]


def layer_norm(data, scale):
    require(data[-1:] == scale)
    return [tuple(data)]


def one_hot(data, others, sizes):
    return [(*data, term_value(others["classes"], sizes))]


def top_k(data, others, sizes):
    count = term_value(others["count"], sizes)
    require(count <= data[-1])
    return [(*data[:-1], count)]


def required(others, sizes):
    require(holds(others["formula"], sizes))
    return []


ON_INTEGERS = {
    "broadcast": broadcast,
    "expand": expand,
    "concat": concat,
    "stack": stack,
    "matmul": matmul,
    "einsum": einsum,
    "equal": equal,
    "reshape": reshape,
    "transpose": transpose,
    "flatten": flatten,
    "squeeze": squeeze,
    "unsqueeze": unsqueeze,
    "tile": tile,
    "reduce": reduce,
    "pool": pool,
    "conv": conv,
    "slice": cut,
    "split": split,
    "pad": pad,
    "one_hot": one_hot,
    "top_k": top_k,
    "layer_norm": layer_norm,
    "reflect": reflect,
    "gather": gather,
    "gather_elements": gather_elements,
    "gather_nd": gather_nd,
    "scatter": scatter,
    "scatter_nd": scatter_nd,
    "batch_norm": batch_norm,
    "group_norm": group_norm,
    "attention": attention,
    "gru": recurrent,
    "rnn": recurrent,
    "lstm": lstm,
    "resize": lambda _, sizes: [tuple(sizes)],
    "require": required,
}


def outcome(program, sizes):
    """Return the output shapes by step and number, up to the first step that does not work, and whether all do."""
    found = {}
    for number, step in enumerate(program.steps):
        try:
            shapes = [
                found[o.step, o.number] if isinstance(o, Out) else tuple(value(d, sizes) for d in o)
                for o in step.operands
            ]
            outputs = apply(step, shapes, sizes)
        except RefusedError:
            return found, False
        found.update({(number, n): shape for n, shape in enumerate(outputs)})
    return found, True


# Recorded.


class Recorded:
    """A program recorded in an environment: its outputs, and the size that each range became."""

    def __init__(self, program):
        self.env, self.outputs, self.program = sb.ShapeEnv(on_conflict="record"), {}, program
        self.names = {name: name for name in program.hidden if isinstance(name, str)}
        for number, step in enumerate(program.steps):
            made = self._record(step)
            outputs = made if isinstance(made, tuple) and not isinstance(made, sb.Shape) else (made,)
            self.outputs.update({(number, n): s for n, s in enumerate(outputs) if s is not None})

    def _record(self, step):  # noqa: PLR0912 - one case for each operation
        shapes, others = [self._operand(o) for o in step.operands], step.others
        env, kept = self.env, {k: v for k, v in others.items() if k == "axis"}
        match step.name:
            case "broadcast" | "expand" | "matmul" | "equal" | "layer_norm" | "gather_nd" | "scatter_nd" | "batch_norm":
                return getattr(env, step.name)(*shapes)
            case "attention" | "resize":
                return getattr(env, step.name)(*shapes)
            case "gather" | "gather_elements" | "scatter":
                return getattr(env, step.name)(*shapes, others["axis"])
            case "group_norm":
                return env.group_norm(*shapes, others["groups"])
            case "gru" | "rnn" | "lstm":
                return getattr(env, step.name)(*shapes, *self._terms([others["hidden"]]))
            case "reflect":
                return env.pad(*shapes, others["widths"], mode="reflect")
            case "concat" | "stack":
                return getattr(env, step.name)(shapes, **kept)
            case "einsum":
                return env.einsum("ij,jk->ik", *shapes)
            case "reshape":
                return env.reshape(*shapes, self._terms(others["target"]))
            case "transpose":
                return env.transpose(*shapes, others["order"])
            case "flatten":
                return env.flatten(*shapes, others["start"])
            case "squeeze" | "unsqueeze":
                return getattr(env, step.name)(*shapes, others["axis"])
            case "tile":
                return env.tile(*shapes, self._terms(others["repeats"]))
            case "reduce":
                return env.reduce(*shapes, others["axis"], others["keep"])
            case "pool":
                kernel = (others["kernel"],) * (len(shapes[0]) - 2)
                return env.pool(*shapes, kernel, strides=others["stride"], padding=others["padding"])
            case "conv":
                return env.conv(*shapes, strides=others["stride"], padding=others["padding"])
            case "slice":
                ends = [
                    e if e is None or isinstance(e, int) else self._terms([e])[0]
                    for e in (others["start"], others["stop"])
                ]
                return env.slice(*shapes, *ends, others["axis"], others["step"])
            case "split":
                parts = others["parts"]
                return env.split(*shapes, parts if isinstance(parts, int) else self._terms(parts), others["axis"])
            case "pad":
                return env.pad(*shapes, others["widths"])
            case "one_hot":
                return env.one_hot(*shapes, *self._terms([others["classes"]]))
            case "top_k":
                return env.top_k(*shapes, *self._terms([others["count"]]))
        return env.require(text(others["formula"]))

    def _operand(self, operand):
        if isinstance(operand, Out):
            return self.outputs[operand.step, operand.number]
        return self._terms(operand)

    def _terms(self, terms):
        return tuple(self._size(t) for t in terms)

    def _size(self, term):
        if isinstance(term, int):
            return term
        if isinstance(term, Range):
            if term not in self.names:
                made = self.env.fresh(term.low, term.high)
                self.names[term] = made.name
            return self.env.symbol(self.names[term])
        return text(term)

    def named(self, sizes):
        """Return sizes by the names that the environment has for them, and only those that it has."""
        known = set(plain_answer(self.env).shown.values())
        return {self.names[s]: size for s, size in sizes.items() if s in self.names and self.names[s] in known}


def points(program):
    """Yield the hidden sizes, sizes near them, and random ones; a range keeps its bounds."""
    chance, names = random.Random(program.length), list(program.hidden)
    yield dict(program.hidden)
    for n in range(NEAR + FAR):
        sizes = dict(program.hidden)
        for name in chance.sample(names, min(len(names), chance.choice((1, 1, 2, 3)) if n < NEAR else len(names))):
            near = max(0, sizes[name] + chance.choice((-2, -1, 1, 2)))
            sizes[name] = chance.choice((0, 1, near, near, 2 * sizes[name])) if n < NEAR else chance.randint(0, 12)
            if isinstance(name, Range):
                sizes[name] = min(max(sizes[name], name.low), name.high if name.high is not None else 99)
        yield sizes


def held(number):
    """Return what is wrong with the answers about the program of a number, and the recorded program."""
    program = Program(number)
    recorded = Recorded(program)
    env, faults, works = recorded.env, [], Counter()
    plain = plain_answer(env)
    guard, symbols = env.guard().function, tuple(plain.shown)
    functions = {
        key: [d if isinstance(d, int) else value_function(d, symbols) for d in plain_dims(shape)]
        for key, shape in recorded.outputs.items()
    }
    for sizes in points(program):
        outputs, expected = outcome(program, sizes)
        named = {**dict.fromkeys(plain.shown.values(), 1), **recorded.named(sizes)}
        works[expected] += 1
        if guard(*(named[name] for name in plain.shown.values())) is not expected:
            faults.append(f"at {named} the guard is {not expected}")
        if expected:
            at = [named[name] for name in plain.shown.values()]
            faults += [
                f"at {named} output {key} is {outputs[key]}, not {found}"
                for key, dims in functions.items()
                if (found := tuple(d if isinstance(d, int) else d(*at) for d in dims)) != outputs[key]
            ]
    return [*faults, *wrong_answers(program, recorded, works)], recorded


def plain_dims(shape):
    return shape.values if hasattr(shape, "values") else shape.dims


def wrong_answers(program, recorded, works):
    """Return what is wrong with the verdict and the sizes shown."""
    env, verdict = recorded.env, recorded.env.verdict.value
    faults = [f"{verdict}, but of {dict(works)}"] if works[{"always": False, "never": True}.get(verdict)] else []
    if verdict == "unknown" and works[True] and works[False] and env.witness() and env.counterexample():
        faults.append("unknown with a witness and a counterexample")
    back = {name: size for size, name in recorded.names.items()}
    for sizes, wanted in ((env.witness(), True), (env.counterexample(), False)):
        if sizes is not None:
            at = {**dict.fromkeys(program.hidden, 1), **{back[n]: size for n, size in sizes.items() if n in back}}
            if outcome(program, at)[1] is not wanted:
                faults.append(f"{verdict}: {sizes} does not show {wanted}")
    return faults


def main():
    arguments = sys.argv[1:]
    certify = arguments[0] == "certify"
    count, first = (int(a) for a in [*arguments[certify:], "0"][:2])
    outcomes, slowest = Counter(), []
    for number in range(first, first + count):
        started = time.process_time()
        try:
            faults, recorded = held(number)
        except Exception as error:
            print(number, f"{type(error).__name__}: {error}", flush=True)
            outcomes["error"] += 1
            continue
        verdict = recorded.env.verdict.value
        outcomes.update(
            {
                verdict: 1,
                "wrong": bool(faults),
                "unproven": bool(recorded.env.unproven),
                "steps": len(recorded.program.steps),
            }
        )
        for fault in faults[:2]:
            print(number, len(recorded.program.steps), fault, flush=True)
        if certify:
            certificate = recorded.env.certify()
            proofs = Counter(c.proof.value for c in certificate.claims)
            outcomes.update(
                {"certified": bool(certificate), "refuted": bool(proofs["refuted"]), "claims": len(certificate.claims)}
            )
            outcomes.update({f"claims {proof}": n for proof, n in proofs.items()})
            for claim in certificate.claims:
                if claim.proof.value == "refuted":
                    print(number, claim, flush=True)
        if number % 200 == 199:
            print(f"to {number}: {dict(outcomes)}", file=sys.stderr, flush=True)
        slowest = sorted([*slowest, (round(time.process_time() - started, 1), number)])[-3:]
    print(dict(outcomes), "slowest", slowest)


if __name__ == "__main__":
    main()
