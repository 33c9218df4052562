"""Functions of NumPy traced, and held against NumPy at all small sizes; and what a trace leaves as it was."""

import builtins
import gc
import json
import pickle
import sys
import threading
import types

import jsonschema
import numpy as np
import pytest
from numpy import linalg
from paths.held import held

import symbcast as sb

N_M = ("N, M",)
TWO = ("N, M", "K, L")
FUNCTIONS = {
    "add": (lambda x, y: x + y, "N, 3", "M, 1"),
    "trapezoid": (np.trapezoid, "N", "M"),
    "matmul": (lambda x, y: x @ y, *TWO),
    "reshape": (lambda x: x.reshape(-1, 4), *N_M),
    "halves": (lambda x: x[: x.shape[0] // 2] * x[x.shape[0] // 2 :], "N"),
    "len": (lambda x: x[: len(x) // 2], "N"),
    "cov": (np.cov, *N_M),
    "gradient": (np.gradient, *N_M),
    "kron": (np.kron, "N, M", "P, Q"),
    "svd": (linalg.svd, *N_M),
    "qr": (linalg.qr, *N_M),
    "inv": (linalg.inv, *N_M),
    "solve": (linalg.solve, *TWO),
    "lstsq": (linalg.lstsq, *TWO),
    "pinv": (linalg.pinv, *N_M),
    "norm": (linalg.norm, *N_M),
    "cross": (np.cross, "N, M", "N, K"),
    "eye": (np.eye, sb.size("N")),
    "linspace": (lambda n: np.linspace(0, 1, n), sb.size("N")),
    "windows": (np.lib.stride_tricks.sliding_window_view, "M", sb.size("N")),
    "average": (lambda x, w: np.average(x, weights=w), "N, M", "K"),
    "array_split": (lambda x: np.array_split(x, 3), "N"),
    "irfft": (np.fft.irfft, *N_M),
    "polyfit": (lambda x, y: np.polyfit(x, y, 2), "N", "M"),
    "hstack": (lambda x, y: np.hstack([x, y]), *TWO),
    "stack": (lambda x: np.stack([x, x * 2], -1), *N_M),
    "column_stack": (lambda x, y: np.column_stack([x, y]), "N", "K, L"),
    "diff": (lambda x: np.diff(x, 2), *N_M),
    "ediff1d": (np.ediff1d, "N"),
    "tensordot": (np.tensordot, "N, M, K", "M, K, P"),
    "einsum": (lambda a, b: np.einsum("ij,jk->ik", a, b), *TWO),
    "convolve": (np.convolve, "N", "M"),
    "interp": (np.interp, "N", "M", "K"),
    "argmax": (lambda x: x.argmax(0), *N_M),
    "pad": (lambda x: np.pad(x, 2, mode="reflect"), *N_M),
    "take": (lambda x: np.take(x, [0, 2], axis=1), *N_M),
    "argsort": (lambda x, y: y[np.argsort(x)], "N", "M"),
    "take_along_axis": (lambda x: np.take_along_axis(x, np.argsort(x, axis=1), 1), *N_M),
    "where": (np.where, "N, M", "M", "N, 1"),
    "tile a constant": (lambda x: np.tile([1.0, 2.0], (len(x), 1)), "N"),
    "repeat a constant": (lambda x: np.repeat(np.eye(3), len(x), axis=0), "N"),
    "insert": (lambda x: np.insert(x, 1, 0.0, axis=0), *N_M),
    "squeeze": (np.squeeze, *N_M),
    "diag": (lambda x: np.diag(x, 1), *N_M),
    "slices": (lambda x: x[1:-1, ::-2], *N_M),
    "ends": (lambda x: x[3:1:-1, 5:2], *N_M),
    "index": (lambda x: x[2] + x[-1], *N_M),
    "softmax": (lambda x: np.exp(x - x.max(-1, keepdims=True)) / np.exp(x).sum(-1, keepdims=True), *N_M),
    "outer": (lambda n: np.abs(np.subtract.outer(np.arange(n), np.arange(n))), sb.size("N")),
    "mask": (lambda x: x[x > 0], *N_M),
    "flip": (lambda x: np.flip(x, (0, 1)), *N_M),
    "fftshift": (lambda x: np.fft.ifftshift(np.fft.fftshift(x, 0)), *N_M),
    "sort": (lambda x, y: y[np.sort(np.argsort(x))], "N", "M"),
    "sort flat": (lambda x: np.sort(x, None), *N_M),
    "nan_to_num": (lambda x, y: np.nan_to_num(x, nan=y), *TWO),
    "nanvar": (lambda x: np.nanvar(x, 0), *N_M),
    "sinc": (np.sinc, *N_M),
    "sort_complex": (np.sort_complex, "N"),
    "size": (lambda x: np.zeros((np.size(x), np.size(x, 0), np.ndim(x))), *N_M),
    "distinct": (lambda x, y: len(set(map(len, (x, y)))) * np.ones(2), "N", "M"),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_trace_says_what_numpy_does(name):
    function, *arguments = FUNCTIONS[name]
    report = sb.trace(function, *arguments)
    found = held(report, function, *arguments, sizes=range(4), most=100)
    assert report.complete, report.reason
    assert not found.wrong
    assert found.right


def test_five_values_with_two_abscissas():
    report = sb.trace(np.trapezoid, "N", "M")
    assert report.guard()(N=5, M=2)
    assert not report.guard()(N=5, M=3)


def test_what_is_not_known_is_named_with_its_line():
    report = sb.trace(lambda x: np.busday_count(x, x), "N", observe=False)
    assert report.verdict is sb.Verdict.UNKNOWN
    assert "numpy.busday_count is not supported" in report.reason
    assert "test_trace.py" in report.reason


def test_an_unknown_function_is_no_failure_where_the_code_catches_what_it_raises():
    def careful(x):
        try:
            return np.busday_count(x, x)
        except Exception:
            return x

    assert not sb.trace(careful, "N").complete


def test_an_error_that_is_caught_is_a_way_on():
    def careful(x, y):
        try:
            return x + y
        except ValueError:
            return x

    report = sb.trace(careful, "N", "M")
    assert report.verdict is sb.Verdict.ALWAYS
    assert not held(report, careful, "N", "M").wrong


def test_a_type_error_that_the_code_raises_is_told_apart_from_our_own():
    report = sb.trace(lambda x, y: np.polyfit(x, y, 2), "N", "M")
    assert {c.error.partition(":")[0] for c in report.cases if c.error} == {"TypeError"}


def test_an_error_about_arguments_names_the_method_that_the_code_calls():
    for name in ("sum", "max", "var", "argmin", "cumsum"):
        (case,) = sb.trace(lambda x, name=name: getattr(x, name)(dim=1), "N, M").cases
        assert case.error == f"TypeError: {name}() got an unexpected keyword argument 'dim'"


def test_data_decide_what_sizes_do_not():
    report = sb.trace(lambda x: x[np.nonzero(x)[0]] if np.any(x) else x[:0], "N")
    assert report.complete
    assert report.data_sizes


# What is as it was before.


def snapshot():
    return {
        (module.__name__, name): id(value)
        for module in [m for m in list(sys.modules.values()) if isinstance(m, types.ModuleType)]
        for name, value in list(vars(module).items())
        if callable(value)
    }


def interrupt(x):
    raise KeyboardInterrupt


def fail(x):
    raise RuntimeError


@pytest.mark.parametrize("function", [np.mean, fail, interrupt])
def test_every_module_is_as_before_a_trace(function):
    sb.trace(np.cov, "N, M")  # what is loaded when it is first needed
    gc.collect()
    before = snapshot()
    try:
        sb.trace(function, "N, M")
    except KeyboardInterrupt:
        assert function is interrupt
    after = snapshot()
    assert {k: v for k, v in after.items() if k in before} == {k: v for k, v in before.items() if k in after}
    assert after.keys() <= before.keys()
    assert builtins.len is len
    assert np.asarray([1]).shape == (1,)


def test_a_module_loaded_in_a_trace_has_the_real_functions(tmp_path, monkeypatch):
    (tmp_path / "loaded_meanwhile.py").write_text("from numpy import asarray, zeros\n")
    monkeypatch.syspath_prepend(str(tmp_path))

    def function(x):
        import loaded_meanwhile

        return loaded_meanwhile.zeros(x.shape)

    assert sb.trace(function, "N").verdict is sb.Verdict.ALWAYS
    assert sys.modules.pop("loaded_meanwhile").asarray is np.asarray


def test_other_threads_get_the_real_functions():
    inside, go_on, found = threading.Event(), threading.Event(), []

    def function(x):
        inside.set()
        assert go_on.wait(10)
        return np.asarray(x)

    tracer = threading.Thread(target=lambda: found.append(sb.trace(function, "N")))
    tracer.start()
    assert inside.wait(10)
    real = np.asarray([1.0, 2.0])
    lengths = len(real), min(3, 2), np.zeros((2, 3)).shape
    go_on.set()
    tracer.join()
    assert type(real) is np.ndarray
    assert lengths == (2, 2, (2, 3))
    assert found[0].verdict is sb.Verdict.ALWAYS


# The report.


def unet(x, w):
    up = np.repeat(x[:, ::2], 2, axis=1)
    if w.shape[0] != x.shape[1]:
        raise ValueError("weights")
    return np.concatenate([x, up]) @ w, {"up": up + x}


@pytest.fixture(scope="module")
def report():
    return sb.trace(unet, "C, N", "M, K")


def test_findings_name_the_line_that_fails_first(report):
    lines = {f.source: f.text for f in report.findings}
    assert lines['raise ValueError("weights")'] == "N == M"
    assert lines['return np.concatenate([x, up]) @ w, {"up": up + x}'] == "N % 2 == 0"
    for finding in report.findings:
        sizes = finding.counterexample
        with pytest.raises(ValueError, match=r"weights|dimensions"):
            unet(np.ones((sizes["C"], sizes["N"])), np.ones((sizes["M"], sizes["K"])))


def test_shapes_stand_in_the_structure_of_the_result(report):
    assert report.shapes == (sb.shape("2*C, K"), {"up": sb.shape("C, M")})


def test_each_format_says_where(report):
    jsonschema.validate(report.to_dict(), report.json_schema())
    line = report.findings[0].line
    assert f":{line}: warning: unet" in report.report()
    assert f",line={line}," in report.report("github")
    (first, *_) = json.loads(report.report("sarif"))["runs"][0]["results"]
    assert first["locations"][0]["physicalLocation"]["region"] == {"startLine": line}
    assert json.loads(report.report("json"))["function"] == "unet"
    assert "unet" in report.explain()
    assert "<" in report._repr_html_()
    with pytest.raises(sb.ShapeTypeError):
        report.report("xml")


def test_an_incomplete_trace_is_not_shown_as_exact():
    report = sb.trace(lambda x: {i: row.sum() for i, row in enumerate(x)}, "N, M")
    assert report.verdict is sb.Verdict.OBSERVED
    assert report.unexplored.guard()(N=100)
    assert report.explain().partition("\n")[0].endswith(": proved for some sizes, observed at small ones")


# Promises.


def promising(text):
    module = types.ModuleType("promising")
    exec(compile(f"import numpy as np\nimport symbcast as sb\n{text}", "promising.py", "exec"), vars(module))
    return module


def test_promises_are_kept_or_broken():
    kept = "@sb.checked('N, D', 'M, D', returns='N, M')\ndef f(x, y):\n    return x @ y.T\n"
    asks = "@sb.checked('N, D', 'M, K', returns='N, M')\ndef f(x, y):\n    return x @ y.T\n"
    gives = "@sb.checked('N, D', returns='D')\ndef f(x):\n    return x.sum(1)\n"
    loops = "@sb.checked('N, D')\ndef f(x):\n    return [v.sum() for v in x]\n"
    assert sb.check_promises(promising(kept)) == ()
    (broken,) = sb.check_promises(promising(asks))
    assert (broken.is_known, "D and K are equal" in broken.message) == (True, True)
    (broken,) = sb.check_promises(promising(gives))
    assert "N == D" in broken.message
    (broken,) = sb.check_promises(promising(loops))
    assert not broken.is_known
    with pytest.raises(sb.ShapeTypeError):
        sb.check_promises(promising("def f(x): return x"))


class Adds:
    def __call__(self, x, y):
        return x + y


def test_a_promise_of_what_is_no_plain_function_has_a_line_too():
    adds = sb.checked("N", "M")(Adds())
    adds.__module__ = "promising"
    module = types.ModuleType("promising")
    module.adds = adds
    (broken,) = sb.check_promises(module)
    assert broken.file == __file__
    assert broken.message.startswith("it works only when N and M are equal")


def test_a_cache_of_shapes_keeps_none_of_a_trace():
    einops = pytest.importorskip("einops")

    def flat(x):
        return einops.rearrange(x, "b h w -> b (h w)")

    report = sb.trace(flat, "B, H, W")
    assert report.complete
    assert report.paths == 1
    assert flat(np.ones((2, 3, 4))).shape == (2, 12)


def test_a_case_has_the_message_of_what_fails_in_it():
    def padded(x):
        return np.pad(x, ((0, -len(x) % 8), (0, 0))).reshape(-1, 8, x.shape[1])  # the first asks that it be 0 or more

    _, failing = sb.trace(padded, "H, W").cases
    assert str(failing.condition) == "W == 0"
    assert failing.error == "ValueError: no size may be 0 next to a -1"


def test_text_where_an_array_was_meant_is_the_fix():
    """In keyword arguments text stays text: the fix says how to pass an array."""
    report = sb.trace(lambda x, mask: x * mask, "T, M", mask="T, M")
    assert report.verdict is sb.Verdict.NEVER
    assert report.findings[0].fix == "mask is text; for an array of this shape, write mask=symbcast.array('T, M')"
    same = sb.trace(lambda x, mode: np.convolve(x, x, mode), "T", mode="same")
    assert [finding.fix for finding in same.findings] == ["call it only where T >= 1, or check that before"]


def test_data_may_leave_nothing_whatever_the_minimum_size():
    def largest(x):
        chosen = x[x > 0]
        return chosen.max() if chosen.size else x.reshape(2, -1)

    report = sb.trace(largest, "N", min_size=1)
    assert report.verdict is sb.Verdict.SOMETIMES
    assert len(report.cases) == 3


def test_a_cell_has_the_name_that_the_notebook_shows(monkeypatch):
    name = "/tmp/ipykernel_7/11.py"
    compiler = types.SimpleNamespace(format_code_name=lambda file: ("Cell", "In[3]") if file == name else None)
    shell = types.SimpleNamespace(compile=compiler)
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    space = {}
    exec(compile("def sums(x, y):\n    return x + y\n", name, "exec"), space)
    finding = sb.trace(space["sums"], "N", "M").findings[0]
    assert finding.requirement.place == "In[3], line 2"


def test_the_text_of_a_run_is_the_same_before_and_after_all_its_findings():
    def steps(x, *weights):
        for w in weights:
            x = np.maximum(x @ w, 0) + x
        return x

    first, second = (sb.trace(steps, *(f"A{n}, C{n}" for n in range(5))) for _ in range(2))
    before = len(second.findings), len(second.cases), second.implies("A1 == C0")
    assert str(first) == str(second)
    assert f"{before[0] - 4} more; .findings has them all" in str(first)
    assert (len(first.findings), len(first.cases), first.implies("A1 == C0")) == before


def picked(x, i):
    return x[i]


def test_a_report_that_was_asked_can_be_pickled():
    report = sb.trace(picked, "N", sb.array("M", dtype="int64"))
    asked = report.to_dict(), report.witness(), str(report.certify())
    copy = pickle.loads(pickle.dumps(report))
    assert (copy.to_dict(), copy.witness(), str(copy.certify())) == asked


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.linalg.svd(x - np.mean(x, axis=0))[2],
        lambda x: np.linalg.svd(x / len(x), compute_uv=False),
        lambda x: np.linalg.svd(x / x.shape[1])[1],
    ],
)
def test_an_array_without_elements_has_none_that_are_not_finite(function):
    report = sb.trace(function, "N, D")
    assert report.verdict is sb.Verdict.ALWAYS
    assert not held(report, function, "N, D").wrong


def test_a_size_has_the_attributes_of_an_integer():
    report = sb.trace(lambda x: np.prod(x.shape).dtype, "N, M")
    assert "'int' object has no attribute 'dtype'" in report.reason


def swapped(x):
    p = np.argmax(np.abs(x[:, 0]))
    x = x.copy()
    x[[0, p]] = x[[p, 0]]
    return x


def sixth(x):
    return x[[5, np.argmax(x[:, 0])]]


def columns(x):
    return x[:, [np.argmax(x[0]), -1]]


@pytest.mark.parametrize(
    ("function", "condition", "shape"),
    [
        (swapped, "N >= 1 and M >= 1", "(N, M)"),
        (sixth, "N >= 6 and M >= 1", "(2, M)"),
        (columns, "N >= 1 and M >= 1", "(N, 2)"),
    ],
)
def test_a_list_of_indices_may_hold_some_that_data_decide(function, condition, shape):
    report = sb.trace(function, "N, M")
    assert report.complete and report.condition.equivalent(condition) and str(report.shapes) == shape
    assert not held(report, function, "N, M", sizes=range(8)).wrong


@pytest.mark.parametrize(
    ("function", "arguments", "condition"),
    [
        (lambda x, y: x.reshape(2 * len(y), -2), ["N, M", "K"], "K >= 1 and M*N % (2*K) == 0"),
        (lambda x: x.reshape(len(x) - 3), ["N"], "N <= 2"),
        (lambda x: x.reshape(len(x) - 3, -1), ["N"], "N >= 4 and N % (N - 3) == 0"),
    ],
)
def test_every_negative_size_of_a_reshape_is_what_is_left(function, arguments, condition):
    report = sb.trace(function, *arguments)
    assert report.complete and report.condition.equivalent(condition)
    assert not held(report, function, *arguments, sizes=range(7)).wrong


def some_kept(x):
    if len(x) > 2:
        kept = np.flatnonzero(x[2:] > 0)
        if len(kept) == 1:
            raise ValueError("one is not enough")
    return x


def test_what_one_path_supposes_about_data_is_no_requirement_of_others():
    report = sb.trace(some_kept, "N")
    assert not report.condition.implies("N >= 1")
    assert [report.guard(open=True)(N=n) for n in range(3)] == [True] * 3


def a_mean_as_integer(x, y):
    out = np.zeros(4, int)
    out[: y.ndim] = y.mean()
    return out, y[y > 0.5]


def twice_a_mean_as_integer(x):
    out = np.zeros(4, int)
    out[0] = x.mean() * 2
    return out


def test_a_mean_of_no_elements_is_no_integer():
    report = sb.trace(a_mean_as_integer, "N, M", "K, M")
    assert report.complete
    assert str(report.condition) == "K >= 1 and M >= 1"
    later = sb.trace(twice_a_mean_as_integer, "N, M").guard(open=False)
    assert [later(N=n, M=m) for n, m in [(0, 0), (0, 1), (1, 0), (1, 1)]] == [False, False, False, True]


def test_a_sum_of_true_elements_is_a_number_of_them():
    report = sb.trace(lambda x, y: y[: (x > 0).sum()] + y, "N", "M")
    assert [report.guard()(N=n, M=m) for n, m in [(0, 0), (0, 1), (0, 2), (1, 2), (3, 2)]] == [
        True,
        True,
        False,
        True,
        True,
    ]
    rows = sb.trace(lambda x, y: y.reshape((x > 0).sum(), 2), "N", "M")
    assert not rows.guard(open=False)(N=1, M=6)
    assert str(sb.trace(lambda x: np.zeros((x > 0).sum()), "N").verdict.value) == "always"


@pytest.mark.parametrize("name", ["any", "all"])
def test_any_and_all_take_a_type_and_then_the_output(name):
    # NumPy documents these methods without a type, and takes one.
    answer = sb.trace(lambda x, out: getattr(x, name)(0, None, out), "N, M", sb.array("K", dtype=bool))
    assert str(answer.condition) == "K == M"
    assert sb.trace(lambda x: getattr(x, name)(0, bool), "N, M").verdict is sb.Verdict.ALWAYS
    assert getattr(np.ones((2, 3)), name)(0, None, np.empty(3, bool)).shape == (3,)
    with pytest.raises(TypeError):
        getattr(np.ones((2, 3)), name)(0, np.empty(3, bool))
