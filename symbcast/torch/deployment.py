"""``symbcast.torch.deploy``: one program for a range of sizes, its bounds, and an input check for graph and guards.

The sizes are those at which the graph runs, inside torch's guards and the caller's ranges. The module is exported again
with what `torch.export` can say of them; the input check says all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from inspect import signature
from typing import TYPE_CHECKING, Any

from symbcast.answers.contracts.question import RangeLike, read_range
from symbcast.answers.public.conditions import Condition
from symbcast.core.advice import Guessable, with_advice
from symbcast.core.algebra.formulas import AnyOf, Comparison, Formula, at_most, equal
from symbcast.core.algebra.symbols import symbol
from symbcast.core.algebra.terms import Symbol
from symbcast.core.characters import sizes_text
from symbcast.core.solver.evaluation import formula_source, holds_at, symbols_in
from symbcast.errors import BindingError, TargetError
from symbcast.graphs.check import check_graph, read_question
from symbcast.graphs.report.model_bounds import ModelBounds
from symbcast.torch.export import by_argument, evaluated_shapes, export_with, gathered_name, plain_module
from symbcast.torch.front_end import FRONT_END, check
from symbcast.torch.guards.guards import Guard, Guards
from symbcast.torch.guards.ranges import with_axes
from symbcast.torch.guards.suggestions import Suggestion
from symbcast.torch.inputs import ProgramInput, shown_source
from symbcast.torch.library import load_torch
from symbcast.torch.reader import read
from symbcast.torch.report import TorchReport

if TYPE_CHECKING:
    import torch


class Deployment(Guessable):
    """A module exported for a set of sizes.

    Attributes:
        report: The report on the exported program, under the deployment's condition.
        condition: The sizes that it takes: where the graph runs, within guards and ranges.
        suggestion: The ``dynamic_shapes`` that it was exported with, as text.
        ranges: The least and the greatest value of each size; None without an end.
    """

    def __init__(self, report: TorchReport, guards: Guards, suggestion: Suggestion) -> None:
        self.report = report
        self.suggestion = suggestion
        self._guards = guards

    @property
    def program(self) -> torch.export.ExportedProgram:
        """The exported program."""
        return self.report.program  # type: ignore[no-any-return]

    @cached_property
    def condition(self) -> Condition:
        """The sizes that it takes: where the graph runs, within guards and ranges."""
        return self._guards.condition

    @cached_property
    def ranges(self) -> dict[str, tuple[int, int | None]]:
        """The least and the greatest value of each size under the condition; None without an end."""
        found = {str(size): self.report.bounds(str(size)) for size in self._first}
        return {name: (b.least or self.report.min_size, b.greatest) for name, b in found.items()}

    def bounds(self) -> ModelBounds:
        """Return the least and greatest shape and bytes of every value, at the sizes of the condition."""
        return self.report.bounds()

    def accepts(self, *args: Any, **kwargs: Any) -> bool:
        """Return whether the program takes arguments of these shapes."""
        inputs, names = self.report._model.declared.inputs, self.report._model.declared.arguments.names
        # Keywords are taken in the order of the export.
        ordered = {key: kwargs[key] for key in (*names, *kwargs) if key in kwargs}
        leaves = load_torch("torch.utils._pytree").tree_leaves((args, ordered))
        space: dict[str, Any] = {}
        exec(self.to_python(), space)
        shapes = [
            tuple(getattr(leaf, "shape", (leaf,))) for leaf, i in zip(leaves, inputs, strict=False) if _has_sizes(i)
        ]
        return len(leaves) == len(inputs) and bool(space["accepts"](shapes))

    def to_python(self, name: str = "accepts") -> str:
        """Return the source of a Python function of the inputs' shapes, in order; an open integer ``n`` is ``(n,)``."""
        checks = [f"    if {test}:\n        return False" for test in self._tests("len(shapes{})".format)]
        head = [f"def {name}(shapes):", f'    """Return whether inputs of these shapes are taken: {self._taken}."""']
        guard = self.condition.to_python(f"{name}_sizes")
        return "\n".join([guard, "", "", *head, *checks, f"    return {name}_sizes({self._sizes})", ""])

    def to_cpp(self, name: str = "accepts") -> str:
        """Return the source of a C++17 function of the inputs' shapes, in order; an open integer ``n`` is ``{n}``."""
        checks = [f"    if ({test}) return false;" for test in self._tests("shapes{}.size()".format)]
        head = [
            f"// Whether inputs of these shapes are taken: {self._taken}.",
            f"inline bool {name}(const std::vector<std::vector<std::int64_t>>& shapes) {{",
        ]
        guard = self.condition.to_cpp(f"{name}_sizes")
        call = f"    return {name}_sizes({self._sizes});"
        return "\n".join(["#include <vector>", guard, "", *head, *checks, call, "}", ""])

    @property
    def _inputs(self) -> list[ProgramInput]:
        return [i for i in self.report._model.declared.inputs if _has_sizes(i)]

    @property
    def _taken(self) -> str:
        return ", ".join(shown_source(i.source) for i in self._inputs)

    @cached_property
    def _first(self) -> dict[Symbol, tuple[int, int]]:
        """The input and the axis where each size is first."""
        places: dict[Symbol, tuple[int, int]] = {}
        for n, i in enumerate(self._inputs):
            for axis in i.axes:
                if isinstance(axis.size, Symbol):
                    places.setdefault(axis.size, (n, axis.axis or 0))
        return places

    @property
    def _sizes(self) -> str:
        """The arguments of the guard."""
        return ", ".join("shapes[{}][{}]".format(*self._first[size]) for size in self.condition.guard().names)

    def _tests(self, length: Callable[[str], str]) -> Iterator[str]:
        """Yield what refuses shapes: numbers of inputs and axes, then fixed sizes and sizes that differ."""
        yield f"{length('')} != {len(self._inputs)}"
        yield from (f"{length(f'[{n}]')} != {len(i.axes)}" for n, i in enumerate(self._inputs))
        for n, i in enumerate(self._inputs):
            for axis in i.axes:
                place = (n, axis.axis or 0)
                first = self._first[axis.size] if isinstance(axis.size, Symbol) else place
                other = f"shapes[{first[0]}][{first[1]}]" if isinstance(axis.size, Symbol) else axis.size
                if other == axis.size or first != place:
                    yield f"shapes[{n}][{place[1]}] != {other}"

    def to(self, target: str) -> str:
        """Return the deployment as text for a runtime.

        ``torch`` is given ``dynamic_shapes``; ``aoti`` also the check in C++; ``executorch`` the check in Python and an
        upper bound of each size; ``torch_tensorrt`` a profile, every size of which is taken; ``vllm`` marks of unbacked
        axes, and ``torch._check`` lines for ``forward``. Raises `TargetError` for what a target cannot say.
        """
        if target not in _TARGETS:
            raise TargetError(target, "it is not a target of a deployment", f"write one of {', '.join(_TARGETS)}")
        return _TARGETS[target](self)

    def explain(self) -> str:
        """Return the sizes that it takes, how it was exported, and what is not proved."""
        lines = [f"takes    {self.condition}", *(f"         {line}" for line in str(self.suggestion).splitlines()[2:])]
        return "\n".join([*lines, *(f"open     {part}" for part in self.report.unproven)])

    def __str__(self) -> str:
        return self.explain()


def _has_sizes(program_input: ProgramInput) -> bool:
    return program_input.is_integer or hasattr(program_input.value, "shape")


def _upper(deployment: Deployment, target: str) -> dict[str, int]:
    """Return the greatest value of each size; raises `TargetError` for a size without one."""
    endless = [name for name, (_, high) in deployment.ranges.items() if high is None]
    if endless:
        hint = f"give ranges={{{endless[0]!r}: '2..64'}}"
        raise TargetError(target, f"it wants an upper bound of each size, and {endless[0]} has none", hint)
    return {name: high for name, (_, high) in deployment.ranges.items() if high is not None}


def _executorch(deployment: Deployment) -> str:
    _upper(deployment, "executorch")
    values = deployment.bounds().values
    shapes = {
        i.name: tuple(axis.greatest for axis in values[i.name].axes) for i in deployment._inputs if i.name in values
    }
    lines = [
        f"upper_bounds = {shapes!r}",
        "",
        "# Before each call: if not accepts([tuple(x.shape) for x in inputs]): ...",
    ]
    return "\n".join([str(deployment.suggestion), *lines, deployment.to_python()])


def _aoti(deployment: Deployment) -> str:
    commented = "\n".join(f"// {line}".rstrip() for line in str(deployment.suggestion).splitlines())
    return f"{commented}\n{deployment.to_cpp()}"


def _tensorrt(deployment: Deployment) -> str:
    high, ranges = _upper(deployment, "torch_tensorrt"), deployment.ranges
    contract = deployment.report.contract({name: range(ranges[name][0], high[name] + 1) for name in high})
    if not contract.boxes:
        raise TargetError("torch_tensorrt", "no range of sizes is taken as a whole", "give narrower ranges")
    return contract.to("torch_tensorrt")


def _vllm(deployment: Deployment) -> str:
    """Return marks of unbacked axes, in groups of equal sizes, and the checks of all other clauses."""
    clauses, ranges = deployment._guards.env.clauses, deployment.ranges
    groups: dict[str, str] = {}
    for clause in clauses:
        match clause:
            case Comparison("==", Symbol() as one, Symbol() as other):
                first = groups.get(str(one), groups.get(str(other), str(one)))
                groups |= {name: first for name, group in groups.items() if group in (str(one), str(other))}
                groups |= {str(one): first, str(other): first}
    marks: list[str] = []
    for i in deployment._inputs:
        for axis in i.axes:
            if not isinstance(axis.size, Symbol) or axis.axis is None:
                continue
            low, high = ranges.get(str(axis.size), (2, None))
            ends = f", min={low}" + ("" if high is None else f", max={high}")
            shape_id = groups.get(str(axis.size), str(axis.size))
            marks.append(f"mark_unbacked({shown_source(i.source)}, {axis.axis}, shape_id={shape_id!r}{ends})")
    marked = {axis.size for i in deployment._inputs for axis in i.axes if axis.axis is not None}
    checks = [c for c in clauses if not (_is_said(c) and marked.issuperset(symbols_in(c)))]
    texts = deployment.report._model.declared.texts
    refused = next((c for c in checks if isinstance(c, AnyOf) or not set(symbols_in(c)) <= texts.keys()), None)
    if refused is not None:
        raise TargetError("vllm", f"torch cannot check alternatives of unbacked sizes: {refused}", "narrow the ranges")
    lines = [f"# torch._check({formula_source(c, texts)})" for c in checks]
    head = ["import torch", "from torch._dynamo.decorators import mark_unbacked", ""]
    return "\n".join([*head, *marks, *(["", "# at the start of forward:"] if lines else []), *lines])


def _is_said(clause: Formula) -> bool:
    """Return whether marks say a clause: a range of one size, or two equal sizes."""
    match clause:
        case Comparison("==", Symbol(), Symbol()):
            return True
        case Comparison("<=" | "<", left, right):
            return {type(left), type(right)} == {int, Symbol}
    return False


_TARGETS: dict[str, Callable[[Deployment], str]] = {
    "torch": lambda deployment: str(deployment.suggestion),
    "aoti": _aoti,
    "executorch": _executorch,
    "torch_tensorrt": _tensorrt,
    "vllm": _vllm,
}


@with_advice
def deploy(  # noqa: PLR0913 - each is a fact about the export
    module: torch.nn.Module,
    args: Sequence[Any] | None = None,
    kwargs: Mapping[str, Any] | None = None,
    *,
    ranges: Mapping[str, RangeLike] | None = None,
    dynamic_shapes: Any = None,
    examples: Sequence[Sequence[Any]] = (),
    min_size: int = 2,
) -> Deployment:
    """Export a module for all sizes within ranges at which its graph runs and that torch's guards accept.

    ``ranges`` are by the names of sizes: of the `Dim` objects in ``dynamic_shapes``, or ``<input>_dim_<axis>``. Without
    ``dynamic_shapes``, all axes of tensors are open; with ``examples``, further positional arguments, only those that
    differ between them, from the least to the greatest size that occurs. Torch compiles open axes for sizes of 2 or
    more; ``min_size=1`` also takes sizes of 1 where the graph and the guards do.

    Raises `BindingError` for a range of a size that the program does not have or that torch fixed, and for an example
    outside the ranges; `ModelError` if torch does not export the module.
    """
    seen: dict[str, range] = {}
    if examples or dynamic_shapes is None:
        args, opened, seen = _seen(module, [args or (), *examples], kwargs or {})
        dynamic_shapes = opened if dynamic_shapes is None else dynamic_shapes
    report = check(module, args, kwargs, dynamic_shapes=dynamic_shapes, min_size=min_size)
    axes = [a for a in report._model.declared.axes if a.is_dynamic and a.source in seen]
    ranges = {**{str(a.size): seen[a.source] for a in axes}, **(ranges or {})}
    guards = _joined(report, ranges.items())
    _check_example(report, guards)
    suggestion, module = report._accepted(guards), report._module
    args, kwargs = report.program.example_inputs
    shapes = evaluated_shapes(suggestion)
    program = export_with(module, args, kwargs, shapes)
    # Equal axes have one Dim now, and so one name.
    dims: dict[str, Any] = {}
    with_axes(shapes, lambda place, spec: dims.setdefault(place, spec) if _is_root(spec) else spec)
    named = with_axes(by_argument(module, args, kwargs, dynamic_shapes), dims.get)
    names = {str(a.size): dims[a.source].__name__ for a in report._model.declared.axes if a.source in dims}
    model = read(program, dynamic_shapes=named, called=type(module).__name__, gathered=gathered_name(module))
    plain = TorchReport(check_graph(FRONT_END, model, read_question(FRONT_END, (), min_size)), module)
    # A size that torch fixed meanwhile has the example's value, which is in its range.
    still_open = {str(a.size) for a in model.declared.axes if a.is_dynamic}
    renamed = ((names.get(name, name), value) for name, value in ranges.items())
    guards = _joined(plain, [(name, value) for name, value in renamed if name in still_open])
    question = read_question(FRONT_END, [guards.condition], min_size)
    return Deployment(TorchReport(check_graph(FRONT_END, model, question), module), guards, suggestion)


def _is_root(spec: Any) -> bool:
    return hasattr(spec, "__name__") and not hasattr(spec, "root")


def _check_example(report: TorchReport, guards: Guards) -> None:
    """Raise `BindingError` if the example is outside the condition, with the first clause that it does not satisfy."""
    sizes = {size: n for size, n in report._example.items() if isinstance(size, Symbol)}
    for clause in guards.env.clauses:
        if not holds_at(clause, sizes):
            at = sizes_text({str(s): sizes[s] for s in symbols_in(clause)})
            raise BindingError(f"the example has {at}", f"the program is for {Condition(clause)}: give such an example")


def _seen(
    module: Any, sets: Sequence[Sequence[Any]], kwargs: Mapping[str, Any]
) -> tuple[Sequence[Any], Any, dict[str, range]]:
    """Return the arguments to export with, dynamic shapes that open the axes that differ, and the sizes of these.

    One set of arguments opens all axes. Torch fixes sizes of 0 and 1, so the arguments are those with the fewest of
    these on axes that differ.
    """
    pytree, auto = load_torch("torch.utils._pytree"), load_torch("torch.export").Dim.AUTO
    bound = [dict(signature(plain_module(module).forward).bind(*args, **kwargs).arguments) for args in sets]
    leaves = [pytree.tree_leaves_with_path(arguments) for arguments in bound]
    paths = [[path for path, _ in found] for found in leaves]
    shapes = [[tuple(getattr(value, "shape", ())) for _, value in found] for found in leaves]
    if any(p != paths[0] or [*map(len, s)] != [*map(len, shapes[0])] for p, s in zip(paths, shapes, strict=True)):
        raise BindingError("the examples differ in structure", "each must have the same arguments and numbers of axes")
    differing = [
        [n for n, sizes in enumerate(zip(*of_leaf, strict=True)) if len({*sizes}) > 1 or len(sets) == 1]
        for of_leaf in zip(*shapes, strict=True)
    ]
    opened = pytree.tree_unflatten(
        [dict.fromkeys(axes, auto) or None for axes in differing], pytree.tree_structure(bound[0])
    )
    if len(sets) == 1:
        return sets[0], opened, {}
    seen = {}
    for place, (path, axes) in enumerate(zip(paths[0], differing, strict=True)):
        for n in axes:
            sizes = [of_set[place][n] for of_set in shapes]
            seen[f"L{pytree.keystr(path)}.size()[{n}]"] = range(max(2, min(sizes)), max(sizes) + 1)
    small = [sum(s[n] < 2 for s, axes in zip(of_set, differing, strict=True) for n in axes) for of_set in shapes]
    return sets[small.index(min(small))], opened, seen


def _joined(report: TorchReport, ranges: Iterable[tuple[str, RangeLike]]) -> Guards:
    """Return the guards of a program with the graph's condition and the caller's ranges."""
    sizes = {a.size for a in report._model.declared.axes if isinstance(a.size, Symbol)}
    graph = (Guard(str(c), c) for c in report._env.clauses if set(symbols_in(c)) <= sizes)
    # What a guard that cannot be read accepts is known of the example alone.
    known = {str(size): n for size, n in report._example.items()}
    unread = (Guard(f"{name} == {known[name]}", equal(symbol(name), known[name])) for name in report.guards.open)
    return report.guards.joined([*graph, *unread, *_wanted(report, ranges)])


def _wanted(report: TorchReport, ranges: Iterable[tuple[str, RangeLike]]) -> Iterator[Guard]:
    """Yield the caller's ranges as requirements."""
    names = {str(a.size) for a in report._model.declared.axes if a.is_dynamic}
    for name, value in ranges:
        if name not in names:
            fixed = next((str(s) for s in report.guards.specialised if s.axis == name), "")
            raise BindingError(f"{name} is no open size of the program", fixed or f"its open sizes are {sorted(names)}")
        sizes, size = read_range(value), symbol(name)
        yield Guard(f"{name} >= {sizes[0]}", at_most(sizes[0], size))
        yield Guard(f"{name} <= {sizes[-1]}", at_most(size, sizes[-1]))
        if sizes.step > 1:
            text = f"{name} % {sizes.step} == {sizes[0] % sizes.step}"
            yield Guard(text, Condition(text).formula)
