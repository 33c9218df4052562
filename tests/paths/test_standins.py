"""What stands in for functions acts within a trace only, and is gone after it, whatever happens."""

import asyncio
import builtins
import sys
import threading

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
