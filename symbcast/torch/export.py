"""Export of a module: first with the given dynamic shapes, then with ``Dim.AUTO`` if torch refuses them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from inspect import Parameter, signature
from types import SimpleNamespace
from typing import Any

from symbcast.answers.public.conditions import Condition
from symbcast.core.algebra.arithmetic import add, multiply
from symbcast.core.algebra.formulas import Formula, all_of, at_most, equal
from symbcast.core.algebra.symbols import symbol
from symbcast.core.characters import shorten_end
from symbcast.errors import BindingError, ModelError
from symbcast.torch.errors.refusal import Refusal, read_error
from symbcast.torch.guards.guards import guards_of
from symbcast.torch.guards.ranges import range_of, with_axes, with_range
from symbcast.torch.guards.suggestions import Suggestion
from symbcast.torch.inputs import read_program_inputs
from symbcast.torch.library import in_child, load_torch, quiet
from symbcast.torch.reader import SCRIPT_MODULE


def plain_module(module: Any) -> Any:
    """Return a module without the wrapper of ``torch.compile``; raises `ModelError` for a TorchScript module."""
    inner = getattr(module, "_orig_mod", module)
    if isinstance(inner, load_torch("torch.jit").ScriptModule):
        raise ModelError(type(inner).__name__, SCRIPT_MODULE.problem, SCRIPT_MODULE.hint)
    return inner


def _missing(module: Any, args: Sequence[Any], kwargs: Mapping[str, Any] | None) -> str:
    """Return the name of a parameter of ``forward`` that is not given; empty if there is none."""
    taken = signature(module.forward)
    bound = taken.bind_partial(*args, **(kwargs or {})).arguments
    variadic = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
    needed = (p for p in taken.parameters.values() if p.default is p.empty and p.kind not in variadic)
    return next((p.name for p in needed if p.name not in bound), "")


def exported(
    module: Any, args: Sequence[Any], kwargs: Mapping[str, Any] | None, dynamic_shapes: Any, min_size: int
) -> tuple[Any, Refusal | None]:
    """Return the exported module, and torch's refusal of the given dimensions if it refused them.

    Raises `ModelError` with torch's first message if both exports fail, and if arguments are missing.
    """
    missing = ""
    with suppress(TypeError, ValueError):  # torch reports arguments that do not fit
        missing = _missing(module, args, kwargs)
    if missing:
        problem = f"the export needs the argument {missing}"
        raise ModelError(type(module).__name__, problem, "give args=(...) and kwargs={...}: tensors of typical sizes")
    try:
        return export_with(module, args, kwargs, dynamic_shapes), None
    except Exception as error:
        # Catch any error: torch may also crash while it formats its message about dimensions.
        opened = None
        if with_auto_dims(dynamic_shapes, None) != dynamic_shapes:
            opened = _opened(module, args, kwargs, dynamic_shapes)
        if opened is None:
            raise _failed(module, error) from error
        return opened, read_error(error, min_size)


def _opened(module: Any, args: Sequence[Any], kwargs: Mapping[str, Any] | None, dynamic_shapes: Any) -> Any:
    """Return the module exported with `Dim.AUTO` and the ranges that torch keeps; None if it does not export it."""
    without: Collection[str] | None = ()
    while True:
        try:
            return export_with(module, args, kwargs, with_auto_dims(dynamic_shapes, without))
        except Exception as error:
            if without is None:
                return None
            # Torch names all axes whose range the code does not satisfy; of other errors, the ranges may be the cause.
            named = {f"L{m['path']}.size(){m['axis']}" for m in _OF_RANGE.finditer(str(error))}
            without = None if named <= {*without} else {*without, *named}


_OF_RANGE = re.compile(r"conflicting with the inferred[^\n]* inputs(?P<path>[^\n]*?)\.shape(?P<axis>\[\d+\])")


_WITHOUT = "symbcast.torch.trace(module, ...) follows its code without an export; torch.export.draft_export says more"


def _failed(module: Any, error: Exception) -> ModelError:
    text = " ".join(str(error).split())[:400]
    return ModelError(type(module).__name__, f"torch does not export it: {text}", _WITHOUT)


def export_with(module: Any, args: Sequence[Any], kwargs: Mapping[str, Any] | None, dynamic_shapes: Any) -> Any:
    """Return an exported module, without torch's logs."""
    with quiet("torch"):
        export = load_torch("torch.export").export
        return export(module, tuple(args), dict(kwargs or {}), dynamic_shapes=dynamic_shapes)


def with_auto_dims(dynamic_shapes: Any, without: Collection[str] | None = ()) -> Any:
    """Return dynamic shapes with `Dim.AUTO` instead of each `Dim` and ``Dim.DYNAMIC``, with their ranges.

    Axes in ``without``, by torch's names, lose their range; None stands for all axes. Other values are kept.
    """
    dim = load_torch("torch.export").Dim

    def opened(place: str, spec: Any) -> Any:
        if not hasattr(spec, "__name__") and getattr(spec, "type", None) not in (dim.AUTO.type, dim.DYNAMIC.type):
            return spec
        return dim.AUTO if without is None or place in without else with_range(dim, spec)

    return with_axes(dynamic_shapes, opened)


def by_argument(module: Any, args: Sequence[Any], kwargs: Mapping[str, Any] | None, dynamic_shapes: Any) -> Any:
    """Return dynamic shapes keyed by argument name; torch also takes them by position.

    Raises `BindingError` for an axis that an argument does not have, which torch silently ignores.
    """
    if not isinstance(dynamic_shapes, (Mapping, list, tuple)):
        return dynamic_shapes
    try:
        arguments = signature(module.forward).bind(*args, **(kwargs or {})).arguments
    except TypeError:
        return dynamic_shapes  # torch reports what is missing
    is_by_name = isinstance(dynamic_shapes, Mapping)
    shapes = dict(dynamic_shapes) if is_by_name else dict(zip(arguments, dynamic_shapes, strict=False))
    for name, axes in shapes.items():
        rank = getattr(arguments.get(name), "ndim", None)
        wrong = [] if rank is None or not isinstance(axes, Mapping) else [a for a in axes if a not in range(rank)]
        if wrong:
            raise BindingError(f"{name} has no axis {wrong[0]!r}", f"its {rank} axes are counted from 0")
    return shapes if is_by_name or len(shapes) == len(dynamic_shapes) else dynamic_shapes


def gathered_name(module: Any) -> str:
    """Return the name of the parameter ``*args`` of a module's ``forward``; empty if it has none."""
    parameters = signature(module.forward).parameters.values()
    return next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), "")


def refusal_of(module: Any, example: tuple[Any, Any], suggestion: Suggestion) -> Refusal | None:
    """Return torch's error if it refuses the suggested dynamic shapes; None if it exports the module with them."""
    said = in_child(lambda: _error_of_export(module, example, evaluated_shapes(suggestion), lambda program: ""))
    return read_error(said) if said else None


def _error_of_export(module: Any, example: tuple[Any, Any], shapes: Any, check: Callable[[Any], str]) -> str:
    """Return torch's error if it does not export a module with some dynamic shapes, else what ``check`` finds."""
    try:
        program = export_with(module, *example, shapes)
    except Exception as error:
        return str(error) or type(error).__name__
    return check(program)


def evaluated_shapes(suggestion: Suggestion) -> Any:
    """Evaluate the text of a suggestion to dynamic shapes."""
    space = {"Dim": load_torch("torch.export").Dim, **{kind.__name__: kind for kind in suggestion.classes}}
    exec("\n".join(suggestion.lines), space)
    return eval(suggestion.shapes, space)


def refusal_of_text(module: Any, program: Any, text: str, names: Mapping[str, str]) -> str:
    """Return what torch says first if it does not export a module for all sizes that a text defines.

    ``names`` has the names of sizes by torch's names of their axes.
    """

    def ask() -> str:
        space: dict[str, Any] = {}
        exec(text, space)
        shapes = space["dynamic_shapes"]
        return _error_of_export(
            module, program.example_inputs, shapes, lambda program: _narrower(program, shapes, names)
        )

    said = in_child(ask)
    if said.startswith(_TAKES):
        return said
    lines = [line.strip(" -") for line in said.splitlines() if line.strip() and "Constraints violated" not in line]
    return f"torch refuses it: {shorten_end(lines[0] if lines else '', 200)}" if said else ""


_TAKES = "torch exports it, and the program takes only sizes at which"


def _narrower(program: Any, shapes: Any, names: Mapping[str, str]) -> str:
    """Return the first clause of a program's guards that its own dynamic shapes do not imply; empty if none."""
    specs: dict[str, Any] = {}
    with_axes(shapes, specs.setdefault)
    named = with_axes(shapes, lambda place, spec: SimpleNamespace(__name__=names.get(place, "")))
    declared = read_program_inputs(program, named)
    wanted: list[Formula] = []
    for axis in declared.axes:
        spec: Any = specs.get(axis.source)
        if hasattr(spec, "__name__"):
            root, fn = getattr(spec, "root", spec), getattr(spec, "fn", int)
            (low, high), size = range_of(root), symbol(f"root {root.__name__}")
            written = add(multiply(fn(1) - fn(0), size), fn(0))
            ends = [at_most(low or 0, size), *([] if high is None else [at_most(size, high)])]
            wanted += [equal(axis.size, written), *ends]
    inside = Condition(all_of(wanted))
    clauses = guards_of(program, declared, (), 1).clauses
    lost = next((c for c in clauses if not inside.implies(Condition(c.formula))), None)
    return "" if lost is None else f"{_TAKES} {lost.text}"
