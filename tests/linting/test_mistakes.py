"""Functions with one mistake each: lint finds the mistakes, and nothing in the functions without them."""

import re
from pathlib import Path

import pytest

import symbcast as sb

DATA = Path(__file__).parents[1] / "data" / "lint"
FILES = {
    "numpy_mistakes": "numpy",
    "numpy_more_mistakes": "numpy",
    "jax_mistakes": "jax",
    "jax_more_mistakes": "jax",
    "torch_mistakes": "torch",
}
COUNT = dict(zip(FILES, (36, 20, 24, 22, 16), strict=True))


@pytest.fixture(params=FILES)
def file(request):
    pytest.importorskip(FILES[request.param])
    pytest.importorskip("jaxtyping")
    return DATA / f"{request.param}.py"


def corrected(text):
    """Return a file with the right code, which is in the comment of each wrong line."""
    return re.sub(r"^(\s*)\S.*  # (.*)$", r"\1\2", text, flags=re.M)


def test_every_mistake_is_found(file):
    report = sb.lint(file, cache=False)
    assert [c.function for c in report.functions if not c.findings] == []
    assert len(report.functions) == COUNT[file.stem]


def test_nothing_is_found_without_mistakes(file, tmp_path):
    (tmp_path / file.name).write_text(corrected(file.read_text("utf-8")), "utf-8")
    report = sb.lint(tmp_path / file.name, cache=False)
    assert report.findings == ()
    assert {c.status for c in report.functions} <= {"proved", "partly"}
    assert len(report.functions) == COUNT[file.stem]
