"""Loading modules during a trace: they must see the real functions, as they would without a trace."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from symbcast.paths.runs.path import current

Aside = Callable[[], AbstractContextManager[None]]


@contextmanager
def imports_aside(aside: Aside) -> Iterator[None]:
    """Load each module that the traced code imports inside the ``aside`` context."""
    finder = _Finder(aside)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


class _Finder(MetaPathFinder):
    """The finder that is asked first for a module that is not loaded; it delegates to the other finders."""

    def __init__(self, aside: Aside) -> None:
        self._aside = aside
        self._is_busy = False

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if current.get() is None or self._is_busy:
            return None
        for other in sys.meta_path:
            find = getattr(other, "find_spec", None)
            found: ModuleSpec | None = None if isinstance(other, _Finder) or find is None else find(name, path, target)
            if found is not None:
                if found.loader is not None and hasattr(found.loader, "exec_module"):
                    found.loader = _Loader(found.loader, self)
                return found
        return None

    @contextmanager
    def loading(self) -> Iterator[None]:
        """Load a module, together with the modules that it imports."""
        self._is_busy = True
        try:
            with self._aside():
                token = current.set(None)
                try:
                    yield
                finally:
                    current.reset(token)
        finally:
            self._is_busy = False


class _Loader(Loader):
    """A loader that removes itself from the module once the module is loaded."""

    def __init__(self, real: Any, finder: _Finder) -> None:
        self._real, self._finder = real, finder

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        spec.loader = self._real
        with self._finder.loading():
            found: ModuleType | None = self._real.create_module(spec)
        spec.loader = self
        return found

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self._real
        module.__loader__ = self._real
        with self._finder.loading():
            self._real.exec_module(module)
