"""Adapters are loaded when they are used, and a framework that is missing is asked for by its extra."""

from __future__ import annotations

import subprocess
import sys

import pytest

import symbcast as sb

FRAMEWORKS = ["jax", "onnx_ir", "openvino", "torch"]
EXTRAS = {"jax": "jax", "onnx_ir": "onnx-ir", "openvino": "openvino", "torch": "torch"}


def test_importing_symbcast_loads_no_framework():
    code = """
import sys, symbcast
assert not any(m.startswith("symbcast.adapters") for m in sys.modules)
symbcast.adapters
symbcast.broadcast("N, 3", "M, 1").condition
for name in symbcast.adapters.__all__:
    getattr(symbcast.adapters, name)
assert not {"jax", "jaxlib", "onnx_ir", "openvino", "torch"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_there_are_no_other_adapters():
    assert set(sb.adapters.__all__) == set(dir(sb.adapters))
    with pytest.raises(AttributeError, match="tensorflow"):
        _ = sb.adapters.tensorflow


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_a_missing_framework_is_named(name, monkeypatch):
    for module in [m for m in sys.modules if m.partition(".")[0] == name]:
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setitem(sys.modules, name, None)
    adapter = getattr(sb.adapters, name)
    with pytest.raises(sb.MissingExtraError, match=rf"pip install '\.\[{EXTRAS[name]}\]'"):
        adapter.read((1, 2))
    with pytest.raises(sb.MissingExtraError, match=rf"pip install '\.\[{EXTRAS[name]}\]'"):
        adapter.write("n", **({"min_size": 1} if name != "onnx_ir" else {}))


def test_dims_of_unknown_classes_keep_their_error():
    class Size:
        pass

    with pytest.raises(sb.ShapeTypeError, match="a name such as 'N'"):
        sb.shape((Size(),))
