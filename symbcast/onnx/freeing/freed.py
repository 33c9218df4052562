"""Free the sizes of a model: read which ones, rewrite, check what was written, and run it before and after."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from symbcast.answers.show.documented import Explained
from symbcast.core.advice import with_advice
from symbcast.core.algebra.formulas import Formula
from symbcast.core.algebra.symbols import Unknown, symbol
from symbcast.core.algebra.terms import Dim, Symbol, symbols_of
from symbcast.core.characters import sizes_text, visible
from symbcast.core.shapes import ShapeLike, shape
from symbcast.core.solver.evaluation import holds_at, symbols_in, value_at
from symbcast.core.structs import NamedTuple
from symbcast.core.verdicts import Verdict
from symbcast.errors import BindingError, MissingExtraError, ModelError, ShapeTypeError, UndecidedError
from symbcast.graphs.check import check_graph, read_question
from symbcast.graphs.model import CheckedModel
from symbcast.onnx.files import TEXTUAL, read_file
from symbcast.onnx.freeing.pad import Padding, PadMode, check_mode, pad_model
from symbcast.onnx.freeing.plan import Plan
from symbcast.onnx.freeing.walk import FreeingWalk
from symbcast.onnx.front_end import FRONT_END
from symbcast.onnx.protobuf import number, walkable_nodes
from symbcast.onnx.reader import OnnxModel, graphs_of, load_model
from symbcast.onnx.report import ModelReport
from symbcast.onnx.runtime_process import FILLABLE, Feed, run_all
from symbcast.onnx.schemas import Runtime
from symbcast.onnx.validation import validated

if TYPE_CHECKING:
    import onnx
    import onnx_ir

    from symbcast.answers.show.document import Document

Axes: TypeAlias = "str | Mapping[str, ShapeLike | Mapping[int, str]]"
"""The axes to free: names in order, or for each input its shape or the names of some axes."""

_SPATIAL_RANKS = (4, 5)
# The names of axes that are never the batch of an image.
_SIDES = {"h", "w", "height", "width"}
# How many edits a screen shows.
_SHOWN = 12


class Fixed(NamedTuple):
    """What stays fixed after all edits: the condition that is left, the node that requires it, and why."""

    node: str
    op_type: str
    condition: str
    why: str


class Run(NamedTuple):
    """One run in ONNX Runtime: the sizes, what was expected, and what happened; ``agrees`` is None if not run."""

    sizes: dict[str, int]
    expected: str
    happened: str
    agrees: bool | None

    def __str__(self) -> str:
        word = {True: "agrees", False: "DISAGREES", None: "open"}[self.agrees]
        at = ", ".join(f"{n}={s}" for n, s in self.sizes.items())
        if self.expected == "runs":
            return f"{word}: at {at} {'it runs' if self.happened == 'ran' else f'it should run: {self.happened}'}"
        return f"{word}: at {at} it {self.expected}: {self.happened}"


class _Axis(NamedTuple):
    """An axis of an input with its new size, and the number that it has in the model, if it has one."""

    name: str
    axis: int
    size: Dim
    number: int | None


class Freed(Explained):
    """A model with free sizes, and what was changed for it.

    Attributes:
        model: the new model; weights in other files are still there, unread.
        report: the answer about the new model, which was read again from its bytes.
        edits: the changes.
        fixed: what still fixes sizes.
        sizes: the numbers that the free sizes had, by name; of a size that was open, the smallest with which all works.
        notes: what the old model leaves open.
    """

    def __init__(
        self, source: _Source, model: Any, report: ModelReport, plan: Plan, padded: _Padded | None = None
    ) -> None:
        self._source = source
        self._plan = plan
        self._padded = padded
        self.model: onnx.ModelProto = model
        self.report = report
        self.edits = (*(padded.padding.edits if padded else ()), *plan.edits)
        self.sizes = {s.name: n for s, n in plan.old.items()}

    @cached_property
    def _numbers(self) -> dict[str, int]:
        """The sizes that were numbers in the old model."""
        dims, places = _inputs(self._source.raw), self._plan.sources
        fixed = [s.name for s, (name, axis) in places.items() if number(dims[name][axis]) is not None]
        return {name: size for name, size in self.sizes.items() if name in fixed}

    @property
    def verdict(self) -> Verdict:
        """Whether the new model runs at all sizes."""
        return self.report.verdict

    @cached_property
    def fixed(self) -> tuple[Fixed, ...]:
        """What still fixes sizes: the requirements of the new model on its inputs."""
        return tuple(self._fixed())

    def _fixed(self) -> Iterator[Fixed]:
        tables = {c.edits[0].tensor: c.edits[0].why for c in self._plan.changed.values() if c.edits}
        for finding in self.report.findings:
            names = [name for name, _ in finding.operands]
            table = next((why for t, why in tables.items() if any(n.startswith(f"{t}_free") for n in names)), "")
            why = table or self._plan.pins.get(finding.node) or finding.reason
            yield Fixed(finding.node, finding.op_type, finding.text, why)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the new model to a file, as a whole, in the binary format.

        Raises `BindingError` for the file of the old model, for what is no regular file, and for the name of another
        format.
        """
        target = Path(path)
        if target.exists() and not target.is_file():
            raise BindingError(f"{path} is not a regular file", "name a file")
        if target.suffix.lower() in (".gz", *TEXTUAL):
            raise BindingError(f"{path} names another format: this is a binary model", "name a file that ends in .onnx")
        if self._source.path is not None and target.resolve() == self._source.path.resolve():
            raise BindingError(f"{path} is the model that was read", "name another file")
        draft = target.with_name(f".{target.name}.{os.getpid()}.part")
        try:
            draft.write_bytes(self.model.SerializeToString())
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)

    def confirm(self) -> tuple[Run, ...]:
        """Run both models in ONNX Runtime at the old sizes, and the new one at others.

        At the old sizes all outputs must be equal, bit for bit. The others are the smallest sizes that work, 1, and two
        more. A size that is only the first axis of inputs, as a batch is, is also doubled: each half of the
        outputs must then be what the old model gives for that half of the inputs, but for rounding.

        Where inputs are padded, the outputs must be those of the model without its padding, for inputs that NumPy pads,
        cropped by NumPy, bit for bit.

        Raises `MissingExtraError` where onnxruntime is not installed.
        """
        if find_spec("onnxruntime") is None:
            raise MissingExtraError("symbcast.onnx: confirm()", "onnxruntime")
        return tuple(self._runs())

    def _runs(self) -> Iterator[Run]:
        values = self.report._checked.inputs.values.values()
        if any(v.shape is None or v.dtype not in FILLABLE for v in values):
            yield Run(self.sizes, "runs", "the inputs cannot be filled", None)
            return
        with tempfile.TemporaryDirectory() as drafts:
            old, new = Path(drafts, "old.onnx"), Path(drafts, "new.onnx")
            old.write_bytes(self._source.raw.SerializeToString())
            new.write_bytes(self.model.SerializeToString())
            yield from self._runs_at_points(old, new, Path(drafts))
            yield from self._runs_of_rows(old, new, Path(drafts))

    @property
    def _folder(self) -> Path | None:
        return None if self._source.path is None else self._source.path.parent

    def _feeds(self, point: Mapping[str, int], rows: str = "", skipped: int = 0) -> list[Feed]:
        """Return the contents of all inputs; of those whose first axis is ``rows``, the ones after some rows."""
        return [
            _feed(name, v.shape or (), v.dtype, point)._replace(
                skipped=skipped * (_only_axis(v.shape or (), rows) == 0)
            )
            for name, v in self.report._checked.inputs.values.items()
        ]

    def _runs_at_points(self, old: Path, new: Path, folder: Path) -> Iterator[Run]:
        points = list(self._points())
        feeds = [self._feeds(point) for point in points]
        before, *_ = run_all(old, feeds[:1], self._folder)
        results = run_all(new, feeds, self._folder, folder)
        for position, (point, result) in enumerate(zip(points, results, strict=True)):
            if result.shapes is None:
                is_claimed = before.shapes is not None and self.verdict is not Verdict.UNKNOWN
                yield Run(point, "runs", result.error, False if is_claimed else None)
            elif position:
                if self._padded is None:  # else it is compared
                    yield Run(point, "runs", "ran", True)
            elif before.shapes is None:
                yield Run(point, "gives equal outputs", f"the old model fails: {before.error}", None)
            else:
                equal = before.digests == result.digests
                yield Run(point, "gives equal outputs", "bit-equal" if equal else "the outputs differ", equal)
        if self._padded is not None and all(result.shapes is not None for result in results):
            yield from self._runs_by_hand(self._padded, points, folder)

    def _runs_by_hand(self, padded: _Padded, points: Sequence[dict[str, int]], folder: Path) -> Iterator[Run]:
        """Yield a run for each size: the outputs must be what the model gives for inputs that are padded by hand."""
        whole, kept, padding = folder / "unpadded.onnx", folder / "by_hand", padded.padding
        kept.mkdir()
        whole.write_bytes(padded.before.SerializeToString())
        added = [padding.added(point) for point in points]
        feeds = [
            [f._replace(pads=padding.pads(f.name, a), mode=padding.modes.get(f.name, f.mode)) for f in self._feeds(p)]
            for p, a in zip(points, added, strict=True)
        ]
        runs = run_all(whole, feeds, self._folder, kept)
        if any(run.shapes is None for run in runs):
            return  # the model before padding fails there, too
        for n, point in enumerate(points):
            got, by_hand = _arrays(folder / f"{n}.npz"), _arrays(kept / f"{n}.npz")
            cropped = {o: padding.cropped(o, array, added[n]) for o, array in by_hand.items()}
            equal = all(a.shape == got[o].shape and a.tobytes() == got[o].tobytes() for o, a in cropped.items())
            yield Run(point, "gives what padding by hand gives", "bit-equal" if equal else "the outputs differ", equal)

    def _runs_of_rows(self, old: Path, new: Path, folder: Path) -> Iterator[Run]:
        """Yield a run for each size that may be a batch: with twice the rows, each half as the old model gives it."""
        shapes = [v.shape or () for v in self.report._checked.inputs.values.values()]
        for name, count in self.sizes.items():
            point = {**self.sizes, name: 2 * count}
            places = {o: _only_axis(s.dims, name) for o, s in self.report.outputs.items() if s is not None}
            outputs = {o: axis for o, axis in places.items() if axis is not None}
            is_first = all(_only_axis(s, name) == 0 or symbol(name) not in symbols_of(s) for s in shapes)
            if not (is_first and outputs and _holds(self.report.condition.formula, point)):
                continue
            kept = [folder / f"{name}_{side}" for side in ("old", "new")]
            for path in kept:
                path.mkdir()
            halves = [self._feeds(self.sizes, name, skipped) for skipped in (0, count)]
            runs = [*run_all(old, halves, self._folder, kept[0])]
            runs += run_all(new, [self._feeds(point)], self._folder, kept[1])
            if all(run.shapes is not None for run in runs):
                equal = _are_joined(outputs, kept[1] / "0.npz", [kept[0] / f"{n}.npz" for n in (0, 1)])
                differ = "they differ: rows depend on each other, or an edit means something else"
                yield Run(
                    point,
                    "gives the rows that the old model gives",
                    "equal" if equal else differ,
                    True if equal else None,
                )

    def _points(self) -> Iterator[dict[str, int]]:
        """Yield the sizes at which to run: the old ones first."""
        yield self.sizes
        condition, seen, count = self.report.condition.formula, [self.sizes], 0
        witness = self.report.witness()
        others = [dict.fromkeys(self.sizes, 1), *({n: s + k for n, s in self.sizes.items()} for k in range(1, 65))]
        halves = [{n: max(1, s * k // 4) for n, s in self.sizes.items()} for k in (1, 2, 3, 5, 6, 8)]
        each = [{**self.sizes, n: max(1, s * k // 2)} for n, s in self.sizes.items() for k in (1, 4)]
        for point in [*([witness] if witness else []), *others, *halves, *each]:
            if count < 4 and set(point) == set(self.sizes) and point not in seen and _holds(condition, point):
                seen.append(point)
                count += 1
                yield point

    def to_dict(self) -> dict[str, Any]:
        """Return the report as data for JSON, with what was changed under the key ``freed``."""
        freed = {
            "sizes": self.sizes,
            "edits": [e._asdict() for e in self.edits],
            "fixed": [f._asdict() for f in self.fixed],
            "notes": [*self.notes],
        }
        return {**self.report.to_dict(), "freed": freed}

    def __repr__(self) -> str:
        count = len(self.edits)
        return f"<Freed {self.report.source}: {self.verdict.value}; {count} edit{'s' * (count != 1)}>"

    def _document(self, *room: Any) -> Document:
        from symbcast.answers.show.document import Room, field, fields, words
        from symbcast.graphs.report.presentation import model_document

        report = model_document(self.report, *room)
        shown = self.edits if room == (Room.PAGE,) else self.edits[:_SHOWN]
        more = len(self.edits) - len(shown)
        rows = [field("freed", words(f"{sizes_text(self._numbers)} in the old model"))] if self._numbers else []
        # What is padded has conditions, which are never cut.
        whole = len(self._padded.padding.edits) if self._padded else 0
        rows += [
            field("and" if n else "edited", words(str(edit)), most=0 if n < whole else 2)
            for n, edit in enumerate(shown)
        ]
        rows.append(field("and", words(f"{more} more; --format json, or .edits in Python, has them all" * bool(more))))
        rows += [field("note", words(note)) for note in self.notes]
        return report.replace(blocks=(fields(rows), *report.blocks))

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What the old model leaves open: sizes that it had with the number 1, or with one number."""
        shapes = [v.shape or () for v in self.report._checked.inputs.values.values()]
        single = [
            name
            for name, number in self._numbers.items()
            if number == 1 and any(symbol(name) in symbols_of(s) and _only_axis(s, name) != 0 for s in shapes)
        ]
        notes = [f"{n} was 1: a mask or table of one row does not tell the others; export at {n}=2" for n in single]
        by_number = {number: [n for n, c in self._numbers.items() if c == number] for number in self._numbers.values()}
        notes += [
            f"{' and '.join(names)} were {number}: a {number} may stand for either; export at other sizes"
            for number, names in by_number.items()
            if len(names) > 1 and self.edits
        ]
        for why, nodes in self._plan.doubts.items():
            first, *others = nodes
            notes.append(f"{visible(first)}{f' and {len(others)} more' if others else ''}: {why}")
        return (*notes, *(self._padded.padding.notes if self._padded else ()))


def _holds(condition: Formula, sizes: Mapping[str, int]) -> bool:
    known = {symbol(name): size for name, size in sizes.items()}
    return symbols_in(condition).keys() <= known.keys() and holds_at(condition, known)


def _only_axis(dims: Sequence[Dim], name: str) -> int | None:
    """Return the axis that a size is; None if it is none, or in others too."""
    speaking = [axis for axis, dim in enumerate(dims) if symbol(name) in symbols_of((dim,))]
    return speaking[0] if len(speaking) == 1 and dims[speaking[0]] == symbol(name) else None


def _are_joined(outputs: Mapping[str, int], whole: Path, parts: Sequence[Path]) -> bool:
    """Return whether saved outputs are others joined along an axis, but for rounding."""
    import numpy as np

    joined, *halves = map(_arrays, (whole, *parts))
    return all(
        np.allclose(joined[o], np.concatenate([h[o] for h in halves], axis), rtol=1e-3, atol=1e-5, equal_nan=True)
        for o, axis in outputs.items()
        if o in joined
    )


def _arrays(path: Path) -> dict[str, Any]:
    import numpy as np

    with np.load(path) as saved:  # an open file would keep its folder on Windows
        return dict(saved)


def _feed(name: str, dims: Sequence[Dim], dtype: int, sizes: Mapping[str, int]) -> Feed:
    values = {s: sizes[s.name] for d in dims for s in symbols_of((d,)) if s.name in sizes}
    return Feed(name, dtype, tuple(value_at(d, values) or 0 for d in dims))


class _Padded(NamedTuple):
    """A model before its inputs were padded, and the padding."""

    before: Any
    padding: Padding


class _Source(NamedTuple):
    """The model as it was: its name, its file if it has one, and its ``ModelProto``."""

    name: str
    path: Path | None
    raw: Any


@with_advice
def free(
    model: str | PathLike[str] | onnx.ModelProto | onnx_ir.Model,
    axes: Axes | None = None,
    *,
    share: bool = False,
    pad: PadMode | None = None,
    runtime: Runtime = "onnxruntime",
) -> Freed:
    """Return a model that takes every size along some axes of its inputs, where it was exported for one size.

    ``axes`` are names for the axes to free, by position: ``"N"`` is the first axis of each input, ``"N, H, W"`` also
    the last axes of images, and ``"N, L"`` the second axis of inputs with up to three axes.
    ``{"image": "N, 3, H, W"}`` gives an input's whole shape, ``{"image": {0: "N"}}`` some axes. Without it, these are
    the axes that have no number in the model but that its nodes fix.

    Lists of sizes follow the sizes of their data; constants that repeat along an axis are expanded, and those that
    count along it or mask what is later are computed; a table is cut to length, and limits it. Each change is taken
    only if the model then requires less, which is proved. The model that is passed is not changed. With ``share``,
    sizes that must be equal get one name, as `ModelReport.suggest` says.

    With ``pad``, inputs whose sizes do not work, as where they must be multiples of 32, are padded at the end of the
    axis to the next size that works, with zeros, their ``"edge"`` or their rows backwards (``"reflect"``), and what
    belongs to the padding is cut off the outputs. Sizes that work are not padded.

    Raises `BindingError` for an axis that the model does not have or that two sizes claim, for names that may mean
    several axes of an image or that another axis has, and where there is nothing
    to pad or padding does not help; and the errors of `check`.

    >>> import onnx
    >>> text = '''<ir_version: 9, opset_import: ["" : 18]>
    ... heads (float[8, 196, 768] x) => (float[8, 196, 12, 64] y) <int64[4] wanted = {8, 196, 12, 64}> {
    ...     y = Reshape(x, wanted)
    ... }'''
    >>> freed = free(onnx.parser.parse_model(text), "N, L")
    >>> freed.verdict.value, freed.report.shapes["y"], freed.edits[0].new
    ('always', Shape('(N, L, 12, 64)'), '[0, 0, 12, 64]')
    """
    if pad is not None:
        check_mode(pad)
    source = _source(model)
    raw = type(source.raw)()
    raw.CopyFrom(source.raw)
    named = _named_axes(source, axes, runtime)
    old, sources = _old_sizes(named)
    _declare(raw, named)
    is_open = all(number(_inputs(source.raw)[axis.name][axis.axis]) is None for axis in named)
    renamed = type(raw).FromString(raw.SerializeToString()) if is_open else None
    plan, written = _rewritten(source, raw, old, sources, runtime)
    if plan.changed and renamed is not None and not _is_wider(source, renamed, written, runtime):
        plan, written = Plan(_opened(source, renamed, "spec"), old, sources), _redeclared(source, renamed, runtime)[0]
    final = type(written).FromString(written.SerializeToString())
    report = _checked(source, final, runtime)
    if share:
        report = _shared(source, final, report, runtime)
    padded = None
    if pad is not None:
        before, raw = final, type(final).FromString(final.SerializeToString())
        padding = pad_model(_opened(source, raw, runtime), old, report, pad)
        final, report = _redeclared(source, raw, runtime)
        padded = _Padded(_with_external_data(before, source), padding)
    if (plan.changed or pad) and not _holds(report.condition.formula, {s.name: n for s, n in old.items()}):
        before = _checked(source, source.raw, runtime)
        if before.verdict is Verdict.NEVER:
            raise ModelError(source.name, f"the model runs at no sizes: {before.findings[0].reason}", "mend that first")
        raise ModelError(source.name, "the rewritten model does not run at the old sizes", "please report it")
    return Freed(source, _with_external_data(final, source), report, plan, padded)


ModelReport._freed = staticmethod(free)


def _source(model: Any) -> _Source:
    name, raw = load_model(model)
    return _Source(name, Path(model) if isinstance(model, (str, PathLike)) else None, raw)


def _rewritten(
    source: _Source, raw: Any, old: Mapping[Symbol, int], sources: Mapping[Symbol, tuple[str, int]], runtime: Runtime
) -> tuple[Plan, Any]:
    """Walk through a model with free sizes, and return the changes and the changed model.

    If nodes of functions have to change, each call becomes the nodes of its function first.
    """
    model = _opened(source, raw, "spec")
    plan = Plan(model, old, sources)
    front_end = replace(FRONT_END, walk=partial(FreeingWalk, plan))
    checked = check_graph(front_end, model, read_question(FRONT_END, runtime=runtime))
    if plan.is_in_functions:
        from onnx.inliner import inline_local_functions

        inlined = inline_local_functions(raw)
        if len(inlined.functions) < len(raw.functions):
            return _rewritten(source, inlined, old, sources, runtime)
    plan.apply()
    _declare_outputs(model.raw, checked)
    return plan, model.raw


def _shared(source: _Source, raw: Any, report: ModelReport, runtime: Runtime) -> ModelReport:
    """Give the sizes of inputs that must be equal one name, and return the answer about that model."""
    dims = _inputs(raw)
    for name, axes in report.suggest().items():
        for axis, size in axes.items():
            dims[name][axis].dim_param = size
    return _redeclared(source, raw, runtime)[1]


def _is_wider(source: _Source, before: Any, after: Any, runtime: Runtime) -> bool:
    """Return whether a model provably runs wherever one did in which all sizes were open already, and elsewhere, too.

    The sizes at which such a model is read are arbitrary: a number in it that equals one was not baked in for that.
    """
    old, new = (_checked(source, raw, runtime) for raw in (before, after))
    with suppress(UndecidedError):
        return old.implies(new.condition) and not new.implies(old.condition)
    return False


def _redeclared(source: _Source, raw: Any, runtime: Runtime) -> tuple[Any, ModelReport]:
    """Write the sizes of outputs anew; return the model from its bytes, and the answer about it."""
    for output in raw.graph.output:
        for dim in output.type.tensor_type.shape.dim:
            dim.Clear()
    _declare_outputs(raw, _checked(source, raw, runtime)._checked)
    final = type(raw).FromString(raw.SerializeToString())
    return final, _checked(source, final, runtime)


def _checked(source: _Source, raw: Any, runtime: Runtime) -> ModelReport:
    question = read_question(FRONT_END, runtime=runtime)
    return ModelReport(check_graph(FRONT_END, _opened(source, raw, runtime), question))


def _opened(source: _Source, raw: Any, runtime: Runtime) -> OnnxModel:
    return OnnxModel(source.name, None, validated(source.name, raw, runtime, walkable_nodes), runtime)


# Which axes are free.


def read_axes(texts: Sequence[str]) -> Axes:
    """Return what the command line says about free axes: names, or the shapes of inputs.

    >>> read_axes(["N, H, W"]), read_axes(["image=N, 3, H, W", "mask=N, H"])
    ('N, H, W', {'image': 'N, 3, H, W', 'mask': 'N, H'})
    """
    pairs = [text.partition("=") for text in texts]
    if len(texts) == 1 and not pairs[0][1]:
        return texts[0]
    missing = [name for name, equals, _ in pairs if not equals]
    if missing:
        raise BindingError(f"{missing[0]!r} names no input", 'write "image=N, 3, H, W" for each input')
    return {name.strip(): sizes.strip() for name, _, sizes in pairs}


def _inputs(raw: Any) -> dict[str, Any]:
    constants = {t.name for t in raw.graph.initializer}
    kinds = {i.name: i.type.tensor_type for i in raw.graph.input if i.name not in constants}
    return {name: kind.shape.dim for name, kind in kinds.items() if kind.HasField("shape")}


def _named_axes(source: _Source, axes: Axes | None, runtime: Runtime) -> list[_Axis]:
    """Return the axes of all inputs that have sizes with names, new and old ones."""
    inputs = _inputs(source.raw)
    given = _given(inputs, axes) if axes is not None else {}
    report = None
    named = []
    if axes is None or any(number(dim) is None for dims in inputs.values() for dim in dims):
        report = _checked(source, source.raw, runtime)
    # The numbers of sizes with names are those of the smallest inputs with which the model runs.
    witness = {symbol(n): s for n, s in (report.witness() or {}).items()} if report is not None else {}
    for name, dims in inputs.items():
        present = report.inputs[name] if report is not None else None
        for axis, dim in enumerate(dims):
            size = given.get(name, {}).get(axis)
            own = number(dim) if present is None else present.dims[axis]
            if own is not None and (size is not None or not isinstance(own, int)):
                named.append(_Axis(name, axis, own if size is None else size, value_at(own, witness)))
    return named


def _given(inputs: Mapping[str, Any], axes: Axes) -> dict[str, dict[int, Dim]]:
    if isinstance(axes, str):
        names = [part.strip() for part in axes.split(",")]
        if len(set(names)) == len(names) and all(name.isidentifier() for name in names):
            return _by_names(inputs, names)
        axes = {name: axes for name, dims in inputs.items() if len(dims) == len(names)}
    if not isinstance(axes, Mapping):
        raise ShapeTypeError(axes, "names of axes", 'write "N", or {"x": "N, 3, H, W"}, or {"x": {0: "N"}}')
    given: dict[str, dict[int, Dim]] = {}
    for name, sizes in axes.items():
        if name not in inputs:
            raise BindingError(f"the model has no input {name!r}", f"its inputs are {', '.join(inputs)}")
        dims = inputs[name]
        pairs = (
            {a: shape(n).dims[0] for a, n in sizes.items()}
            if isinstance(sizes, Mapping)
            else dict(enumerate(shape(sizes).dims))
        )
        if not isinstance(sizes, Mapping) and len(pairs) != len(dims):
            raise BindingError(f"{name} has {len(dims)} axes, and {len(pairs)} sizes were passed")
        for axis in pairs:
            if not -len(dims) <= axis < len(dims):
                raise BindingError(f"{name} has no axis {axis}: it has {len(dims)} axes")
        given[name] = {axis % len(dims): size for axis, size in pairs.items()}
        for axis, size in list(given[name].items()):
            if isinstance(size, Unknown):
                del given[name][axis]  # it stays as it is
            elif isinstance(size, int):
                if number(dims[axis]) not in (None, size):
                    raise BindingError(f"axis {axis} of {name} is {number(dims[axis])}, not {size}")
                del given[name][axis]
    return given


def _by_names(inputs: Mapping[str, Any], names: Sequence[str]) -> dict[str, dict[int, Dim]]:
    """Return the axes that names in order mean: the first of each input, then the last of images or the next ones."""
    most = max((len(dims) for dims in inputs.values()), default=0)
    if len(names) > most:
        raise BindingError(f"{len(names)} axes are named, and no input has more than {most}")
    numbers: dict[str, tuple[str, int | None]] = {}
    given: dict[str, dict[int, Dim]] = {}
    for name, dims in sorted(inputs.items(), key=lambda pair: -len(pair[1])):
        for place, size in zip(_places(name, dims, names), names, strict=False):
            if place < len(dims):
                first, known = numbers.setdefault(size, (name, number(dims[place])))
                if known != number(dims[place]):
                    raise BindingError(
                        f"{size} is {known} on {first}, and axis {place} of {name} is {number(dims[place])}",
                        f'name the axes of each input: {{"{first}": ..., "{name}": ...}}',
                    )
                given.setdefault(name, {})[place] = shape(size).dims[0]
    _refuse_taken_names(inputs, names, given)
    return given


def _refuse_taken_names(
    inputs: Mapping[str, Any], names: Sequence[str], given: Mapping[str, Mapping[int, Dim]]
) -> None:
    """Refuse a name that another axis of the model has: it would make both sizes equal."""
    for name, dims in inputs.items():
        for axis, dim in enumerate(dims):
            if dim.dim_param in names and given.get(name, {}).get(axis) != symbol(dim.dim_param):
                raise BindingError(
                    f"{dim.dim_param} is the name of axis {axis} of {name} already, so both sizes would be equal",
                    f"use another name, or {_whole_shape(name, dims)}",
                )


def _places(name: str, dims: Sequence[Any], names: Sequence[str]) -> list[int]:
    """Return the axes of one input that names in order mean; images may have their channels last.

    Names that may mean several axes of an image are refused.
    """
    rank, count = len(dims), len(names)
    if rank not in _SPATIAL_RANKS:
        return list(range(count))
    if names[0].lower() in _SIDES or count == 2:
        raise BindingError(
            f"{', '.join(names)} may mean several of the {rank} axes of {name}", _whole_shape(name, dims)
        )
    last, second = number(dims[-1]) or 0, number(dims[1]) or 0
    first = 1 if 0 < last <= 4 < second else rank - count + 1
    return [0, *range(first, first + count - 1)]


def _whole_shape(name: str, dims: Sequence[Any]) -> str:
    """Return the advice to write an input's shape, with its numbers and names as they are."""
    own = ", ".join(str(number(dim)) if number(dim) is not None else dim.dim_param or "?" for dim in dims)
    return f'write its shape with a name for each size to free: {{"{name}": "{own}"}}, or --free "{name}={own}"'


def _old_sizes(named: Sequence[_Axis]) -> tuple[dict[Symbol, int], dict[Symbol, tuple[str, int]]]:
    """Return the number of each size in the model, and an axis that it is; raise `BindingError` for a contradiction."""
    old: dict[Symbol, int] = {}
    sources: dict[Symbol, tuple[str, int]] = {}
    for name, axis, size, size_number in named:
        if isinstance(size, Symbol) and size_number is not None:
            if old.setdefault(size, size_number) != size_number:
                raise BindingError(
                    f"{size} is {old[size]} on an axis before, and axis {axis} of {name} is {size_number}",
                    "give them two names",
                )
            sources.setdefault(size, (name, axis))
    for name, axis, size, size_number in named:
        missing = [s.name for s in symbols_of((size,)) if s not in old]
        if missing:
            raise BindingError(f"no axis of an input is {missing[0]} alone, so it cannot be read", "name one so")
        if size_number is not None and value_at(size, old) != size_number:
            raise BindingError(f"{size} is {value_at(size, old)}, but axis {axis} of {name} is {size_number}")
    if not old:
        raise BindingError("no axis is free", 'name one: free(model, "N")')
    return old, sources


# What the model declares.


def _declare(raw: Any, named: Sequence[_Axis]) -> None:
    """Write the sizes of inputs, and forget all other sizes that the model declares."""
    dims = _inputs(raw)
    for name, axis, size, _ in named:
        dims[name][axis].Clear()
        dims[name][axis].dim_param = _written(size)
    for graph in graphs_of(raw.graph):
        del graph.value_info[:]
        if graph is not raw.graph:
            for declared in (*graph.input, *graph.output):
                for dim in declared.type.tensor_type.shape.dim:
                    dim.Clear()
    for function in raw.functions:
        del function.value_info[:]
    for output in raw.graph.output:
        for dim in output.type.tensor_type.shape.dim:
            dim.Clear()


def _written(size: Dim) -> str:
    return size.name if isinstance(size, Symbol) else str(size)


def _declare_outputs(raw: Any, checked: CheckedModel) -> None:
    """Write the sizes of outputs that depend on sizes only."""
    data = checked.asker.origins
    for output in raw.graph.output:
        value = checked.walk.top.find(output.name)
        declared = output.type.tensor_type.shape.dim
        if value is None or value.shape is None or len(value.shape) != len(declared):
            continue
        for dim, size in zip(declared, value.shape, strict=True):
            if isinstance(size, int):
                dim.dim_value = size
            elif data.keys().isdisjoint(symbols_of((size,))):
                dim.dim_param = _written(size)


def _with_external_data(model: Any, source: _Source) -> Any:
    """Return a model whose tensors in other files are there again: reading them into it is for the check only."""
    if source.path is None:
        return model
    tensors = {t.name: t for t in model.graph.initializer}
    for tensor in read_file(str(source.path)).graph.initializer:
        if tensor.data_location == tensor.EXTERNAL and tensor.name in tensors:
            tensors[tensor.name].CopyFrom(tensor)
    return model
