"""What stands in for functions acts within a trace only, and is gone after it, whatever happens."""

import asyncio
import builtins
import functools
import importlib
import math
import sys
import threading
import types

import numpy as np
import pytest

import symbcast as sb


def held():
    """The functions that have stand-ins, and what else a trace changes."""
    names = ("asarray", "array", "zeros", "arange", "broadcast", "can_cast", "ndim")
    return [
        *(getattr(np, n) for n in names),
        *(getattr(builtins, n) for n in ("len", "min", "max")),
        globals().get("set"),
        list(sys.meta_path),
    ]


@pytest.fixture(autouse=True)
def put_back():
    before = held()
    yield
    assert held() == before


def in_thread(function):
    """What a function returns in a thread of its own."""
    found = []
    thread = threading.Thread(target=lambda: found.append(function()))
    thread.start()
    thread.join()
    return found[0]


def test_another_thread_gets_the_real_functions():
    seen = []

    def function(x):
        zeros = np.zeros((x.shape[0], 2))
        seen.append(in_thread(lambda: (type(np.zeros((3, 2))), len(np.arange(3)), max(1, 2), np.asarray([1, 2]).sum())))
        return zeros

    assert sb.trace(function, "N").shapes == sb.shape("N, 2")
    assert seen[0] == (np.ndarray, 3, 2, 3)


def test_traces_in_two_threads_are_as_each_alone():
    begun, done = threading.Event(), threading.Event()

    def slow(x):
        begun.set()
        done.wait(10)
        return np.zeros(len(x)) + x

    found = []
    thread = threading.Thread(target=lambda: found.append(sb.trace(slow, "N")))
    thread.start()
    begun.wait(10)
    assert sb.trace(lambda x: np.concatenate([np.ones(2), x]), "M").shapes == sb.shape("M + 2")
    done.set()
    thread.join()
    assert found[0].shapes == sb.shape("N")


def test_all_is_put_back_where_a_trace_is_broken_off():
    def function(x):
        np.zeros(x.shape)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sb.trace(function, "N")


def test_a_trace_within_a_trace_is_its_own():
    inner = []

    def function(x):
        inner.append(sb.trace(lambda y: np.zeros(len(y) + 1), "M"))
        return np.zeros(len(x) + 2)

    assert sb.trace(function, "N").shapes == sb.shape("N + 2")
    assert inner[0].shapes == sb.shape("M + 1")


def test_tasks_that_take_turns_are_traced_each_by_itself():
    async def traced(name, more):
        def function(x):
            return np.zeros(len(x) + more)

        await asyncio.sleep(0)
        found = sb.trace(function, name)
        await asyncio.sleep(0)
        assert np.zeros(3).shape == (3,)
        return found.shapes

    async def both():
        return await asyncio.gather(traced("N", 1), traced("M", 2))

    # In a thread of its own: other tests may have left the loop of this one running.
    assert in_thread(lambda: asyncio.run(both())) == [sb.shape("N + 1"), sb.shape("M + 2")]


def test_a_function_that_runs_tasks_is_traced():
    def function(x):
        async def part(n):
            await asyncio.sleep(0)
            return np.zeros((len(x), n))

        async def whole():
            return await asyncio.gather(part(1), part(2))

        return asyncio.run(whole())

    assert in_thread(lambda: sb.trace(function, "N").shapes) == [sb.shape("N, 1"), sb.shape("N, 2")]


def test_a_name_in_the_place_of_another_is_the_users_own(monkeypatch):
    """A module may get its own `set`, or lose it, while its number of names stays the same."""
    module = types.ModuleType("renaming")
    exec("def function(x):\n    return np.zeros(len(set([len(x), 3])))", vars(module))
    module.np = np
    monkeypatch.setitem(sys.modules, "renaming", module)
    own = module.own = lambda sizes: range(7)

    def lengths():
        return [sb.trace(module.function, "N").at(N=n).value[0] for n in (1, 3)]

    assert lengths() == [2, 1]
    module.set = vars(module).pop("own")
    assert lengths() == [7, 7] and module.set is own
    module.own = vars(module).pop("set")
    assert lengths() == [2, 1]


def test_a_module_that_is_loaded_meanwhile_sees_the_real_functions(tmp_path, monkeypatch):
    (tmp_path / "loaded_meanwhile.py").write_text(
        "import numpy as np\nfrom numpy import zeros\nKIND = type(np.broadcast)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)

    def function(x):
        import loaded_meanwhile

        return loaded_meanwhile.zeros((len(x), 2))

    assert sb.trace(function, "N").shapes == sb.shape("N, 2")
    loaded = sys.modules.pop("loaded_meanwhile")
    assert loaded.zeros is np.zeros
    assert loaded.KIND is type
    assert type(loaded.__spec__.loader) is type(loaded.__loader__) is type(sys.modules["asyncio"].__spec__.loader)


def make():
    import numpy as own

    zeros = own.zeros

    def function(x):
        return own.zeros(len(x)) + zeros(len(x))

    return function


def by_default(x, zeros=np.zeros, *, of=np):
    return zeros(len(x)) + of.ones(len(x))


def by_import(x):
    import numpy as own
    from numpy import empty

    return own.zeros(len(x)) + empty(len(x)) + importlib.import_module("numpy").ones(len(x))


def by_executed_code(x):
    space = {"np": np}
    exec("def f(x): return np.zeros(len(x))", space)
    return space["f"](x)


class Holder:
    def __init__(self):
        self.rng = np.random.default_rng(0)
        self.zeros = np.zeros

    def method(self, x):
        return self.zeros(x.shape) + self.rng.normal(size=x.shape)


part = functools.partial(np.zeros, dtype=int)
TABLE = {"zeros": np.zeros, "asarray": np.asarray}


@pytest.mark.parametrize(
    "function",
    [
        make(),
        by_default,
        by_import,
        by_executed_code,
        Holder().method,
        lambda x: part(len(x)),
        lambda x: x.__array_namespace__().zeros(len(x)),
        lambda x: np.lib.stride_tricks.as_strided(x, x.shape),
        lambda x: math.sqrt(len(x)) * np.ones(len(x)),
    ],
)
def test_python_code_gets_stand_ins_wherever_it_holds_the_real_function(function):
    for _ in range(2):
        report = sb.trace(function, "N")
        assert report.verdict is sb.Verdict.ALWAYS, report.reason
        assert report.shapes == sb.shape("N")
    assert by_default.__defaults__ == (np.zeros,)
    assert by_default.__kwdefaults__ == {"of": sys.modules["numpy"]}
    assert part.func is np.zeros


def test_a_real_function_that_was_not_found_says_so():
    report = sb.trace(lambda x: TABLE["zeros"](len(x)), "N")
    assert not report.complete
    assert "turns a size into a number" in report.reason
    assert report.at(N=3).value == sb.shape("3")
    report = sb.trace(lambda x: TABLE["asarray"](x) + 1, "N")
    assert "TABLE['asarray'] is not supported: it takes the data of an array" in report.reason


def test_modules_that_compiled_code_shares_stay_as_they_are():
    real = sys.modules["numpy"]
    before = {**vars(real)}
    seen = []

    def function(x):
        seen.extend((vars(sys.modules[n])["__name__"], type(sys.modules[n])) for n in ("numpy", "math"))
        seen.append({n: v for n, v in vars(sys.modules["numpy"]).items() if before.get(n) is not v})
        np.made_here = 1
        return np.zeros(len(x))

    assert sb.trace(function, "N").shapes == sb.shape("N")
    assert seen[:2] == [("numpy", types.ModuleType), ("math", types.ModuleType)]
    assert not seen[2]
    assert vars(real).pop("made_here") == 1
    assert type(np) is types.ModuleType


def test_what_code_stores_in_a_trace_is_the_real_thing_after_it():
    def function(x):
        global kept_module, kept_function  # noqa: PLW0603 - so does code that loads lazily
        import numpy as kept_module
        from numpy import zeros as kept_function

        return kept_function(len(x))

    for _ in range(2):
        assert sb.trace(function, "N").shapes == sb.shape("N")
        assert globals()["kept_module"] is sys.modules["numpy"]
        assert globals()["kept_function"] is np.zeros


def test_compiled_code_that_refuses_an_array_keeps_the_references_of_its_type():
    # f2py releases the type once too often where a conversion fails: a few refusals would end NumPy's own.
    lapack = pytest.importorskip("scipy.linalg.lapack")
    before = sys.getrefcount(np.dtype("F"))
    for _ in range(20):
        assert not sb.trace(lapack.chetrf, "N, M").complete
    assert sys.getrefcount(np.dtype("F")) >= before


def test_compiled_code_that_takes_no_array_without_data_is_not_called_with_real_ones():
    # It may not check its sizes: called with arrays of different ones, it writes beyond them.
    called = []

    def function(x):
        called.append(type(x))
        return hash(memoryview(x))

    report = sb.trace(function, "N")
    assert (report.complete, np.ndarray in called) == (False, False)
    assert "compiled code does not accept an array without data" in report.reason


@pytest.mark.parametrize("kind", [np.matrix, np.ma.MaskedArray, np.recarray])
def test_a_view_as_another_class_is_not_known(kind):
    # A matrix multiplies otherwise: what was required for its product said "never" where it works.
    report = sb.trace(lambda x, y: x.view(kind) * y.view(type=kind), "N, M", "K, L")
    assert not report.complete
    assert f"the class {kind.__name__} is not supported" in report.reason
    assert sb.trace(lambda x: x.view(np.ndarray), "N").complete
