"""``int`` and ``float`` for the code of a module while it runs with sizes as `torch.SymInt`.

In a plain run a size is an ``int``, so ``int(n * 0.5)`` and ``isinstance(n, int)`` must not tell the difference.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from symbcast.torch.eager.tensors import is_symbolic
from symbcast.torch.reading.library import load


class _Kind(type):
    """The class of stand-ins: instances are those of the type itself, and torch's own numbers."""

    own: type
    name: str

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, (cls.own, getattr(load(), cls.name)))

    def __subclasscheck__(cls, other: Any) -> bool:
        return issubclass(other, cls.own)

    def __call__(cls, *given: Any, **options: Any) -> Any:
        torch = load()
        if len(given) == 1 and is_symbolic(given[0]):
            given = (given[0].item(),)
        if len(given) == 1 and isinstance(given[0], torch.SymInt | torch.SymFloat):
            return (torch.sym_int if cls.own is int else torch.sym_float)(given[0])
        return cls.own(*given, **options)

    def __getattr__(cls, name: str) -> Any:
        return getattr(cls.own, name)

    def __eq__(cls, other: object) -> bool:
        return other is cls or other is cls.own

    def __hash__(cls) -> int:
        return hash(cls.own)


def _standin(own: type, name: str) -> Any:
    return _Kind(own.__name__, (), {"own": own, "name": name})


@contextmanager
def standing_in(function: Any, modules: Any) -> Iterator[None]:
    """Put the stand-ins into the modules of the code in this context: of a function, and of the classes of modules.

    Torch's own code keeps its types.
    """
    places = [vars(sys.modules[m]) for m in {*(type(n).__module__ for n in modules)} if m in sys.modules]
    spaces = [getattr(function, "__globals__", None), *places]
    own = {"int": _standin(int, "SymInt"), "float": _standin(float, "SymFloat")}
    changed = []
    for space in spaces:
        if space is None or str(space.get("__name__")).partition(".")[0] == "torch":
            continue
        for name, value in own.items():
            if name not in space:
                space[name] = value
                changed.append((space, name))
    try:
        yield
    finally:
        for space, name in changed:
            space.pop(name, None)
