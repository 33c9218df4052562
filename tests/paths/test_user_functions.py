"""Some functions as people write them, held against real runs; `user_functions.py` walks all of them."""

import pytest
from paths.user_functions import functions, outcome, row

FUNCTIONS = functions()
RIGHT = (
    "batched_solve", "attention", "multi_head", "tiles_cropped", "write_blocks", "fft_filter", "homogeneous",
    "flat_write", "out_self", "at_slice", "put_many", "fancy_mixed", "window_sizes", "ravel_multi", "dates",
    "windows_std", "segment_at", "structured", "lookup", "where_out", "padded_to", "rows", "fft_convolve", "pieces",
    "batch", "try_shapes", "try_reshape", "try_stack", "try_empty", "asserted", "defaults", "broadcast_write",
    "swap_rows", "hankel_svd", "partitioned", "gradient_descent", "beam_step", "report_metrics", "fft_convolution",
    "spectrogram", "overlap_add", "patches", "mosaic", "bounding_box", "trimmed_mean", "ar_fit", "euler_integrate",
    "thomas", "newton_root", "grid_square", "kde",
)  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_a_function_is_traced_rightly(name):
    assert outcome(FUNCTIONS[name])[0] == "right"


@pytest.mark.parametrize("name", ["matrix_class", "take_clip", "out_modf", "gather_windows"])
def test_what_is_not_known_is_not_said_wrongly(name):
    found, reason = outcome(FUNCTIONS[name])
    assert found in ("right", "unknown")
    assert bool(reason) == (found == "unknown")


@pytest.mark.parametrize("name", ["bisect_rows", "radix_fft", "collatz_shrink", "rounded_halves", "haar", "merge_sort"])
def test_what_halves_sizes_without_end_is_unknown_for_its_effort(name):
    found, reason, _ = row(FUNCTIONS[name])
    assert found == "unknown"
    assert "units of effort" in reason or "not followed" in reason


@pytest.mark.parametrize("name", ["ackermann", "reduce_pieces"])
def test_what_ends_is_followed_to_its_end(name):
    assert outcome(FUNCTIONS[name])[0] == "right"
