"""Shapes of variables, compared with those of real calls at small sizes, which another reader of frames notes."""

import importlib.util
import random
import re
import sys
from pathlib import Path

import pytest

np = pytest.importorskip("numpy")
pytest.importorskip("jaxtyping")
from symbcast.linting.running import run  # noqa: E402
from symbcast.linting.sources import LintConfig, read_source  # noqa: E402

FILE = Path(__file__).parents[1] / "data" / "lint" / "assigned.py"


def broadcast(*sizes):
    (size,) = {s for s in sizes if s != 1} or {1}
    return size


def value(text, at):
    """Return a shape or a size in a hint at some sizes; None where it has no value."""
    try:
        return eval(text, {"broadcast": broadcast, "min": min, "max": max}, dict(at))
    except (ValueError, ZeroDivisionError):
        return None


def real_shapes(function, arguments, assigned):
    """Return the shapes and numbers that variables have in a call, after the last line of their statement."""
    seen = {}

    def called(frame, event, argument):
        if frame.f_code is not function.__code__:
            return None
        last = [0]

        def step(frame, event, argument):
            for a in assigned if event in ("line", "return") else ():
                now = frame.f_lineno if event == "line" else 0
                if last[0] and a.first <= last[0] <= a.last and not a.first < now <= a.last:
                    seen.setdefault((a.line, a.column), set()).update({frame.f_locals.get(a.name)} - {None})
            last[0] = frame.f_lineno if event == "line" else 0
            return step

        def kept(frame, event, argument):
            # Arrays have no hash: their shapes are noted.
            local = {n: getattr(v, "shape", v) for n, v in frame.f_locals.items()}
            local = {n: v for n, v in local.items() if isinstance(v, (tuple, int))}
            step(Frame(frame.f_lineno, local), event, argument)
            return kept

        return kept

    sys.settrace(called)
    try:
        function(*arguments)
    except ValueError:
        pass
    finally:
        sys.settrace(None)
    return seen


class Frame:
    def __init__(self, line, local):
        self.f_lineno, self.f_locals = line, local


def test_hints_are_the_shapes_of_real_calls():
    report = run(LintConfig(paths=(str(FILE),), cache=False, shapes=True, jobs=1))
    spec = importlib.util.spec_from_file_location("assigned", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sources = {f.name: f for f in read_source(str(FILE)).functions}
    compared = 0
    for checked in report.functions:
        function = getattr(module, checked.function)
        axes = [h.dim_str.split() for n, h in function.__annotations__.items() if n != "return"]
        draw = random.Random(checked.function)
        for _ in range(12):
            at = {name: draw.randint(1, 7) for shape in axes for name in shape}
            arguments = [np.ones([at[n] for n in shape]) for shape in axes]
            real = real_shapes(function, arguments, sources[checked.function].assigned)
            for shape in checked.shapes:
                texts = [] if shape.text == "..." else shape.text.split(" or ")
                values = {value(re.sub(r"\s*\?$", "", t), at) for t in texts}
                for one in real.get((shape.line, shape.column), ()) if texts else ():
                    assert one in values, (checked.function, shape, at, one)
                    compared += 1
    assert compared > 150
