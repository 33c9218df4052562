"""Objects of the user's classes: made by examples of the user, and as the user's own tests make them."""

import enum
import functools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

np = pytest.importorskip("numpy")
import symbcast as sb  # noqa: E402
from symbcast.linting.recording import FILE, DataWriter, NotDataError, read_calls, value_of  # noqa: E402

MODELS = """
import abc
import enum
from typing import Annotated, Callable
import numpy as np
import symbcast as sb
Rows = Annotated[np.ndarray, sb.shape("b, i")]
class Mode(enum.Enum):
    SUM = 0
    MEAN = 1
class Base(abc.ABC):
    @abc.abstractmethod
    def __call__(self, x: Rows): ...
class Layer(Base):
    def __init__(self, weights, activation: Callable, *more, mode: Mode = Mode.SUM, **rest):
        if not callable(activation):
            raise TypeError
        self.weights, self.activation = weights, activation
    def __call__(self, x: Rows) -> Annotated[np.ndarray, sb.shape("b, 3")]:
        return self.activation(x @ self.weights)
    def wrong(self, x: Rows) -> Annotated[np.ndarray, sb.shape("b, 4")]:
        return self.activation(x @ self.weights)
def applied(layer: Base, x: Rows) -> Annotated[np.ndarray, sb.shape("b, 3")]:
    return layer(x)
"""
TESTS = """
import numpy as np
from models import Layer, Mode
def test_lambda():
    Layer(np.ones((7, 3)), lambda x: x)
def test_layer():
    layer = Layer(np.ones((5, 3)), np.tanh, 1, mode=Mode.MEAN, key=layer_key())
    assert layer(np.ones((2, 5))).shape == (2, 3)
def layer_key():
    return {"a": (1, [2.5, None])}
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    (tmp_path / "models.py").write_text(MODELS, "utf-8")
    (tmp_path / "test_models.py").write_text(TESTS, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def statuses():
    report = sb.lint("models.py", cache=False)
    return {c.function: c.status for c in report.functions if c.function != "Base.__call__"}, report


def test_objects_are_made_as_tests_make_them(project):
    assert set(statuses()[0].values()) == {"skipped"}
    path = os.pathsep.join([str(Path(sb.__file__).parents[1]), str(project)])
    environment = {**os.environ, "PYTHONPATH": path, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""}
    plugin = ("-p", "symbcast.cli.pytest_plugin", "-p", "no:cacheprovider", "-q", "--symbcast-record")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *plugin], check=False, capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stdout
    calls = read_calls(project / FILE)
    assert list(calls) == ["models:Layer"]
    [call] = calls["models:Layer"]  # the lambda has no form as data
    assert call["args"][1:] == [{"name": "numpy:tanh"}, 1]
    assert call["with"] == {"mode": {"name": "models:Mode.MEAN"}, "key": {"dict": [["a", {"tuple": [1, [2.5, None]]}]]}}
    found, report = statuses()
    assert found == {"Layer.__call__": "partly", "Layer.wrong": "finding", "applied": "partly"}
    assert [f.message for f in report.findings] == ['Layer.wrong returns (b, 3), never "b 4": at b=1 it returns (1, 3)']
    assert any("where i == 5, as of its object" in line for line in report.unproved)

    # What is in the file is tried: a constructor that changed since makes nothing.
    (project / "models.py").write_text(MODELS.replace("if not callable", "if callable"))
    assert set(statuses()[0].values()) == {"skipped"}
    (project / FILE).write_text("{}", "utf-8")
    assert read_calls(project / FILE) == {}


EXAMPLE = """
@sb.example
def layer(i: int) -> Layer:
    return Layer(np.ones((i, 3)), np.tanh)
"""


@pytest.mark.parametrize("is_elsewhere", [False, True])
def test_an_example_makes_objects_with_sizes_of_its_own(project, is_elsewhere):
    if is_elsewhere:
        (project / "examples.py").write_text("import numpy as np, symbcast as sb\nfrom models import Layer\n" + EXAMPLE)
        (project / "pyproject.toml").write_text("[tool.symbcast.lint]\nexamples = ['examples.py']\n")
    else:
        (project / "models.py").write_text(MODELS + EXAMPLE)
    found, report = statuses()
    assert found == {"Layer.__call__": "partly", "Layer.wrong": "finding", "applied": "partly"}
    assert report.findings[0].message.startswith('Layer.wrong returns (b, 3), never "b 4"')


class Kind(enum.Enum):
    ONE = 1


VALUES = [
    None,
    [True, 2, 0.5, "text", float("inf")],
    (1, (2,), {"a": 1, (1, 2): None}),
    Kind.ONE,
    Kind,
    np.tanh,
    np.float32,
    np.dtype("int8"),
    functools.partial(max, 1, key=abs),
    np.arange(6, dtype="int32").reshape(2, 3),
    np.zeros((0, 3)),
]


@pytest.mark.parametrize("value", VALUES, ids=str)
def test_values_are_the_same_after_they_were_data(value):
    again = value_of(json.loads(json.dumps(DataWriter().data(value))))
    if isinstance(value, functools.partial):
        assert (again.func, again.args, again.keywords) == (value.func, value.args, value.keywords)
    elif isinstance(value, np.ndarray):
        assert (again.dtype, again.shape, again.tolist()) == (value.dtype, value.shape, value.tolist())
    else:
        assert again == value


def test_large_arrays_keep_their_shape_and_keys_of_jax_their_data():
    again = value_of(DataWriter().data(np.ones((20, 30), "float32")))
    assert again.shape == (20, 30) and again.dtype == "float32" and again.min() == 0 and again.max() == 1
    jax = pytest.importorskip("jax")
    key = value_of(DataWriter().data(jax.random.key(7)))
    assert (jax.random.key_data(key) == jax.random.key_data(jax.random.key(7))).all()


@pytest.mark.parametrize("value", [lambda x: x, object(), open, iter([])], ids=["lambda", "object", "open", "iterator"])
def test_other_values_have_no_form_as_data(value):
    if value is open:
        assert value_of(DataWriter().data(value)) is open
    else:
        with pytest.raises(NotDataError):
            DataWriter().data(value)


NUMBERED = """
import numpy as np
from jaxtyping import Float

class Features:
    def __init__(self, n: int, layers: int):
        self.w = np.random.default_rng(0).normal(size=(int(str(n)), 3))
        self.more = [np.eye(3) for _ in range(int(str(layers)))]

    def right(self, x: Float[np.ndarray, "b n"]) -> Float[np.ndarray, "b 3"]:
        y = x @ self.w
        for m in self.more:
            y = y @ m
        return y

    def of_another_name(self, x: Float[np.ndarray, "b d"]) -> Float[np.ndarray, "b 3"]:
        return x @ self.w

    def wrong(self, x: Float[np.ndarray, "b n"]) -> Float[np.ndarray, "b n"]:
        return x @ self.w
"""


def test_a_constructor_that_needs_numbers_gets_small_ones(tmp_path):
    pytest.importorskip("jaxtyping")
    (tmp_path / "numbered.py").write_text(NUMBERED)
    report = sb.lint(tmp_path / "numbered.py", cache=False)
    assert [c.status for c in report.functions] == ["partly", "partly", "finding"]
    assert "where d == 8, as of its object" in report.functions[1].reason
