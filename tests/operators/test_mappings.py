"""The table of shape functions in `symbcast/operators/README.md`, held against what front ends import."""

import ast
import re
from importlib import import_module
from pathlib import Path

import symbcast.operators
from symbcast.operators.operator import FAMILIES

OPERATORS = Path(symbcast.operators.__file__).parent
ROOT = OPERATORS.parent
FOLDERS = {
    "ONNX": ("onnx/operators", "onnx"),
    "OpenVINO": ("openvino/operators",),
    "StableHLO": ("stablehlo/operators",),
    "LiteRT": ("litert/operators",),
    "torch": ("torch/operators", "torch"),
    "graphs": ("graphs/walking",),
    "tracers": ("arrays", "jax"),
}


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def table():
    """Return the rows, each a mapping from the heading of a column to its cell."""
    lines = [line for line in (OPERATORS / "README.md").read_text("utf-8").splitlines() if line.startswith("| ")]
    start = next(n for n, line in enumerate(lines) if line.startswith("| operators |"))
    return [dict(zip(cells(lines[start]), cells(line), strict=True)) for line in lines[start + 1 :]]


def module_of(row):
    """Return the module that a row is about, from `symbcast.operators` on."""
    (path,) = re.findall(r"`([\w/]+)\.py`", row["operators"])
    return path.replace("/", ".")


def users(module):
    """Return the files of front ends that import a module of shape functions."""
    return {
        path
        for folder in ("onnx", "openvino", "stablehlo", "litert", "torch", "graphs", "arrays", "jax")
        for path in (ROOT / folder).rglob("*.py")
        if imports(path, module)
    }


def imports(path, module):
    folder, _, name = f"symbcast.operators.{module}".rpartition(".")
    nodes = [n for n in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(n, ast.ImportFrom)]
    return any(
        n.module == f"symbcast.operators.{module}" or (n.module == folder and name in {a.name for a in n.names})
        for n in nodes
    )


def named(row):
    """Return the files that a row names."""
    found = set()
    for column, folders in FOLDERS.items():
        for name in re.findall(r"`([\w/]+)`", row[column]):
            paths = [ROOT / folder / f"{name}.py" for folder in folders]
            found.add(next((path for path in paths if path.exists()), f"{column}: {name}"))
    return found


def test_each_function_of_the_table_is_there():
    for row in table():
        module = module_of(row)
        functions = re.findall(r"`(\w+)`", row["functions"])
        assert functions
        for function in functions:
            assert callable(getattr(import_module(f"symbcast.operators.{module}"), function)), function


def test_each_mapping_imports_its_functions_and_none_is_left_out():
    for row in table():
        module = module_of(row)
        assert named(row) == users(module), row["operators"]


def test_each_module_of_shape_functions_has_a_row():
    assert [module_of(row) for row in table()] == list(FAMILIES)
