"""Writers of contracts for servers and compilers: each module here declares its targets with `target`."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module

from symbcast.answers.contracts.targets.declaration import DECLARED, Target
from symbcast.core.characters import closest
from symbcast.errors import TargetError


@lru_cache
def targets() -> dict[str, Target]:
    """Return all targets by name, in the order in which they are listed; their modules are loaded."""
    from pkgutil import iter_modules  # slow to load

    for module in iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
    return dict(sorted(DECLARED.items(), key=lambda item: item[1].place))


def target_of(name: str) -> Target:
    """Return a target by name; raise `TargetError` if there is none."""
    known = targets()
    if name not in known:
        meant = {other: own for own, target in known.items() for other in target.also}
        similar = meant.get(str(name).casefold()) or closest(str(name), known)
        hint = f"did you mean {similar!r}? The targets are" if similar else "the targets are"
        raise TargetError(str(name), "there is no such target", f"{hint} {', '.join(known)}")
    return known[name]
