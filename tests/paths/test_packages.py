"""What other packages have compiled has stand-ins: traced, and held against the packages at all sizes to 4."""

from importlib import import_module

import numpy as np
import pytest
from paths.held import held

import symbcast as sb

linalg = pytest.importorskip("scipy.linalg")
distance = pytest.importorskip("scipy.spatial.distance")
fft = pytest.importorskip("scipy.fft")
ndimage = pytest.importorskip("scipy.ndimage")
signal = pytest.importorskip("scipy.signal")
stats = pytest.importorskip("scipy.stats")


def thin_svd(x):
    return linalg.svd(x, full_matrices=False)


def economic_qr(x):
    return linalg.qr(x, mode="economic")


def raw_qr(x):
    return linalg.qr(x, mode="raw")


def correlated(x):
    return distance.pdist(x, "correlation")


def filtered(b, a, x):
    return signal._sigtools._linear_filter(b, a, x)


def filtered_on(b, a, x, zi):
    return signal.lfilter(b, a, x, zi=zi)[1]


# Each: the function, its arguments, and when it works.
CASES = [
    (linalg.inv, ["A, B"], "A == B"),
    (linalg.eigh, ["A, B"], "A == B"),
    (linalg.eig, ["A, B"], "A == B"),
    (linalg.expm, ["A, B"], "A == B"),
    (linalg.svdvals, ["A, B"], "True"),
    (thin_svd, ["A, B"], "True"),
    (economic_qr, ["A, B"], "True"),
    (raw_qr, ["A, B"], "True"),
    (linalg.orthogonal_procrustes, ["A, B", "C, D"], "A == C and B == D"),
    (distance.cdist, ["A, B", "C, D"], "B == D"),
    (correlated, ["A, B"], "True"),
    (fft.fft2, ["A, B"], "A >= 1 and B >= 1"),
    (fft.irfft, ["A, B"], "B >= 2"),
    (fft.hfftn, ["A, B"], "A >= 1 and B >= 1"),
    (fft.dctn, ["A, B"], "A >= 1 and B >= 1"),
    (ndimage.sobel, ["A, B"], "True"),
    (signal.lfilter, ["A", "B", "C"], "A >= 1 and B >= 1 and (C >= 1 or B != 1)"),
    (filtered, ["A", "B", "C"], "A >= 1 or B >= 1"),
    (stats.kurtosis, ["A, B"], "True"),
]


@pytest.mark.parametrize("function", [linalg.solve_toeplitz, stats.scoreatpercentile], ids=lambda f: f.__name__)
def test_a_path_that_a_call_refutes_leaves_those_beside_it_unknown(function):
    traced = sb.trace(function, "A, B", "C, D")
    assert not traced.complete and traced.reason
    assert str(traced.condition) and str(traced.unexplored) != "False"


@pytest.mark.parametrize(("function", "arguments", "condition"), CASES, ids=lambda v: getattr(v, "__name__", None))
def test_a_compiled_function_is_traced_exactly(function, arguments, condition):
    report = sb.trace(function, *arguments)
    assert report.complete, report.reason
    assert report.condition.equivalent(condition)
    found = held(report, function, *arguments, sizes=range(5), most=125)
    assert not found.wrong
    assert not found.open


def test_initial_conditions_must_fit_a_filter():
    report = sb.trace(filtered_on, "3,", "2,", "A, B", "C, D")
    assert report.condition.equivalent("D == 2 and (C == A or C == 1)"), report.condition
    assert report.complete
    found = held(report, filtered_on, "3,", "2,", "A, B", "C, D", sizes=range(4))
    assert not found.wrong
    assert not found.open


def test_one_mask_takes_as_many_of_each():
    def same(x, y):
        mask = x > 0
        found = x.copy()
        found[mask] = y[mask] * 2
        found[~mask] = y[~mask] + x[~mask]
        return found

    def other(x, y):
        mask = x > 0
        taken = x[mask]
        mask[:1] = True
        return taken + y[mask]

    assert sb.trace(same, "N", "N").verdict is sb.Verdict.ALWAYS
    assert sb.trace(other, "N", "N").verdict is sb.Verdict.SOMETIMES


def test_the_python_code_of_a_compiled_function_is_followed():
    numba = pytest.importorskip("numba")

    @numba.njit
    def products(x, y):
        found = np.zeros((x.shape[0], y.shape[0]))
        for i in range(x.shape[0]):
            for j in range(y.shape[0]):
                found[i, j] = np.sum(x[i] * y[j])
        return found

    report = sb.trace(lambda x, y: products(x, y) + 1, "N, D", "M, E")
    assert str(report.cases[0].value) == "(N, M)"
    assert report.unexplored.equivalent("D != E and D != 1 and E != 1 and N != 0 and M != 0")  # it need not raise
    assert not products.signatures  # it was not compiled while stand-ins were in its module


def test_loops_of_other_modules_of_a_package_are_followed(tmp_path, monkeypatch):
    (tmp_path / "a_package").mkdir()
    (tmp_path / "a_package" / "__init__.py").touch()
    (tmp_path / "a_package" / "inner.py").write_text("def doubled(x):\n    return [row * 2 for row in x]\n")
    outer = "import numpy as np\nfrom a_package import inner\n\ndef outer(x):\n    return np.stack(inner.doubled(x))\n"
    (tmp_path / "a_package" / "outer.py").write_text(outer)
    monkeypatch.syspath_prepend(tmp_path)
    report = sb.trace(import_module("a_package.outer").outer, "N, D")
    assert report.complete
    assert report.condition.equivalent("N >= 1")


def test_paths_that_are_open_for_two_reasons_at_one_size_have_a_region():
    # A refuted path shared its sizes with those that were not followed: the verdict was a ValueError.
    morphology = pytest.importorskip("skimage.morphology")
    report = sb.trace(morphology.area_opening, "A, B")
    assert report.verdict in (sb.Verdict.OBSERVED, sb.Verdict.SOMETIMES)
    assert report.account.open
