"""Short names of sizes: which sizes have one, where people read them, and that data keep the model's own names."""

import json
import re

import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import parser
from pages import Page, check_latex

import symbcast as sb
from symbcast.answers.show.document import Document, Fields, NamedSizes, Shortener, Span, field
from symbcast.cli import run
from symbcast.errors import AssumptionError, BindingError

HEAD = '<ir_version: 9, opset_import: ["" : 18]> '
P2O = ("p2o.DynamicDimension.0", "p2o.DynamicDimension.1", "p2o.DynamicDimension.2")
OWN_NAMES = {"N": P2O[0], "H": P2O[1], "W": P2O[2]}


def model(sizes, nodes, more=""):
    return parser.parse_model(f"{HEAD}g (float[{sizes}] image, float[8, 3, 4, 4] w{more}) => (float[] y) {{ {nodes} }}")


def halves(names=P2O):
    """Return a model of an image that is made half as large and twice as large, and added to itself."""
    n, h, w = (f'"{name}"' for name in names)
    nodes = """
        small = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (image)
        scales = Constant <value_floats = [1.0, 1.0, 2.0, 2.0]> ()
        large = Resize <mode = "nearest"> (small, , scales)
        y = Add(large, image)
    """
    return model(f"{n}, 3, {h}, {w}", nodes)


def test_sizes_of_an_image_are_called_by_their_roles():
    report = sb.onnx.check(halves())
    assert report.aliases == OWN_NAMES
    text = report.explain()
    assert text.endswith(
        "names        N = p2o.DynamicDimension.0\n"
        "             H = p2o.DynamicDimension.1\n"
        "             W = p2o.DynamicDimension.2"
    )
    before = text[: text.index("names  ")]
    assert "p2o" not in before
    assert not any(name in before for name in P2O)


def test_data_keep_the_own_names():
    report = sb.onnx.check(halves())
    found = report.to_dict()
    assert found["aliases"] == OWN_NAMES
    assert "DynamicDimension.1" in found["condition"] and set(found["witness"]) == set(P2O)
    assert {str(s) for s in report.condition.sympy.free_symbols} == set(P2O[1:])
    assert str(report.shapes["image"]) == f"({P2O[0]}, 3, {P2O[1]}, {P2O[2]})"
    assert set(report.counterexample()) == set(P2O)
    assert all(not re.search(r"\b[NHW] ", f.text) for f in report.findings)
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.validate(json.loads(json.dumps(found)), report.json_schema())


def test_short_identifiers_are_never_changed():
    report = sb.onnx.check(halves(("N", "height", "width_of_an_imag")))
    assert report.aliases == {}
    assert "names  " not in report.explain()
    long = sb.onnx.check(halves(("N", "height", "width_of_an_image")))
    assert long.aliases == {"W": "width_of_an_image"}


def test_a_role_that_is_taken_is_numbered():
    report = sb.onnx.check(halves(("N", "W", P2O[2])))
    assert report.aliases == {"i3": P2O[2]}
    nodes = "y = MaxPool <kernel_shape = [2, 2]> (image) z = MaxPool <kernel_shape = [2, 2]> (i_mask)"
    names = ", ".join(f'"{name}.of.mask"' for name in P2O)
    twice = sb.onnx.check(model(", ".join(f'"{p}"' for p in (*P2O, "x")), nodes, f", float[{names}, x] i_mask"))
    assert list(twice.aliases) == ["N", "C", "H", "i0", "i1", "i2"]


@pytest.mark.parametrize(
    ("name", "alias"),
    [
        ("batch-size", "batch_size"),
        ("DynamicDimension.0", "t0"),
        ("the_length_of_all_tokens", "t0"),
        ("unk__1234", None),
    ],
)
def test_other_sizes_have_their_identifier_or_input_and_axis(name, alias):
    found = parser.parse_model(f'{HEAD}g (float["{name}", 3] tokens) => (float[] y) {{ y = Neg(tokens) }}')
    assert list(sb.onnx.check(found).aliases) == ([] if alias is None else [alias])


def test_a_name_of_a_value_has_no_alias():
    name = "the_lengths_of_all_inputs"
    found = parser.parse_model(f'{HEAD}g (float["{name}", 3] x) => (float[] y) {{ {name} = Shape(x) y = Neg(x) }}')
    assert sb.onnx.check(found).aliases == {}


def test_names_that_a_caller_gives_have_none():
    report = sb.onnx.check(halves(), shapes={"image": "N, 3, the_height_of_the_image, H"})
    assert report.aliases == {}
    assert "the_height_of_the_image" in report.explain()


def test_both_names_are_read():
    own, short = (
        [
            sb.onnx.check(halves(), assume=f"{h} % 2 == 0", bind={w: 6}),
            sb.onnx.check(halves(), assume=[f"{h} % 2 == 0", f"{w} >= 4"]),
        ]
        for h, w in ((P2O[1], P2O[2]), ("H", "W"))
    )
    for first, second in zip(own, short, strict=True):
        assert first.condition == second.condition and first.verdict is second.verdict
        assert first.witness() == second.witness()
    report = sb.onnx.check(halves())
    for name in ("H", P2O[1]):
        assert report.implies(f"{name} == 1 or {name} % 2 == 0")
        assert not report.implies(f"{name} % 2 == 0")
    alone = sb.onnx.check(halves(), bind={"W": 4})
    assert alone.equivalent("H == 1 or H % 2 == 0") and alone.equivalent(f"{P2O[1]} == 1 or {P2O[1]} % 2 == 0")
    shaped = parser.parse_model(
        f'{HEAD}g (float["{P2O[0]}", 8] x, int64[2] sizes) => (float[] y) {{ y = Reshape(x, sizes) }}'
    )
    (alias,) = sb.onnx.check(shaped).aliases
    for name in (alias, P2O[0]):
        assert sb.onnx.check(shaped, values={"sizes": f"4, 2*{name}"}).verdict is sb.Verdict.ALWAYS


def test_wrong_names_are_errors():
    with pytest.raises(BindingError, match="no size named 'K'"):
        sb.onnx.check(halves(), bind={"K": 3})
    with pytest.raises(BindingError, match="bound to 4 and to 6"):
        sb.onnx.check(halves(), bind={"H": 4, P2O[1]: 6})
    with pytest.raises(AssumptionError, match="mentions K"):
        sb.onnx.check(halves(), assume="K % 2 == 0")


def test_every_output_has_the_aliases_and_their_legend(tmp_path, capsys):
    path = tmp_path / "halves.onnx"
    onnx.save(halves(), path)
    report = sb.onnx.check(path)
    page, latex = Page(report._repr_html_()).text, check_latex(report._repr_latex_())
    assert "H = p2o.DynamicDimension.1" in page and page.count("p2o.Dyn") == 3
    assert r"\text{names}" in latex and latex.count("p2o") == 3
    assert "p2o" not in repr(report) and " if " in repr(report)
    for options in ([], ["--format", "github"]):
        assert run(["model", str(path), *options]) == 1
        assert "H = p2o.DynamicDimension.1" in capsys.readouterr().out
    assert run(["model", str(path), "--bind", "W=4", "--assume", "H % 2 == 0"]) == 0
    assert "assuming     H % 2 == 0; W == 4" in capsys.readouterr().out
    assert run(["model", str(path), "--bind", f"{P2O[2]}=4", "--assume", f"{P2O[1]} % 2 == 0"]) == 0
    assert run(["model", str(path), "--bind", "K=4"]) == 2


NAMES = ("p2o.D.1", "p2o.D.10", "a name", "pixel_values_axis_2", "pixel_values_axis_22")


@settings(max_examples=300)
@given(st.lists(st.sampled_from([*NAMES, "H", " + ", "//", "/", ".", "'", "(", ")", ", ", "x", "2*"]), max_size=9))
def test_only_whole_names_are_replaced(parts):
    aliases = {f"s{n}": name for n, name in enumerate(NAMES)}
    text = "".join(parts)
    made = Shortener(aliases).text(text)
    back = made
    for alias, name in aliases.items():
        back = re.sub(rf"(?<![\w.]){alias}(?!\w)", repr(name) if " " in name else name, back)
    assert back == text
    assert Shortener(aliases).text(made) == made


def test_mathematics_has_aliases_too():
    line = (Span("'a name'=3", math=NamedSizes({"a name": 3, "N": 1})),)
    (block, _) = Shortener({"n": "a name"}).document(Document((), None, (Fields((field("at", line),)),))).blocks
    assert block.fields[0].lines[0][0].math == NamedSizes({"n": 3, "N": 1})
