"""What the rules for torch's operators answer about calls that are data, and where runs of torch say otherwise."""

from __future__ import annotations

from itertools import zip_longest
from types import SimpleNamespace
from typing import NamedTuple

from operator_calls import points, sizes_in, with_sizes

from symbcast.answers.findings import dims_at
from symbcast.core.algebra.bounds import Bounds
from symbcast.core.algebra.formulas import FALSE, all_of
from symbcast.core.algebra.symbols import symbol
from symbcast.core.programs.program import Program
from symbcast.core.solver.evaluation import holds_at
from symbcast.graphs.walking.node_call import GraphScope, RefusedError, UnknownShapeError
from symbcast.graphs.walking.requirements import NodePlace, Requirements
from symbcast.operators.values.contents import Elements
from symbcast.operators.values.value import Value
from symbcast.torch.calls import OPERATORS, TorchCall
from symbcast.torch.eager.runs import decomposed
from symbcast.torch.front_end import FRONT_END
from symbcast.torch.library import INT64
from symbcast.torch.operators.elementwise import in_place, pointwise
from symbcast.torch.walk import TorchWalk

FAILED, CRASHED, NOTHING = "-", "!", "[]"
DTYPES = {
    "": "torch.float32",
    "int": "torch.int64",
    "int32": "torch.int32",
    "int8": "torch.int8",
    "bool": "torch.bool",
    "complex": "torch.complex64",
}


class Answer(NamedTuple):
    """When a call runs, by its rule, and the shapes of its outputs, if known; why something is open, else empty.

    ``cases`` holds the sizes that are one of two: a formula, the size where it holds, and the size elsewhere.
    """

    condition: object
    outputs: list
    left_open: str
    cases: dict

    def resolved(self, at):
        """Return sizes with those of the cases."""
        found = dict(at)
        for size, (chosen, yes, no) in self.cases.items():
            (found[size],) = dims_at([yes if _holds(chosen, found) else no], found)
        return found


class Call(TorchCall):
    """A call whose arguments are data; the shapes that torch recorded are not known."""

    def __init__(self, place, walk, arguments):
        super().__init__(place, walk, GraphScope())
        self._arguments = arguments

    def _recorded(self):
        return [Value(None) for _ in self.node.outputs]


def node_of(op, args, ranks, target=None):
    """Return what a rule asks of a node: its outputs, of some ranks as they were exported, and its arguments' types.

    ``target`` is torch's operator if its decomposition is asked for.
    """
    values = [SimpleNamespace(shape=(None,) * (0 if rank is None else rank)) for rank in ranks]
    fx = SimpleNamespace(
        args=[_typed(v) for v in args.values()] if target is None else (),
        kwargs={name: _typed(v, target) for name, v in args.items()},
        meta={"val": values[0] if len(values) == 1 else values},
        target=target,
    )
    outputs = [f"out.{n}" for n in range(len(ranks))]
    return SimpleNamespace(name="out", op_type=op, outputs=outputs, inputs=[], raw=fx, names={}, version=1)


def _typed(value, target=None):
    if isinstance(value, list):
        return [_typed(v, target) for v in value]
    if isinstance(value, str) and value.startswith("T:"):
        dtype = DTYPES[value[2:].partition(":")[2]]
        if target is not None:
            import torch

            dtype = getattr(torch, dtype.removeprefix("torch."))
        return SimpleNamespace(meta={"val": SimpleNamespace(dtype=dtype)})
    return value


def answer(name, args, ranks, target=None):
    """Return what the rule for an operator says of a call whose outputs had some ranks when it was exported.

    With ``target``, torch's operator, it is what torch's decomposition says.
    """
    op = "aten." + name.partition(".")[0]
    letters = {letter: symbol(letter) for letter in sizes_in(args)}
    env = Program(on_conflict="record")
    for letter in letters:
        env.named(letter)
    asker = Requirements(env, "torch", Bounds({}))
    asker.start(tuple(letters.values()), {}, None)
    walk = TorchWalk(SimpleNamespace(inner=0, declared=SimpleNamespace(symbols={}, inputs=())), FRONT_END, asker)
    given = _values(with_sizes(args, lambda shape, dtype: Value(tuple(shape), INT64 if dtype == "int" else 0), letters))
    call = Call(NodePlace("out", op, node_of(op, args, ranks, target), []), walk, given)
    left_open, outputs = "", [None] * len(ranks)
    try:
        found = rule_of(op)(call) if target is None else decomposed(call)
        outputs = [found] if isinstance(found, Value) else list(found)
    except RefusedError:
        return Answer(FALSE, outputs, "", {})
    except UnknownShapeError as error:
        left_open = str(error) or "unknown shape"
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        left_open = f"could not be analysed: {type(error).__name__}: {error}"
    notes = [u.reason for u in walk.unanalysed if not u.is_about_data]
    return Answer(all_of(env.clauses), outputs, left_open or "; ".join(notes), asker.cases)


def rule_of(op):
    """Return the rule of an operator; one without a rule is tagged as pointwise, which only torch knows."""
    return OPERATORS.get(("", op)) or in_place(op) or pointwise


def _values(value):
    """Return arguments with open integers as values."""
    if isinstance(value, dict):
        return {name: _values(v) for name, v in value.items()}
    if isinstance(value, list):
        return [_values(v) for v in value]
    return Value((), INT64, Elements((value,))) if hasattr(value, "is_Symbol") else value


def unpacked(text):
    """Return the outcomes of runs."""
    found = []
    for part in text.split("|"):
        count, star, outcome = part.partition("*")
        found += [outcome] * int(count) if star else [part]
    return found


def ranks_of(outcome):
    """Return the ranks of the outputs of a run, None for what is no tensor."""
    if outcome == NOTHING:
        return ()
    return tuple(None if o[:1] == "=" else len(o.split(",")) if o else 0 for o in outcome.split(";"))


class Judged(NamedTuple):
    """How many runs were compared, how many the rule leaves open, and those that are other than it says."""

    runs: int
    left_open: int
    wrong: list[str]


def is_garbage(outcome):
    """Return whether an output has a size below 0: torch makes such of tensors without elements."""
    return "-" in outcome and outcome != FAILED and "=" not in outcome


def judged(row, target=None):
    """Hold the rule for an operator, or the decomposition of ``target``, against the recorded runs of one call."""
    letters, outcomes = sizes_in(row["args"]), unpacked(row["runs"])
    at_points = [{symbol(k): n for k, n in zip(letters, p, strict=True)} for p in points(letters)]
    ran = [o for o in outcomes if o not in (FAILED, CRASHED) and not is_garbage(o)]
    exported = list(dict.fromkeys(map(ranks_of, ran))) or [(0,)]
    wrong, count, left_open = [], 0, 0
    for ranks in exported[:4]:
        said = answer(row["op"], row["args"], ranks, target)
        for at, outcome in zip(at_points, outcomes, strict=True):
            if is_garbage(outcome):
                continue
            count += 1
            runs = outcome not in (FAILED, CRASHED) and ranks_of(outcome) == ranks
            holds = _holds(said.condition, at)
            if holds and not runs and said.left_open:
                left_open += 1
            elif holds is not runs:
                wrong.append(f"{_told(at)}: said to {'run' if holds else 'fail'}, and it is {outcome}")
            elif runs and (other := _other(said.outputs, outcome, said.resolved(at))):
                wrong.append(f"{_told(at)}: {outcome} is said to be {other}")
    return Judged(count, left_open, wrong)


def _holds(condition, at):
    try:
        return holds_at(condition, at)
    except ZeroDivisionError:
        return False


def _told(at):
    return " ".join(f"{s.name}={n}" for s, n in at.items()) or "always"


def _other(outputs, outcome, at):
    """Return the outputs as they are said to be where one of them is otherwise; else nothing."""
    real = [] if outcome == NOTHING else outcome.split(";")
    told = [_text(v, at) for v in outputs]
    if len(told) != len(real) or not all(map(_fits, told, real)):
        return ";".join("?" if t is None else t for t in told) or "nothing"
    return ""


def _fits(told, real):
    """Return whether a shape is as it is said to be; data decide sizes that are said to be None."""
    if told is None or (not told and real[:1] == "="):  # a number of unknown value
        return True
    pairs = zip_longest(told.split(","), real.split(","), fillvalue="")
    return all(t in ("None", r) for t, r in pairs)


def _text(value, at):
    if value is None or value.shape is None:
        return None
    if isinstance(value.content, Elements) and not value.shape:
        (found,) = dims_at([value.content.items[0]], at)
        return f"={found}"
    return ",".join(map(str, dims_at(value.shape, at)))
