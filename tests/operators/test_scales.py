"""Scales held against products of floats at many sizes."""

import pytest

from symbcast.operators.resizing import DOUBLE, SINGLE, SINGLE_NUDGED, scale_of

NUMBERS = [above / below for below in (1, 2, 3, 5, 7, 10, 49, 100) for above in range(1, 3 * below, 1 + below // 10)]


def double(size, scale):
    return int(size * scale)


def single(size, scale):
    np = pytest.importorskip("numpy")
    return int(np.float32(size) * np.float32(scale))


def nudged(size, scale):
    np = pytest.importorskip("numpy")
    return int(size * (float(np.float32(scale)) + 1e-6))


@pytest.mark.parametrize(
    ("rounding", "product"), [(DOUBLE, double), (SINGLE, single), (SINGLE_NUDGED, nudged)], ids=["64", "32", "nudged"]
)
def test_a_size_times_a_scale_is_the_product_of_floats(rounding, product):
    exact = 0
    for number in (*NUMBERS, 0.2999999999999, 1.2345678):
        scale = scale_of(number, rounding)
        assert [scale.times(size) for size in range(500)] == [product(size, number) for size in range(500)], number
        exact += scale.exact
    assert exact > len(NUMBERS) / 3


def test_a_scale_in_64_bits_that_rounds_down_past_an_integer_is_not_taken_for_its_fraction():
    torch = pytest.importorskip("torch")
    scale = scale_of(0.7, DOUBLE)
    assert not scale.exact and (scale.times(30), scale.times(90)) == (21, 62)
    image = torch.zeros(1, 1, 90)
    assert torch.ops.aten.upsample_nearest1d.vec(image, None, [0.7]).shape == (1, 1, 62)


@pytest.mark.parametrize("number", [float("inf"), float("nan")])
def test_what_is_not_finite_is_no_scale(number):
    assert scale_of(number, SINGLE) is scale_of(number, DOUBLE) is None
