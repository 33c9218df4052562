"""Some functions as people write them, held against real runs; `user_functions.py` walks all of them."""

import pytest
from paths.user_functions import functions, outcome

FUNCTIONS = functions()
RIGHT = (
    "batched_solve", "attention", "multi_head", "tiles_cropped", "write_blocks", "fft_filter", "homogeneous",
    "flat_write", "out_self", "at_slice", "put_many", "fancy_mixed", "window_sizes", "ravel_multi", "dates",
)  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_a_function_is_traced_rightly(name):
    assert outcome(FUNCTIONS[name])[0] == "right"


@pytest.mark.parametrize("name", ["matrix_class", "take_clip", "out_modf", "gather_windows"])
def test_what_is_not_known_is_not_said_wrongly(name):
    found, reason = outcome(FUNCTIONS[name])
    assert found in ("right", "unknown")
    assert bool(reason) == (found == "unknown")
