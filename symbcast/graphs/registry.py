"""Register front ends by file type. Each is loaded only when a file of its type is read."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from symbcast.core.hooks import entry_points_of
from symbcast.core.structs import NamedTuple
from symbcast.errors import MissingExtraError, ModelError, ShapeTypeError

if TYPE_CHECKING:
    from symbcast.graphs.check import FrontEnd

# The group of entry points in which other packages offer a `Registered`.
GROUP = "symbcast.front_ends"


class Registered(NamedTuple):
    """A front end for files whose names end in ``suffixes``.

    Attributes:
        name: its name, which is also the name of the extra that it needs, if any.
        suffixes: the file name endings that it reads, in lower case.
        place: the module and the name of the `FrontEnd`, as ``"package.module:NAME"``.
        requires: modules that must be installed.
    """

    name: str
    suffixes: tuple[str, ...]
    place: str
    requires: tuple[str, ...] = ()

    def check(self) -> None:
        """Raise `MissingExtraError` if a module that the front end requires is not installed."""
        from importlib.util import find_spec

        for module in self.requires:
            if find_spec(module) is None:
                raise MissingExtraError("symbcast model", self.name)

    def load(self) -> FrontEnd:
        """Import and return the front end."""
        module, _, name = self.place.partition(":")
        front_end: FrontEnd = getattr(import_module(module), name)
        return front_end


_REGISTERED: dict[str, Registered] = {}


def register(front_end: Registered) -> None:
    """Register a front end; for its files it takes precedence over those registered earlier."""
    _REGISTERED.pop(front_end.name, None)
    _REGISTERED[front_end.name] = front_end
    _all.cache_clear()


@cache
def _all() -> Mapping[str, Registered]:
    offered = {point.name: point.load() for point in entry_points_of(GROUP)}
    return {**offered, **_REGISTERED}


def front_ends() -> Mapping[str, Registered]:
    """Return all front ends by name."""
    return _all()


def front_end_of(path: str) -> Registered | None:
    """Return the front end for a file by the ending of its name; None if there is none.

    Those that are registered take precedence over those of installed packages.
    """
    name = path.lower()

    def last(among: Mapping[str, Registered]) -> Registered | None:
        return next((r for r in reversed(list(among.values())) if name.endswith(r.suffixes)), None)

    # Installed packages are searched only if they are needed: that takes longer than checking a small model.
    return last(_REGISTERED) or last(_all())


def check_front_end(source: str, own: str) -> None:
    """Raise `ModelError` if a file is that of another front end, by the ending of its name."""
    other = front_end_of(source)
    if other is not None and other.name in _CHECKS and other.name != own:
        raise ModelError(source, f"is no file for symbcast.{own}", f"write symbcast.{other.name}.check({source!r})")


_CHECKS = ("onnx", "openvino", "stablehlo", "litert", "torch")
# Packages whose objects another front end checks.
_FRONT_ENDS = {"torch": "torch", "onnx": "onnx", "onnx_ir": "onnx", "openvino": "openvino"}


def wrong_model(value: object, wanted: str, hint: str) -> ShapeTypeError:
    """Return the error for an object that is no model of a front end: another one may check it.

    >>> str(wrong_model(3, "a model", "give a path"))
    '3 (int) is not a model; give a path'
    """
    packages = [cls.__module__.partition(".")[0] for cls in type(value).__mro__]
    name = next((_FRONT_ENDS[p] for p in packages if p in _FRONT_ENDS), "")
    arguments = "module, args" if name == "torch" else "model"
    use = f"write symbcast.{name}.check({arguments})" if name and f"{name}." not in hint else ""
    if "onnxruntime" in packages:
        use = "give the path of the file that the session has loaded"
    return ShapeTypeError(value, wanted, use or hint)
