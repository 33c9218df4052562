"""Put stand-ins where Python code reads them during a trace: in modules, closures, defaults, globals and builtins.

Code also uses functions as values: as keys, defaults, in comparisons, pickles and signatures. So a stand-in is a proxy
that is equal to what it stands for, and has its hash, its attributes and its class. Only ``is``, ``id``, ``type`` and
pickles tell them apart: in the user's own code, `symbcast.arrays.loops.rewriting` replaces these.
"""

from __future__ import annotations

import builtins
import copyreg
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import BuiltinImporter, ExtensionFileLoader, ModuleSpec
from operator import attrgetter
from threading import RLock
from types import CellType, FunctionType, MethodType, ModuleType
from typing import Any

from symbcast.paths.path import current

_REAL = "_real_module_of_symbcast"
_OF = "_stand_in_of_symbcast"


# Functions that return the real value behind a stand-in, by the stand-in's type.
WRAPPERS: dict[type, Callable[[Any], Any]] = {}


def real_of(value: Any) -> Any:
    """Return the real value behind a stand-in; the value itself if it is not a stand-in."""
    unwrap = WRAPPERS.get(type(value))
    return value if unwrap is None else unwrap(value)


class StandIn:
    """A value in the place of a real one during a trace: equal to it, with its hash, attributes and text.

    Its attribute ``real`` is the real value, except where `WRAPPERS` says otherwise.
    """

    __slots__ = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        WRAPPERS[cls] = attrgetter("real")

    def __getattr__(self, name: str) -> Any:
        return getattr(real_of(self), name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(real_of(self), name, value)

    def __delattr__(self, name: str) -> None:
        delattr(real_of(self), name)

    def __dir__(self) -> list[str]:
        return dir(real_of(self))

    def __repr__(self) -> str:
        return repr(real_of(self))

    def __eq__(self, other: object) -> bool:
        return bool(real_of(self) == real_of(other))

    def __hash__(self) -> int:
        return hash(real_of(self))

    def __reduce_ex__(self, protocol: Any) -> Any:
        return real_of, (real_of(self),)


class StandInClass(type):
    """The class of stand-ins for classes: for ``isinstance``, each is the class ``real``."""

    real: Any

    def __init_subclass__(cls) -> None:
        WRAPPERS[cls] = attrgetter("real")
        copyreg.pickle(cls, lambda kind: (real_of, (kind.real,)))

    def __getattr__(cls, name: str) -> Any:
        return getattr(cls.real, name)

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, cls.real)

    def __subclasscheck__(cls, kind: type) -> bool:
        return kind is cls or issubclass(kind, cls.real)

    def __eq__(cls, other: object) -> bool:
        return bool(cls.real == real_of(other))

    def __hash__(cls) -> int:
        return hash(cls.real)


class ProxyModule(StandIn, ModuleType):
    """A module that reads and writes another one; ``of`` replaces values that are read by their stand-ins."""

    # It is used instead of a module that compiled code shares, such as `numpy`, which itself is not changed.
    def __init__(self, real: ModuleType, of: Callable[[Any], Any]) -> None:
        object.__setattr__(self, _REAL, real)
        object.__setattr__(self, _OF, of)

    def __getattribute__(self, name: str) -> Any:
        value = getattr(real_of(self), name)
        return object.__getattribute__(self, _OF)(value)


WRAPPERS[ProxyModule] = lambda proxy: object.__getattribute__(proxy, _REAL)


class _MetaOfProxies(type):
    """The class of `ProxyFunction`: `inspect` takes it for a class written in C, whose objects have no signature."""

    def __getattribute__(cls, name: str) -> Any:
        return object.__init__ if name == "__call__" else super().__getattribute__(name)


class ProxyFunction(StandIn, metaclass=_MetaOfProxies):
    """A function or class whose calls go to ``ours``, with the real one as first argument, if ``is_ours`` accepts them.

    It acts only in a trace: elsewhere, each call goes to the real function.
    """

    __slots__ = ("__weakref__", "_parts")

    def __init__(self, real: Any, ours: Callable[..., Any], is_ours: Callable[..., bool]) -> None:
        object.__setattr__(self, "_parts", (real, ours, is_ours))

    def __call__(self, /, *args: Any, **options: Any) -> Any:
        real, ours, is_ours = _parts_of(self)
        # Elsewhere than in a trace, such as in another thread, each call goes to the real function.
        if current.get() is None or not is_ours(*args, **options):
            return real(*args, **options)
        return ours(real, *args, **options)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        is_bound = instance is not None and hasattr(type(real_of(self)), "__get__")
        return MethodType(self, instance) if is_bound else self

    def __getattribute__(self, name: str) -> Any:
        return object.__getattribute__(self, name) if name in _OWN else getattr(real_of(self), name)

    def __instancecheck__(self, value: object) -> bool:
        return isinstance(value, real_of(self))

    def __subclasscheck__(self, kind: type) -> bool:
        return issubclass(kind, real_of(self))

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[Any, ...]:
        return (real_of(self),)

    def __copy__(self) -> ProxyFunction:
        return self

    def __deepcopy__(self, memo: Any) -> ProxyFunction:
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        path = current.get()
        if path is not None:
            # The pickler looks the function up by its name and compares: only other bytes can be written for a proxy.
            path.fail_to_trace(f"{real_of(self).__name__} is pickled")
        return super().__reduce_ex__(protocol)


# Attributes that are the proxy's; it has all others of the real function.
_OWN = frozenset({"__call__", "__get__", "__copy__", "__deepcopy__", "__reduce_ex__"})
_parts_of: Callable[[ProxyFunction], tuple[Any, Callable[..., Any], Callable[..., bool]]]
_parts_of = vars(ProxyFunction)["_parts"].__get__
WRAPPERS[ProxyFunction] = lambda proxy: _parts_of(proxy)[0]


class ProxyPartial(StandIn, partial[Any]):
    """A partial function of a stand-in, or with stand-ins for arguments; ``real`` is the partial function behind it."""


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
            spec: ModuleSpec | None = None if isinstance(other, _Finder) or find is None else find(name, path, target)
            if spec is not None:
                if spec.loader is not None and hasattr(spec.loader, "exec_module"):
                    spec.loader = _Loader(spec.loader, self)
                return spec
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
            module: ModuleType | None = self._real.create_module(spec)
        spec.loader = self
        return module

    def exec_module(self, module: ModuleType) -> None:
        # The module must not keep this loader, which only lives for the trace.
        if module.__spec__ is not None:
            module.__spec__.loader = self._real
        module.__loader__ = self._real
        with self._finder.loading():
            self._real.exec_module(module)


# Places other than modules from which a traced function reads values: closures, defaults, globals, objects.


# The maximum number of values to visit: a function in a notebook may reach everything ever created there.
_MOST = 2000


@dataclass
class ReachedPlaces:
    """Places that hold values by name: ``spaces`` are dicts, ``places`` pair an object with an attribute's name."""

    spaces: list[dict[str, Any]] = field(default_factory=list)
    places: list[tuple[Any, str]] = field(default_factory=list)


def reach_of(function: Any, arguments: Iterable[Any] = ()) -> ReachedPlaces:
    """Return the places from which a function reads values: its closure, its defaults, and those of functions in them.

    Module namespaces are excluded, as are attributes of objects other than the function itself and its arguments.
    """
    reach, seen = ReachedPlaces(), set[int]()
    waiting: list[Any] = [function, *arguments]
    _add_attributes(reach, [getattr(function, "__self__", None), function, *arguments])
    while waiting and len(seen) < _MOST:
        value = waiting.pop()
        if id(value) in seen or _is_ours(value):
            continue
        seen.add(id(value))
        waiting += _inside(value)
        if type(value) is FunctionType:
            _add_places(reach, value)
            space = value.__globals__
            if id(space) not in seen and not _is_of_module(space):
                seen.add(id(space))
                reach.spaces.append(space)
                waiting += [v for v in space.values() if isinstance(v, (FunctionType, MethodType, partial, type))]
    return reach


def _is_of_module(space: dict[str, Any]) -> bool:
    """Return whether a namespace is that of a module."""
    name = space.get("__name__")
    if getattr(sys.modules.get(str(name)), "__dict__", None) is space:
        return True
    # A module may be loaded under another name than its own.
    return name is not None and any(getattr(m, "__dict__", None) is space for m in list(sys.modules.values()))


def cells_of(function: FunctionType, depth: int = 3) -> Iterator[CellType]:
    """Yield the closure cells of a function and of the functions that it wraps, except symbcast's own."""
    for cell in () if _is_ours(function) else function.__closure__ or ():
        if is_full(cell):
            yield cell
            if depth and isinstance(cell.cell_contents, FunctionType):
                yield from cells_of(cell.cell_contents, depth - 1)


def _inside(value: Any) -> Iterator[Any]:
    """Yield the values inside a function, a method, a partial function or a user's class."""
    if type(value) is FunctionType:
        yield from (c.cell_contents for c in value.__closure__ or () if is_full(c))
        yield from value.__defaults__ or ()
        yield from (value.__kwdefaults__ or {}).values()
        yield getattr(value, "__wrapped__", None)
    elif isinstance(value, MethodType):
        yield value.__func__
    elif isinstance(value, partial):
        yield value.func
        yield from value.args
        yield from value.keywords.values()
    elif isinstance(value, type):
        if value.__module__ not in sys.modules:
            yield from (getattr(v, "__func__", v) for v in vars(value).values())
    elif isinstance(type(value).__dict__.get("__call__"), FunctionType):
        yield type(value).__dict__["__call__"]


def _add_places(reach: ReachedPlaces, function: FunctionType) -> None:
    reach.places += [(c, "cell_contents") for c in function.__closure__ or () if is_full(c)]
    reach.places += [(function, n) for n in ("__defaults__", "__kwdefaults__") if getattr(function, n)]


def _add_attributes(reach: ReachedPlaces, objects: Iterable[Any]) -> None:
    """Add the attributes of objects of user classes: one may be a random number generator."""
    for value in objects:
        space = getattr(value, "__dict__", None)
        if type(space) is dict and not isinstance(value, (type, FunctionType)):
            reach.spaces.append(space)


def _is_ours(value: Any) -> bool:
    """Return whether a function belongs to this package: a stand-in's closure must keep the real function."""
    return type(value) is FunctionType and str(value.__globals__.get("__name__")).partition(".")[0] == "symbcast"


def is_full(cell: CellType) -> bool:
    """Return whether a cell holds a value."""
    try:
        _ = cell.cell_contents
    except ValueError:
        return False
    return True


# Stand-ins for functions that cannot be dispatched, placed during a trace where Python code reads them.
#
# Compiled code must not get a stand-in: it casts the result of `numpy.empty` without a check. Compiled code reads
# `numpy.empty` from the module `numpy`, so that module, and every other module that compiled code shares, is not
# changed. Stand-ins go into the namespaces of Python code: there, function names are bound to their stand-ins, and
# names of shared modules to a `ProxyModule`. `len`, `min`, `max` and `__import__` are replaced in `builtins`: the
# first three return sizes, which compiled code can use only through their methods, and compiled code does not import
# through `__import__`.
#
# Stand-ins act only in the context of a trace: any other thread or task gets the real function's result. All changes
# are undone whatever happens, including those in modules loaded during the trace.


# Modules that keep the real builtins.
_KEEP = frozenset({*sys.stdlib_module_names, "builtins", "numpy"}) - {"__main__"}
# Python modules from which compiled code reads functions, as it does from NumPy's packages.
_SHARED = frozenset({"importlib", "math", "numpy.lib.stride_tricks", "operator"})

# The real one, also while its stand-in is in place.
_len = len

Space = dict[str, Any]


class _Namespace:
    """The names of a module.

    Attributes:
        contents: the names and their values.
        stays: whether it is never changed, because it is compiled or shared with compiled code.
        takes_globals: whether stand-ins for builtins are put in.
        keeps: whether its builtins are always the real ones, because its code never sees an array.
        names: the names whose values have a stand-in.
        cells: the closure cells of its functions whose values have a stand-in.
    """

    __slots__ = ("cells", "contents", "keeps", "names", "stays", "takes_globals")

    def __init__(self, name: str, module: ModuleType, stays: bool) -> None:
        self.contents = vars(module)
        self.stays = stays
        self.takes_globals = not stays and name.partition(".")[0] not in _KEEP
        self.keeps = name.startswith(_WITHOUT_ARRAYS)
        self.names: list[str] = []
        self.cells: list[CellType] = []


class StandIns:
    """The stand-ins for functions of some packages while functions are traced.

    ``is_ours`` decides from a call's arguments whether the stand-in handles it; other calls go to the real function.
    ``register_more`` registers stand-ins for packages that were loaded since its last call.
    """

    def __init__(self, is_ours: Callable[..., bool], register_more: Callable[[StandIns], None] | None = None) -> None:
        self._is_ours = is_ours
        self._register_more = register_more
        self._lock = RLock()
        self._users: dict[object, ReachedPlaces] = {}
        # The real function and its stand-in, by the identity of the real one.
        self._standins: dict[int, tuple[Any, Any]] = {}
        # Factories of stand-ins for values of a type.
        self._kinds: dict[type, Callable[[Any], Any]] = {
            ModuleType: self._of_module,
            partial: self._of_partial,
            MethodType: self._of_method,
        }
        self._globals: dict[str, Any] = {}
        self._proxies: dict[int, ProxyModule] = {}
        self._put: list[tuple[Space, str, Any, Any]] = []
        self._put_on: list[tuple[Any, str, Any]] = []
        self._modules: list[Any] = []
        self._known = 0
        self._spaces: list[_Namespace] = []
        self._contents: list[Space] = []
        # The number of names in each namespace when it was last looked at; -1 before.
        self._counts: list[int] = []
        # The namespaces with values that have a stand-in.
        self._holding: list[_Namespace] = []
        # The namespaces that take stand-ins for builtins, where they have no such names of their own.
        self._open: list[Space] = []
        # The number of names in each namespace during a trace.
        self._counts_within: list[int] = []

    def stands_for(
        self, *functions: Any, is_ours: Callable[..., bool] | None = None
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Register a stand-in, called with the real function and its arguments, for some functions."""

        def register(ours: Callable[..., Any]) -> Callable[..., Any]:
            for real in functions:
                self.stands_as(real, ProxyFunction(real, ours, is_ours or self._is_ours))
            return ours

        return register

    def stands_as(self, real: Any, standin: Any) -> None:
        """Register a stand-in for a function or a class."""
        self._standins[id(real)] = real, standin

    def stands_for_kind(self, kind: type, make: Callable[[Any], Any]) -> None:
        """Register what makes the stand-in of every value of a type."""
        self._kinds[kind] = make

    def stands_for_global(self, name: str, standin: Any) -> None:
        """Register a stand-in for a builtin, used in all modules except those of Python's standard library."""
        self._globals[name] = standin

    def of(self, value: Any) -> Any:
        """Return the stand-in of a function, a module or a random generator; the value itself if it has none."""
        pair = self._standins.get(id(value))
        if pair is not None:
            return pair[1] if pair[0] is value else value
        make = self._kinds.get(type(value))
        return value if make is None else make(value)

    def _of_module(self, module: ModuleType) -> ModuleType:
        return self._proxies.get(id(module), module)

    def _of_partial(self, value: Any) -> Any:
        function, arguments = self.of(value.func), self._of_each(value.args)
        options = self._of_each(value.keywords)
        if function is value.func and arguments is value.args and options is value.keywords:
            return value
        proxy = ProxyPartial(function, *arguments, **options)
        object.__setattr__(proxy, "real", value)
        return proxy

    def _of_method(self, method: Any) -> Any:
        owner = method.__self__
        return getattr(self.of(owner), method.__name__) if type(owner) in self._kinds else method

    @contextmanager
    def acting(self, reach: ReachedPlaces | None = None) -> Iterator[None]:
        """Install the stand-ins where Python code reads the real functions, and restore the real ones at the end.

        ``reach`` holds the places other than modules from which the traced function reads values. Traces in several
        threads, and nested traces, share the stand-ins.
        """
        user = object()
        try:
            with self._lock:
                self._users[user] = reach or ReachedPlaces()
                if len(self._users) == 1:
                    self._put_in()
                else:
                    self._put_into(self._users[user])
            with imports_aside(self._aside):
                yield
        finally:
            with self._lock:
                left = self._users.pop(user, None)
                if not self._users:
                    try:
                        self._put_back([] if left is None else left.spaces)
                    except BaseException:  # an interrupt must not leave the other stand-ins in place
                        self._put_back([])
                        raise

    @contextmanager
    def _aside(self) -> Iterator[None]:
        """Restore the real functions while a module is loaded."""
        # The module may store them elsewhere, where no stand-in would be taken back.
        with self._lock:
            self._put_back([])
            try:
                yield
            finally:
                if self._users:
                    self._put_in()

    def _put_in(self) -> None:
        self._look()
        for space in self._holding:
            self._replace(space.contents, space.names)
            for cell in space.cells:
                self._replace_on(cell, "cell_contents")
        for name, standin in self._globals.items():
            for names in self._open:
                # Asked at each trace: a module may have defined the name since the last one.
                if name not in names:
                    names[name] = standin
        # Comparing numbers of names takes much less time than looking at each module before and after.
        self._counts_within = list(map(_len, self._contents))
        self._replace(vars(builtins), [n for n, v in vars(builtins).items() if id(v) in self._standins])
        for reach in self._users.values():
            self._put_into(reach)

    def _look(self) -> None:
        """Find what is to be replaced, as far as modules, names and stand-ins have been added since the last time."""
        modules = list(sys.modules.values())
        if modules != self._modules and self._register_more is not None:
            self._register_more(self)
        known = len(self._standins) + len(self._kinds)
        if modules != self._modules or known != self._known:
            is_same = known == self._known
            self._modules, self._known = modules, known
            # A stand-in that is new may be one for a name anywhere.
            self._collect(zip(self._spaces, self._counts, strict=True) if is_same else ())
        counts = list(map(_len, self._contents))
        if counts != self._counts:
            for space, count, before in zip(self._spaces, counts, self._counts, strict=True):
                if count != before:
                    self._look_at(space)
            self._counts = counts
            self._holding = [s for s in self._spaces if s.names or s.cells]

    def _collect(self, known: Iterable[tuple[_Namespace, int]]) -> None:
        """Collect the namespaces of all modules; ``known`` were looked at when they had so many names."""
        _keep_builtins()
        earlier = {id(space.contents): (space, count) for space, count in known if len(space.contents) == count}
        self._spaces, self._counts = [], []
        for name, module in _modules():
            space, count = earlier.get(id(vars(module)), (None, -1))
            if space is None:
                if id(module) not in self._proxies and self._is_proxied(name, module):
                    self._proxies[id(module)] = ProxyModule(module, self.of)
                space = _Namespace(name, module, id(module) in self._proxies or _is_compiled(module))
            self._spaces.append(space)
            self._counts.append(count)
        self._contents = [s.contents for s in self._spaces]
        self._open = [s.contents for s in self._spaces if s.takes_globals]
        self._holding = [s for s in self._spaces if s.names or s.cells]

    def _put_into(self, reach: ReachedPlaces) -> None:
        for space in reach.spaces:
            self._replace(space, list(space))
        for owner, name in reach.places:
            self._replace_on(owner, name)

    def _replace_on(self, owner: Any, name: str) -> None:
        if type(owner) is CellType:
            value = owner.cell_contents if is_full(owner) else None
            standin = self.of(value)
        else:
            value = getattr(owner, name)
            standin = self._of_each(value)
        if standin is not value:
            self._put_on.append((owner, name, value))
            setattr(owner, name, standin)

    def _of_each(self, value: Any) -> Any:
        """Return the stand-in of a value; for defaults in a tuple or dict, the stand-in of each."""
        if type(value) is tuple:
            standins: Any = tuple(map(self.of, value))
            return value if all(a is b for a, b in zip(standins, value, strict=True)) else standins
        if type(value) is dict:
            standins = {k: self.of(v) for k, v in value.items()}
            return value if all(standins[k] is v for k, v in value.items()) else standins
        return self.of(value)

    def _replace(self, space: Space, names: Iterable[str]) -> None:
        for name in names:
            value = space.get(name)
            standin = self.of(value)
            if standin is not value:
                self._put.append((space, name, value, standin))
                space[name] = standin

    def _is_proxied(self, name: str, module: ModuleType) -> bool:
        """Return whether a module is never changed but contains a value that has a stand-in."""
        if _is_of_numpy(name) and self._register_more is not None:
            return True
        is_shared = name in _SHARED or _is_compiled(module)
        return is_shared and any(self.of(v) is not v for v in list(vars(module).values()))

    def _look_at(self, space: _Namespace) -> None:
        """Record the names in a namespace, and the cells of its functions, whose values have a stand-in."""
        if not space.stays:
            values = dict(space.contents)
            standins, kinds = self._standins, self._kinds
            # A call for each name of thousands of modules would take most of the first trace.
            near = [(n, v) for n, v in values.items() if id(v) in standins or type(v) in kinds]
            space.names = [n for n, v in near if self.of(v) is not v and not (space.keeps and n in _REPLACED)]
            functions = [v for v in values.values() if type(v) is FunctionType and v.__closure__]
            space.cells = [c for f in functions for c in cells_of(f) if self.of(c.cell_contents) is not c.cell_contents]

    def _put_back(self, own: Iterable[Space]) -> None:
        changed = []
        if list(map(_len, self._contents)) != self._counts_within:
            pairs = zip(self._contents, self._counts_within, strict=False)  # an interrupt may have left it unfinished
            changed = [space for space, count in pairs if len(space) != count]
        # Modules that were loaded during the trace may have copied names that hold stand-ins.
        if len(sys.modules) != len(self._modules):
            seen = set(map(id, self._contents))
            changed += [vars(m) for _, m in _modules() if id(vars(m)) not in seen]
        for name, standin in self._globals.items():
            for space in self._open:
                if space.get(name) is standin:
                    del space[name]
                elif name in space:
                    space[name] = real_of(space[name])
        # Pop after restoring: an interrupt between the two restores a name twice, but never leaves a stand-in behind.
        while self._put:
            space, name, value, standin = self._put[-1]
            if space.get(name) is standin:
                space[name] = value
            elif name in space:
                space[name] = real_of(space[name])
            self._put.pop()
        while self._put_on:
            owner, name, value = self._put_on[-1]
            setattr(owner, name, value)
            self._put_on.pop()
        self._restore([*changed, *own])

    def _restore(self, changed: Iterable[Space]) -> None:
        """Restore the real functions in namespaces that received stand-ins in the meantime."""
        for space in changed:
            for name, value in list(space.items()):
                real = real_of(value)
                if real is not value:
                    space[name] = real


# Modules that never see an array: of this package, and of JAX, which calls `len` all the time.
_WITHOUT_ARRAYS = ("symbcast.core.", "symbcast.operators.", "symbcast.paths.", "symbcast.jax.", "jax._src.")
_REPLACED = {name: vars(builtins)[name] for name in ("id", "len", "min", "max")}


def _keep_builtins() -> None:
    """Give modules that never see an array the real builtins."""
    # Their stand-ins took half the time of some traces.
    for name, module in list(sys.modules.items()):
        if name.startswith(_WITHOUT_ARRAYS) and isinstance(module, ModuleType):
            for own, real in _REPLACED.items():
                vars(module).setdefault(own, real)


def _modules() -> list[tuple[str, ModuleType]]:
    return [
        (n, m)
        for n, m in list(sys.modules.items())
        if isinstance(m, ModuleType) and n.partition(".")[0] != "symbcast" and n != "builtins"
    ]


def _is_of_numpy(name: str) -> bool:
    """Return whether a module is a NumPy package."""
    # Packages only re-export functions, and contain no running code.
    return name.partition(".")[0] == "numpy" and hasattr(sys.modules.get(name), "__path__")


def _is_compiled(module: ModuleType) -> bool:
    space = vars(module)
    spec = space.get("__spec__")
    if spec is None and "__file__" not in space and module.__name__ != "__main__":  # compiled code may create modules
        return not any(getattr(v, "__globals__", None) is space for v in list(space.values()))
    loader = getattr(spec, "loader", None)
    return loader is BuiltinImporter or isinstance(loader, ExtensionFileLoader)
