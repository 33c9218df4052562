"""What the newest release of torch says and does other than the modelled one, as it was recorded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from symbcast.torch import read_error

DATA = Path(__file__).parent.parent / "data" / "torch"
NEWEST = json.loads((DATA / "newest.json").read_text("utf-8"))
MODELLED = json.loads((DATA / "errors.json").read_text("utf-8"))

TAKES_EMPTY = {
    "_weight_norm",
    "_weight_norm_interface",
    *(f"fft_{name}" for name in ("fft", "fft2", "fftn", "ifft", "ifft2", "rfft", "rfft2", "rfftn")),
    *(f"fft_{name}" for name in ("hfft", "ihfft", "irfft", "irfft2")),
    "grid_sampler",
    "stft",
}
"""Operators that take tensors without elements in 2.15, and did not, or ended the process, in 2.13."""
REFUSES = {
    "_native_batch_norm_legit",
    "native_batch_norm",
    "native_group_norm",
    "group_norm",
    "cummax",
    "cummin",
    "reflection_pad2d",
    "replication_pad2d",
    "scaled_dot_product_attention",
}
"""Operators that refuse in 2.15 what they took in 2.13, or what ended the process."""


def test_the_record_is_of_the_newest_release():
    assert NEWEST["release"] == "2.15.0"


def test_operators_that_differ_are_known_by_name():
    assert {name.partition(".")[0] for name in NEWEST["operators"]} == TAKES_EMPTY | REFUSES
    for name, found in NEWEST["operators"].items():
        first = found["first"]
        assert found["differ"] > 0
        assert (first["now"] == "-") is (name.partition(".")[0] in REFUSES), name
        assert (first["before"] in "-!") is (name.partition(".")[0] in TAKES_EMPTY or first["before"] == "!"), name


def test_guards_that_differ_are_known_by_name():
    assert NEWEST["guards"] == {"segmenter": [], "spectrum": ["sound_dim_0 >= 2", "sound_dim_1 >= 64"]}


@pytest.mark.parametrize("name", NEWEST["messages"])
def test_messages_in_other_words_are_read_alike(name):
    says = [line for line in read_error(NEWEST["messages"][name]["text"]).explain().splitlines() if line[:1] != " "]
    assert says == MODELLED[name]["says"]
