"""Export of a module: first with the given dynamic shapes, then with ``Dim.AUTO`` if torch refuses them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from inspect import Parameter, signature
from typing import Any

from symbcast.core.characters import shorten_end
from symbcast.errors import BindingError, ModelError
from symbcast.torch.errors.refusal import Refusal, read_error
from symbcast.torch.guards.suggestions import Suggestion, with_range
from symbcast.torch.library import load_torch, quiet
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
        return _export(module, args, kwargs, dynamic_shapes), None
    except Exception as error:
        # Catch any error: torch may also crash while it formats its message about dimensions.
        opened = with_auto_dims(dynamic_shapes)
        if opened == dynamic_shapes:
            raise _failed(module, error) from error
        # Torch may refuse a range that the code does not satisfy, and take the axis without it.
        for shapes in (opened, without_ranges(opened)):
            with suppress(Exception):
                return _export(module, args, kwargs, shapes), read_error(error, min_size)
        raise _failed(module, error) from error


_WITHOUT = "symbcast.torch.trace(module, ...) follows its code without an export; torch.export.draft_export says more"


def _failed(module: Any, error: Exception) -> ModelError:
    text = " ".join(str(error).split())[:400]
    return ModelError(type(module).__name__, f"torch does not export it: {text}", _WITHOUT)


def _export(module: Any, args: Sequence[Any], kwargs: Mapping[str, Any] | None, dynamic_shapes: Any) -> Any:
    with quiet("torch"):
        export = load_torch("torch.export").export
        return export(module, tuple(args), dict(kwargs or {}), dynamic_shapes=dynamic_shapes)


def with_auto_dims(dynamic_shapes: Any) -> Any:
    """Return dynamic shapes with `Dim.AUTO` instead of each `Dim`; values other than a `Dim` are kept."""
    dim = load_torch("torch.export").Dim
    if isinstance(dynamic_shapes, Mapping):
        return {key: with_auto_dims(value) for key, value in dynamic_shapes.items()}
    if isinstance(dynamic_shapes, (list, tuple)):
        opened = map(with_auto_dims, dynamic_shapes)
        make = getattr(type(dynamic_shapes), "_make", type(dynamic_shapes))  # a named tuple takes several arguments
        return make(opened)
    return with_range(dim, dynamic_shapes) if hasattr(dynamic_shapes, "__name__") else dynamic_shapes


def without_ranges(dynamic_shapes: Any) -> Any:
    """Return dynamic shapes in which axes that are left to torch have no range."""
    dim = load_torch("torch.export").Dim
    kind = type(dim.AUTO)

    def plain(value: Any) -> Any:
        # Dim.AUTO with a range is another object of the same type as Dim.AUTO.
        return dim.AUTO if isinstance(value, kind) and getattr(value, "type", None) == dim.AUTO.type else value

    return load_torch("torch.utils._pytree").tree_map(plain, dynamic_shapes, is_leaf=lambda v: isinstance(v, kind))


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
    try:
        _export(module, *example, evaluated_shapes(suggestion))
    except Exception as error:
        return read_error(error)
    return None


def evaluated_shapes(suggestion: Suggestion) -> Any:
    """Evaluate the text of a suggestion to dynamic shapes."""
    space = {"Dim": load_torch("torch.export").Dim, **{kind.__name__: kind for kind in suggestion.classes}}
    exec("\n".join(suggestion.lines), space)
    return eval(suggestion.shapes, space)


def refusal_of_text(module: Any, program: Any, text: str) -> str:
    """Return what torch says first if it does not export a module with the ``dynamic_shapes`` that a text defines."""
    space: dict[str, Any] = {}
    exec(text, space)
    args, kwargs = program.example_inputs
    try:
        _export(module, args, kwargs, space["dynamic_shapes"])
    except Exception as error:
        lines = [line.strip(" -") for line in str(error).splitlines() if line.strip()]
        said = next((line for line in lines if "Constraints violated" not in line), "")
        return f"torch refuses it: {shorten_end(said, 200)}"
    return ""
