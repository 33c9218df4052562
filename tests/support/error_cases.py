"""Modules and calls that make torch report sizes, by the message that they are for.

Each case is a function of no arguments that raises an error of torch, or returns its text. An export case also has
``Export``: the module, its arguments and the dynamic shapes that torch refuses.
"""

from __future__ import annotations

import io
import logging
import warnings
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch
from torch.export import Dim, export
from torch.nn import functional


def module(function):
    """Return a module whose ``forward`` is a function."""
    kind = type("Net", (torch.nn.Module,), {"forward": staticmethod(function)})
    return kind()


@dataclass
class Export:
    """An export that torch refuses."""

    module: torch.nn.Module
    args: tuple
    dynamic_shapes: object
    kwargs: dict = field(default_factory=dict)

    def __call__(self):
        export(self.module, self.args, self.kwargs, dynamic_shapes=self.dynamic_shapes)


@dataclass
class Run:
    """A call of an exported program with other sizes than it accepts."""

    export: Export
    args: tuple
    has_guards: bool = True

    def __call__(self):
        made = self.export
        program = export(made.module, made.args, made.kwargs, dynamic_shapes=made.dynamic_shapes)
        program.module(check_guards=self.has_guards)(*self.args)


def x(*shape):
    return torch.zeros(shape)


def named(*names):
    return {axis: Dim(name) for axis, name in enumerate(names) if name}


def exported(function, args, dynamic_shapes):
    return Export(module(function), args, dynamic_shapes)


def halves(x):
    half = x.shape[2] // 2
    return (
        functional.interpolate(functional.max_pool2d(functional.max_pool2d(x, 2), 2), scale_factor=2)
        + x[:, :, :half, : x.shape[3] // 2]
    )


EXPORTS = {
    "divisible": lambda: exported(lambda x: x.view(-1, 4), (x(8),), {"x": named("n")}),
    "not_one_after_pool": lambda: exported(
        lambda x: functional.max_pool1d(x, 5)[..., 0] + 1, (x(2, 3, 25),), {"x": named("", "", "t")}
    ),
    "unet": lambda: exported(halves, (x(1, 3, 32, 32),), {"x": named("", "", "H", "W")}),
    "equal": lambda: exported(lambda x, y: x + y, (x(5), x(5)), {"x": named("a"), "y": named("b")}),
    "equal_three": lambda: exported(
        lambda x, y, z: x + y + z, (x(5), x(5), x(5)), {"x": named("a"), "y": named("b"), "z": named("c")}
    ),
    "related": lambda: exported(lambda x, y: torch.cat([x, x]) + y, (x(5), x(10)), {"x": named("a"), "y": named("b")}),
    "related_plus": lambda: exported(lambda x, y: x[1:] + y, (x(5), x(4)), {"x": named("a"), "y": named("b")}),
    "fixed_by_weight": lambda: Export(torch.nn.Linear(6, 2), (x(3, 6),), {"input": named("", "features")}),
    "fixed_by_check": lambda: exported(lambda x: x * 2 if x.shape[0] == 4 else x, (x(4),), {"x": {0: Dim.DYNAMIC}}),
    "fixed_by_int": lambda: exported(
        lambda x: x * int(x.shape[0]) + [1, 2, 3, 4][x.shape[0] - 4], (x(4),), {"x": named("n")}
    ),
    "fixed_by_range": lambda: exported(lambda x: sum(x[i] for i in range(x.shape[0])), (x(4, 2),), {"x": named("n")}),
    "fixed_by_solving": lambda: exported(
        lambda x, y: x[: x.shape[0] // 2] + y[: y.shape[0] - 3] if 2 * y.shape[0] == x.shape[0] + 6 else x,
        (x(6), x(6)),
        {"x": named("a"), "y": named("b")},
    ),
    "same_dim_fixed": lambda: exported(lambda x: x.reshape(x.shape[0] * 2, 2), (x(4, 4),), {"x": named("n", "n")}),
    "at_most": lambda: exported(
        lambda x: x + torch.arange(512.0)[: x.shape[0]], (x(8),), {"x": {0: Dim("seq", max=1024)}}
    ),
    "at_least": lambda: exported(lambda x: x[10:].max() if x.shape[0] > 20 else x, (x(32),), {"x": named("t")}),
    "out_of_range": lambda: exported(lambda x: x + 1, (x(8),), {"x": {0: Dim("n", min=2, max=4)}}),
    "branch": lambda: exported(lambda x: x * 2 if x.shape[0] > 16 else x, (x(8),), {"x": named("n")}),
    "two_branches": lambda: exported(
        lambda x: x * 2 if 3 < x.shape[0] < 16 and x.shape[1] % 3 == 1 else x, (x(8, 10),), {"x": named("n", "m")}
    ),
    "example_of_one": lambda: exported(lambda x: x + 1, (x(1, 4),), {"x": named("batch")}),
    "example_of_one_dynamic": lambda: exported(lambda x: x + 1, (x(1, 4),), {"x": {0: Dim.DYNAMIC}}),
    "lstm_batch": lambda: Export(
        torch.nn.LSTM(4, 3, batch_first=True),
        (x(2, 5, 4), (x(1, 2, 3), x(1, 2, 3))),
        {"input": named("batch", "time"), "hx": (named("", "b"), named("", "b2"))},
    ),
    "hard_written_view": lambda: exported(lambda x: x.view(2, 3, -1) + 1, (x(6, 5),), {"x": named("batch")}),
    "hard_written_batch": lambda: exported(
        lambda x: x.reshape(8, 12).reshape(8, 3, 4) + 1, (x(8, 3, 4),), {"x": named("batch")}
    ),
    "quotients": lambda: exported(
        lambda x, y: x.unfold(0, 4, 2).sum(1) + y, (x(18), x(8)), {"x": named("a"), "y": named("b")}
    ),
    "nested": lambda: exported(
        lambda xs, more: xs[0] + xs[1]["k"] + more["m"],
        ([x(5), {"k": x(5)}], {"m": x(5)}),
        {"xs": [named("a"), {"k": named("b")}], "more": {"m": named("c")}},
    ),
    "star_args": lambda: exported(lambda *a: a[0] + a[1], (x(5), x(5)), {"a": (named("p"), named("q"))}),
    "pixel_shuffle": lambda: exported(
        lambda x: functional.pixel_unshuffle(x, 2), (x(1, 3, 8, 12),), {"x": named("", "", "H", "W")}
    ),
    "heads": lambda: exported(
        lambda x: x.view(x.shape[0], 8, x.shape[1] // 8, 2).transpose(1, 2), (x(2, 32, 2),), {"x": named("", "T")}
    ),
    "split_in_three": lambda: exported(lambda x: sum(torch.split(x, x.shape[0] // 3)), (x(12, 2),), {"x": named("n")}),
    "dtype_of_key": lambda: exported(
        lambda q, k: q @ k.transpose(0, 1), (x(4, 8), x(5, 8)), {"q": named("", "d"), "k": named("", "e")}
    ),
}
"""Exports that torch refuses because of sizes."""

SPECS = {
    "too_few_axes": lambda: exported(lambda x: x, (x(2, 3),), {"x": (Dim("a"),)}),
    "unknown_argument": lambda: exported(lambda x: x, (x(2, 3),), {"image": {0: Dim("a")}}),
    "dim_of_number": lambda: exported(lambda x, n: x * n, (x(2), 3.5), {"x": None, "n": {0: Dim("a")}}),
    "structure": lambda: exported(lambda x: x[0] + x[1], ([x(2), x(2)],), {"x": [None]}),
    "structure_kind": lambda: exported(lambda x: x[0] + x[1], ([x(2), x(2)],), {"x": {0: {0: Dim("a")}}}),
    "two_definitions": lambda: exported(
        lambda x, y: x.sum() + y.sum(), (x(4), x(4)), {"x": {0: Dim("n", max=8)}, "y": {0: Dim("n", max=9)}}
    ),
    "not_of_the_form": lambda: exported(lambda x: x + 1, (x(5),), {"x": {0: 2 * Dim("n")}}),
    "not_a_dim": lambda: exported(lambda x: x + 1, (x(5),), {"x": {0: "batch"}}),
}
"""Dynamic shapes that do not fit the arguments."""


def _data(function, *args, **shapes):
    return exported(function, args, shapes or None)


DATA = {
    "item_branch": lambda: _data(lambda x: x.sum() if x.sum().item() > 1 else x.max(), torch.ones(3)),
    "item_size": lambda: _data(
        lambda n, y: y[: n.item()].reshape(-1, 2) if n.item() == 4 else y, torch.tensor(4), x(8, 2)
    ),
    "nonzero_branch": lambda: _data(lambda x: x.nonzero() * 2 if x.nonzero().shape[0] > 3 else x, torch.ones(4)),
    "masked_add": lambda: _data(lambda x, m: x[m] + x[:3] if x[m].shape[0] == 3 else x, x(4), torch.ones(4) > 0),
    "item_range": lambda: _data(lambda n, y: sum(y[i] for i in range(n.item())), torch.tensor(3), x(8, 2)),
}
"""Programs whose sizes depend on data."""

RUNS = {
    "run_fixed": lambda: Run(exported(lambda x: x + 1, (x(4, 3),), {"x": named("n")}), (x(4, 5),)),
    "run_at_most": lambda: Run(exported(lambda x: x + 1, (x(4),), {"x": {0: Dim("n", max=16)}}), (x(20),)),
    "run_at_least": lambda: Run(exported(lambda x: x + 1, (x(9),), {"x": {0: Dim("n", min=8)}}), (x(5),)),
    "run_equal": lambda: Run(
        exported(lambda x, y: x + y, (x(4), x(4)), {"x": {0: Dim.AUTO}, "y": {0: Dim.AUTO}}), (x(4), x(5))
    ),
    "run_form": lambda: Run(exported(lambda x: x.view(-1, 2), (x(4),), {"x": {0: 2 * Dim("h")}}), (x(5),)),
    "run_guard": lambda: Run(exported(lambda x: x.view(-1, 4), (x(8),), {"x": {0: Dim.AUTO}}), (x(9),)),
    "run_quotient": lambda: Run(
        exported(lambda x: functional.max_pool1d(x, 5).squeeze(-1), (x(1, 2, 15),), {"x": {2: Dim.AUTO}}), (x(1, 2, 6),)
    ),
    "run_assertion": lambda: Run(
        _data(lambda n, y: (torch._check(n.item() >= 4), y * n.item())[1], torch.tensor(4), x(2)),
        (torch.tensor(2), x(2)),
    ),
    "checked_fixed": lambda: Run(exported(lambda x: x + 1, (x(4, 3),), {"x": named("n")}), (x(4, 5),), False),
    "checked_at_most": lambda: Run(exported(lambda x: x + 1, (x(4),), {"x": {0: Dim("n", max=16)}}), (x(20),), False),
    "checked_at_least": lambda: Run(exported(lambda x: x + 1, (x(9),), {"x": {0: Dim("n", min=8)}}), (x(5),), False),
    "checked_equal": lambda: Run(
        exported(lambda x, y: x + y, (x(4), x(4)), {"x": {0: Dim.AUTO}, "y": {0: Dim.AUTO}}), (x(4), x(5)), False
    ),
    "checked_form": lambda: Run(exported(lambda x: x.view(-1, 2), (x(4),), {"x": {0: 2 * Dim("h")}}), (x(5),), False),
    "checked_rank": lambda: Run(exported(lambda x: x + 1, (x(4, 3),), {"x": named("n")}), (x(4),), False),
    "run_arguments": lambda: Run(exported(lambda x: x + 1, (x(4, 3),), {"x": named("n")}), (x(4, 3), x(2))),
}
"""Calls of exported programs."""

KERNELS = {
    "broadcast": lambda: x(2, 3) + x(2, 4),
    "matmul": lambda: x(4, 3) @ x(5, 6),
    "bmm": lambda: torch.bmm(x(2, 3, 4), x(2, 5, 6)),
    "view": lambda: x(7).view(2, 3),
    "view_one_open": lambda: x(7).view(-1, 2),
    "view_strides": lambda: x(4, 6).t().view(-1),
    "cat": lambda: torch.cat([x(2, 3), x(2, 4)], 0),
    "stack": lambda: torch.stack([x(3), x(4)]),
    "conv_channels": lambda: functional.conv2d(x(1, 4, 8, 8), x(6, 3, 3, 3)),
    "conv_kernel": lambda: functional.conv2d(x(1, 3, 2, 2), x(6, 3, 3, 3)),
    "pool": lambda: functional.max_pool2d(x(1, 3, 1, 1), 2),
    "pad": lambda: functional.pad(x(1, 1, 3), (3, 3), mode="reflect"),
    "layer_norm": lambda: functional.layer_norm(x(2, 5), (4,)),
    "expand": lambda: x(3, 2).expand(4, 2),
    "split": lambda: x(7).split([3, 3]),
    "index": lambda: x(3)[torch.tensor([5])],
    "index_masks": lambda: x(4)[torch.ones(3) > 0],
    "axis": lambda: x(3).sum(1),
    "batch_norm": lambda: functional.batch_norm(x(1, 3), x(3), x(3), training=True),
    "cross_entropy": lambda: functional.cross_entropy(x(4, 5), torch.zeros(3, dtype=torch.int64)),
    "narrow": lambda: x(3).narrow(0, 2, 4),
    "linear": lambda: functional.linear(x(2, 5), x(3, 4)),
    "lstm": lambda: torch.nn.LSTM(4, 3)(x(5, 2, 4), (x(1, 3, 3), x(1, 3, 3))),
    "group_norm": lambda: functional.group_norm(x(2, 5), 2),
    "select": lambda: x(3)[5],
    "unflatten": lambda: x(7).unflatten(0, (2, 3)),
    "einsum": lambda: torch.einsum("ij,jk->ik", x(2, 3), x(4, 5)),
    "baddbmm": lambda: torch.addmm(x(7), x(2, 3), x(3, 4)),
    "index_shapes": lambda: x(5, 5)[torch.zeros(3, dtype=torch.int64), torch.zeros(4, dtype=torch.int64)],
    "chunks": lambda: functional.glu(x(2, 5)),
}
"""Errors of operators."""


@contextmanager
def logged(**kinds):
    """Collect what torch logs, as ``TORCH_LOGS`` shows it."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(torch._logging._internal.TorchLogsFormatter())
    torch._logging.set_logs(**kinds)
    loggers = [
        log
        for name, log in logging.root.manager.loggerDict.items()
        if name.startswith("torch") and isinstance(log, logging.Logger)
    ]
    before = {log: (list(log.handlers), log.propagate) for log in loggers}
    for log in loggers:
        if log.handlers:
            log.handlers = [handler]
    try:
        yield stream
    finally:
        for log, (handlers, propagate) in before.items():
            log.handlers, log.propagate = handlers, propagate
        torch._logging.set_logs()


def _log_of_export(case, **kinds):
    with logged(**kinds) as stream:
        try:
            case()
        except Exception as error:
            return f"{stream.getvalue()}\n{type(error).__name__}: {error}"
    return stream.getvalue()


def _marked(function, tensor, *axes):
    torch._dynamo.reset()
    for axis in axes:
        torch._dynamo.mark_dynamic(tensor, axis)
    torch.compile(function, backend="eager")(tensor)


def _draft(case):
    from torch.export import draft_export

    logging.disable(logging.CRITICAL)
    try:
        found = draft_export(case.module, case.args, case.kwargs, dynamic_shapes=case.dynamic_shapes)
    finally:
        logging.disable(logging.NOTSET)
    return str(found._report)


LOGS = {
    "log_dynamic": lambda: _log_of_export(EXPORTS["divisible"](), dynamic=logging.INFO),
    "log_fixed": lambda: _log_of_export(EXPORTS["fixed_by_weight"](), dynamic=logging.INFO),
    "mark_dynamic": lambda: _marked(lambda x: x + torch.zeros(4), x(4), 0),
    "draft_guard": lambda: _draft(EXPORTS["divisible"]()),
    "draft_equal": lambda: _draft(EXPORTS["equal"]()),
    "draft_data": lambda: _draft(DATA["item_size"]()),
}
"""Logs and reports."""

ALL = {**EXPORTS, **SPECS, **DATA, **RUNS, **KERNELS, **LOGS}


def text_of(name):
    """Return the text that torch gives for a case, with the type of an error before it."""
    warnings.simplefilter("ignore")
    made = ALL[name]
    try:
        found = made()
        if isinstance(found, (Export, Run)):
            logging.disable(logging.CRITICAL)
            found = found()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    finally:
        logging.disable(logging.NOTSET)
    return found if isinstance(found, str) else None
