"""Shapes in comments, docstrings and annotations of other libraries: what is read, and that it is checked."""

import re
from itertools import product
from pathlib import Path

import pytest

import symbcast as sb
from symbcast.linting.descriptions import axes_text, shape_in
from symbcast.linting.sources import read_source

pytest.importorskip("docstring_parser")
DATA = Path(__file__).parents[1] / "data" / "lint" / "described.py"

CERTAIN = [
    ("ndarray of shape (n_samples, n_features)", False, "n_samples n_features"),
    ("{array-like, sparse matrix} of shape (n, 3), default=None", False, "n 3"),
    ("(N, D) array", False, "N D"),
    ("(N x D) matrix of features", False, "N D"),
    ("(n, d)-shaped float array", False, "n d"),
    ("float tensor [B, 2*T + 1, ...]", False, "B 2*T+1 ..."),
    ("Input of shape ``[B, T, C]``. If given, it is used.", False, "B T C"),
    ("shape: (*batch, -1, None, ?)", True, "*batch _ _ _"),
    ("[B, T, C]", True, "B T C"),
    ("(b, k) the scores", True, "b {k}"),
    ("ndarray of shape ()", False, ""),
]
# What each may mean: an alternative, values or coordinates, intervals, words, a value that is a shape, no array.
UNCERTAIN = [
    "ndarray of shape (n, d) or (d,)",
    "array of shape (n,) if single, else (n, d)",
    "(n, d) array, or None",
    "tensor [x1, y1, x2, y2]",
    "array (left, right)",
    "a float array in [0, 1]",
    "array (optional)",
    "the shape (h, w)",
    "output size (h, w)",
    "the limits (low, high)",
    "list of arrays of shape (n, d)",
    "array of shape (H/2, W)",
    "array of shape (one of n, d)",
    "array of shape (x.shape[0], 3)",
    "maps (n, d) arrays to (n, m) arrays",
    "torch.Tensor[int64]",
    "tensor of shape [B1, ..., Bk, n]",
    "B, T, C",
    "array of shape (n, d",
]


@pytest.mark.parametrize(("text", "is_array", "axes"), CERTAIN)
def test_certain_shapes_are_read(text, is_array, axes):
    assert shape_in(text, is_array, ["k"]) == axes


@pytest.mark.parametrize("text", UNCERTAIN)
def test_nothing_uncertain_is_read(text):
    assert shape_in(text, is_array=False) is None


def test_texts_of_any_kind_are_read_without_an_error():
    pieces = ["(", ")", "[", "]", "*", "**", ",", "n", "3", "-", "//", ".", "(n, d) array", "é", "`", "lambda", "\0"]
    for parts in product(pieces, repeat=3):
        for text in ("".join(parts), f"array of shape ({''.join(parts)})"):
            shape_in(text, is_array=True)
            axes_text(text)


def test_mistakes_have_a_code_of_their_own():
    lines = DATA.read_text("utf-8").splitlines()
    wanted = [n for n, line in enumerate(lines, 1) if "SYM107" in line]
    report = sb.lint(DATA, cache=False, descriptions=True)
    functions = [f.function for f in report.findings]
    assert functions == [
        "pooled_over_channels",
        "swapped_distances",
        "extremes",
        "noted_wrongly",
        "of_nptyping_wrongly",
    ]
    assert {f.code for f in report.findings} == {"SYM107"}
    places = [f.line for f in report.findings]
    # Of a tuple the first item is the place.
    assert [abs(a - b) for a, b in zip(places, wanted, strict=True)] == [0, 0, 2, 0, 0]
    assert {c.function: c.status for c in report.functions if not c.findings} == {
        "pooled": "proved",
        "distances": "proved",
        "repeated": "proved",
        "noted": "proved",
        "of_nptyping": "partly",
    }


def test_names_of_one_field_are_parts_of_a_result(tmp_path):
    (tmp_path / "m.py").write_text(
        "import numpy as np\n\ndef f(x):\n"
        '    """Do.\n\n    Parameters\n    ----------\n    x : (n, d) ndarray\n\n'
        '    Returns\n    -------\n    low, high : (d,) ndarray\n    """\n    return x.min(0), x.max(0)\n'
    )
    report = sb.lint(tmp_path / "m.py", cache=False, descriptions=True)
    assert [c.status for c in report.functions] == ["proved"]


def test_descriptions_are_read_only_if_wanted(tmp_path, monkeypatch):
    assert sb.lint(DATA, cache=False).counts["finding"] == 0
    (tmp_path / "pyproject.toml").write_text("[tool.symbcast.lint]\ndescriptions = true\nignore = ['SYM107']\n")
    monkeypatch.chdir(tmp_path)
    report = sb.lint(DATA, cache=False)
    assert report.findings == ()
    assert report.counts == {"proved": 4, "partly": 6, "finding": 0, "unknown": 0, "skipped": 0}


def test_texts_of_notes_are_no_divided_expressions(tmp_path):
    (tmp_path / "m.py").write_text(
        "from typing import Annotated, Literal\nimport numpy as np\nimport symbcast as sb\n"
        'def f(x: Annotated[np.ndarray, sb.shape("N")], mode: Literal["a", "n - 1"] = "a", '
        'y: Annotated[float, "a - b"] = 0.5) -> Annotated[np.ndarray, sb.shape("N")]:\n    return x\n'
    )
    assert sb.lint(tmp_path / "m.py", cache=False).findings == ()


# Right descriptions in every style, and mutations of them: bodies with the shapes of their parameters and results.
BODIES = {
    "return x @ w": ({"x": "B T", "w": "T"}, "B"),
    "return x[:, None] * w": ({"x": "N", "w": "M"}, "N M"),
    "return np.swapaxes(x, -1, -2)": ({"x": "*batch n d"}, "*batch d n"),
    "return np.concatenate([x, w])": ({"x": "n d", "w": "m d"}, "n+m d"),
    "return np.stack([x, x])": ({"x": "n 3"}, "2 n 3"),
    "return np.fft.rfft(x).real": ({"x": "b t"}, "b t//2+1"),
}
NUMPYDOC = ("ndarray of shape ({})", "({}) array_like", "ndarray, shape ({}), not changed", "`({})` array")
GOOGLE = ("[{}] array of numbers", "array of shape [{}].", "An array with shape ({}) and more", "np.ndarray ({})")
COMMENTS = ("[{}]", "({}) the values", "shape: ({})", "of shape [{}]")


def listed(axes):
    items = axes.split()
    return f"{items[0]}," if len(items) == 1 else ", ".join(i.replace("+", " + ") for i in items)


def styles(name, body, parameters, returned):
    """The source of a function in each style."""
    head = f"def {name}_{{}}({', '.join(parameters)}):\n"
    for number, text in enumerate(NUMPYDOC):
        fields = "".join(f"    {p} : {text.format(listed(a))}\n        Words.\n" for p, a in parameters.items())
        out = f"    {text.format(listed(returned))}\n"
        doc = f"Do.\n\n    Parameters\n    ----------\n{fields}\n    Returns\n    -------\n{out}    "
        yield f'{head.format(f"n{number}")}    """{doc}"""\n    {body}\n'
    for number, text in enumerate(GOOGLE):
        fields = "".join(f"        {p}: {text.format(listed(a))}\n" for p, a in parameters.items())
        doc = f"Do.\n\n    Args:\n{fields}\n    Returns:\n        {text.format(listed(returned))}\n    "
        yield f'{head.format(f"g{number}")}    """{doc}"""\n    {body}\n'
        fields = "".join(f"    :param {p}: {text.format(listed(a))}\n" for p, a in parameters.items())
        doc = f"Do.\n\n{fields}    :returns: {text.format(listed(returned))}\n    "
        yield f'{head.format(f"r{number}")}    """{doc}"""\n    {body}\n'
    for number, text in enumerate(COMMENTS):
        fields = "".join(f"    {p}: np.ndarray,  # {text.format(listed(a))}\n" for p, a in parameters.items())
        yield f"def {name}_c{number}(\n{fields}) -> np.ndarray:  # {text.format(listed(returned))}\n    {body}\n"
    notes = [f"{p}: Annotated[np.ndarray, '({listed(a)})']" for p, a in parameters.items()]
    yield f"def {name}_a({', '.join(notes)}) -> Annotated[np.ndarray, '({listed(returned)})']:\n    {body}\n"


def mutations(axes):
    """Shapes that differ from a right one by one mistake."""
    items = axes.split()
    yield " ".join([*items, "1"])
    yield " ".join(items[1:]) if len(items) > 1 else "Q 7"
    for n, item in enumerate(items):
        for other in {*items, "7"} - {item}:
            if not other.startswith("*"):
                yield " ".join([*items[:n], other, *items[n + 1 :]])
    if len(items) > 1 and items[-1] != items[-2]:
        yield " ".join([*items[:-2], items[-1], items[-2]])


def file_of(tmp_path, sources):
    path = tmp_path / "generated.py"
    path.write_text("from typing import Annotated\nimport numpy as np\n\n\n" + "\n\n".join(sources), "utf-8")
    return path


def test_right_descriptions_are_proved_in_every_style(tmp_path):
    sources = [s for n, (body, (p, r)) in enumerate(BODIES.items()) for s in styles(f"f{n}", body, p, r)]
    report = sb.lint(file_of(tmp_path, sources), cache=False, descriptions=True)
    assert report.findings == ()
    assert report.unproved == tuple(u for u in report.unproved if "*batch of 0, 1, 2 axes" in u)
    assert len(report.functions) == len(sources) == 17 * len(BODIES)


def test_mutated_descriptions_are_found(tmp_path):
    sources = []
    for n, (body, (parameters, returned)) in enumerate(BODIES.items()):
        # Numbers alone may be values, and are read only after the word "shape".
        wrong_ones = [m for m in mutations(returned) if not m.replace(" ", "").isdecimal()]
        for k, wrong in enumerate(wrong_ones):
            every = list(styles(f"f{n}_{k}", body, parameters, wrong))
            sources.append(every[(5 * n + 7 * k) % len(every)])
    report = sb.lint(file_of(tmp_path, sources), cache=False, descriptions=True)
    assert [c.function for c in report.functions if not c.findings] == []
    assert len(report.functions) == len(sources) > 25
    assert {f.code for f in report.findings} == {"SYM107"}


def test_a_parameter_is_described_where_it_is_written():
    found = {f.name: dict(f.described) for f in read_source(str(DATA), descriptions=True).functions}
    lines = DATA.read_text("utf-8").splitlines()
    for parts in found.values():
        for one in (d for told in parts.values() for d in told if d.axes):
            first = re.split(r"\W+", one.axes)[0]
            assert first in lines[one.line - 1][one.column - 1 :]
