"""``symbcast contract``: ranges in which a model runs, and what servers and compilers take of them."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from symbcast.cli.argument_advice import several_models
from symbcast.cli.command import Meaning, command
from symbcast.cli.commands.model import check_front_ends, inputs_of
from symbcast.cli.model_files import (
    bound_sizes,
    check_named,
    check_readable,
    front_end_for,
    inputs_given,
    model_on_stdin,
)
from symbcast.cli.terminal import (
    STDIN,
    Bar,
    Exit,
    UsageError,
    argument_text,
    checked,
    print_error,
    print_text,
    status_of,
)
from symbcast.core.algebra.arithmetic import check_min_size
from symbcast.core.characters import closest
from symbcast.core.effort import counted_call
from symbcast.core.verdicts import Verdict
from symbcast.errors import BindingError, ShapeTypeError, TargetError

if TYPE_CHECKING:
    from symbcast.answers.contracts.contract import Contract
    from symbcast.answers.show.document import Shortener
    from symbcast.graphs.report.graph_report import GraphReport

_RANGES = '--range H=64..1280 or --range "H=64..1280 step 32"'
Known: TypeAlias = "dict[str, dict[str, Any]]"
"""What is known about sizes and inputs, by the name of the argument of `read_question`."""
Form: TypeAlias = Literal["box", "steps", "derived", "profiles", "list"]


def _targets() -> Iterable[str]:
    from symbcast.answers.contracts.targets import targets

    return targets()


EPILOGUE = """Example: symbcast contract detector.onnx --range H=64..1280 --form steps --to torch

Exit status of contract: 0 the contract is proved (with --check: every size in the ranges works), 1 no wanted sizes \
work, they work only with suitable data, some in the ranges fail, or the target cannot express the contract, 2 wrong \
usage, or a file that cannot be read, 3 not decided."""
WORDS = {
    **dict.fromkeys(["export", "convert"], "contract MODEL --to TARGET"),
    "ranges": "contract MODEL --range H=64..1280",
}


@command(epilogue=EPILOGUE, subject="models", fault=several_models, words=WORDS)
def contract(  # noqa: PLR0913 - each is an option
    *files: str,
    range: list[str] | None = None,
    typical: list[str] | None = None,
    form: Form = "box",
    most: int | None = None,
    to: Annotated[str | None, Meaning(choices=_targets)] = None,
    check: bool = False,
    assume: list[str] | None = None,
    bind: list[str] | None = None,
    shapes: list[str] | None = None,
    values: list[str] | None = None,
    min_size: int = 1,
    runtime: str | None = None,
) -> int:
    """Find ranges of sizes in which a model runs, as large as possible, and write them for a server or compiler.

    Parameters
    ----------
    files
        One model file, or - for an ONNX model on standard input.
    range
        The wanted range of a size, such as H=64..1280 or "H=64..1280 step 32"; may be repeated. Others have 1..4096.
    typical
        Typical sizes, such as H=640,960; ranges with more of them are better. May be repeated.
    form
        One box of ranges; one box whose ranges may have steps; the same, with sizes derived from others (b = 2*a);
        several boxes (profiles); or a list of sizes.
    most
        How many boxes a contract has at most: by default 4 profiles, or a list of 128.
    to
        Write the contract for this target; what it leaves out goes to standard error.
    check
        Say whether every size in the ranges works, where it fails, and how to pad.
    assume
        An assumption about the sizes, such as "batch >= 2"; may be repeated.
    bind
        A fixed value for a size, such as batch=4; may be repeated.
    shapes
        The shape of an input, which names or fixes its sizes, such as "x=N, 3, H, W"; may be repeated.
    values
        The elements of an integer input, as numbers and sizes, such as steps=4,N//2; may be repeated.
    min_size
        The minimum size of every dynamic dimension.
    runtime
        Whose behaviour to follow: for ONNX, its documents (spec, the default) or ONNX Runtime (onnxruntime).
    """
    from symbcast.answers.show.document import Shortener

    if len(files) != 1:
        raise UsageError("give one model: symbcast contract encoder.onnx --range seq=1..512")
    if most is not None and most >= 1 and form not in ("profiles", "list"):
        raise UsageError(f"--most is for --form profiles or list: add --form profiles, or leave --most {most} out")
    if check and to is not None:
        raise UsageError("--check says whether ranges work, and --to writes a contract: give one of them")
    checked("--min-size", check_min_size, min_size)
    ranges = dict(_range(text, form) for text in range or ())
    typical_sizes = dict(_typical(text) for text in typical or ())
    bound = dict(bound_sizes(bind or (), min_size))
    check_named(shapes or (), partial(inputs_of, files))
    given = {"shapes": dict(inputs_given("shapes", shapes or ())), "values": dict(inputs_given("values", values or ()))}
    (file,) = files
    with model_on_stdin("stdin") if file == STDIN else nullcontext(file) as path:
        with Bar(1, "checking the model"):
            report = _report(path, assume or (), {"bind": bound, **given}, min_size, runtime)
        shortener = Shortener(report.aliases)
        with counted_call():
            with Bar(1, "searching for the largest contract"):
                proposal = _contract_of(report, ranges, form, typical_sizes, most)
            if check:
                return _checked(proposal, ranges, shortener)
            return _shown(proposal, shortener) if to is None else _written(proposal, to, shortener)


def _contract_of(
    report: GraphReport, ranges: dict[str, str], form: Form, typical: dict[str, list[int]], most: int | None
) -> Contract:
    """Return the contract; an error about a name lists the names that the answer shows."""
    from symbcast.answers.show.document import Shortener

    try:
        return report.contract(ranges, form=form, typical=typical, most=most)
    except BindingError as error:
        unknown = next((n for n in (*ranges, *typical) if error.problem == f"there is no size {n}"), "")
        close = closest(unknown, report.aliases) if unknown and "did you mean" not in error.hint else None
        shortener = Shortener(report.aliases)
        hint = shortener.text(error.hint)
        raise BindingError(
            shortener.text(error.problem), f"did you mean {close}? {hint[0].upper()}{hint[1:]}" if close else hint
        ) from None


def _explanation(text: str, shortener: Shortener) -> str:
    """Return an explanation with aliases, and what they stand for."""
    short = shortener.text(text)
    names = (f"{'names' if n == 0 else '':<13}{line}" for n, line in enumerate(shortener.legend([short])))
    return "\n".join([short, *names])


def _named(option: str, text: str) -> tuple[str, str]:
    name, equals, value = (part.strip() for part in text.rpartition("="))
    if not equals or not name or not value:
        example = "H=64..1280" if option == "--range" else "H=640,960"
        if not equals and text.isidentifier():
            example = f"{text}={example.partition('=')[2]}"
        elif not equals and re.fullmatch(r"[0-9]+\s*\.\.\s*[0-9]+", text):
            example = f"H={text}"
        raise UsageError(f"{option} {text}: write a size and its values, as in {option} {example}")
    return name, value


def _range(text: str, form: Form) -> tuple[str, str]:
    """Return a size and its range, as typed."""
    from symbcast.answers.contracts.question import range_in_other_notation, read_range

    bound = re.fullmatch(r"\s*([^\W\d][\w.]*)\s*([<>]=?)\s*([0-9]+)\s*", text)
    if bound:
        # Sizes are whole: above 64 is from 65 on.
        end = int(bound[3]) + (bound[2] == ">") - (bound[2] == "<")
        ends = f"{end}..4096" if bound[2][0] == ">" else f"1..{end}"
        raise UsageError(f"--range {argument_text(text)}: write both ends: --range {bound[1]}={ends}")
    within = re.fullmatch(r"\s*([0-9]+)\s*<=\s*([^\W\d][\w.]*)\s*<=\s*([0-9]+)\s*", text)
    if within:
        raise UsageError(f"--range {argument_text(text)}: write --range {within[2]}={within[1]}..{within[3]}")
    name, value = _named("--range", text)
    # `H==64..1280` is split at its last sign.
    name = name.rstrip("= ")
    several = re.fullmatch(r"[0-9]+(\s*,\s*[0-9]+)+", value)
    if several:
        sizes = sorted(map(int, value.split(",")))
        ends, sizes_of = f"{name}={sizes[0]}..{sizes[-1]}", f"{name}={','.join(map(str, sizes))}"
        options = f"--range {argument_text(ends)} --typical {argument_text(sizes_of)} --form profiles"
        raise UsageError(
            f"--range {argument_text(text)}: a range has all sizes between; for single ones, write {options}"
        )
    corrected = range_in_other_notation(value)
    if corrected:
        steps = " --form steps" if " step " in corrected and form == "box" else ""
        raise UsageError(f"--range {text}: write --range {argument_text(f'{name}={corrected}')}{steps}")
    reverse = re.fullmatch(r"([0-9]+)\s*\.\.\s*([0-9]+)", value)
    if reverse and int(reverse[1]) > int(reverse[2]):
        order = f"{name}={reverse[2]}..{reverse[1]}"
        raise UsageError(f"--range {text}: write a size or a range from small to large, as in --range {order}")
    open_end = re.fullmatch(r"([0-9]*)\s*(\.\.)\s*([0-9]*)", value)
    if open_end and not (open_end[1] and open_end[3]):
        both = f"{open_end[1] or 1}..{open_end[3] or 4096}"
        raise UsageError(f"--range {text}: write a size or a range from small to large, as in --range {name}={both}")
    try:
        read_range(value)
    except ShapeTypeError as error:
        raise UsageError(f"--range {text}: write a size or a range from small to large, as in {_RANGES}") from error
    return name, value


def _typical(text: str) -> tuple[str, list[int]]:
    """Return a size and its typical values, as typed."""
    name, sizes = _named("--typical", text)
    parts = [part.strip() for part in sizes.split(",")]
    if not all(part.isascii() and part.isdecimal() for part in parts):
        raise UsageError(f"--typical {text}: write numbers, as in --typical H=640,960")
    return name, list(map(int, parts))


def _report(path: str, assume: Sequence[str], known: Known, min_size: int, runtime: str | None) -> GraphReport:
    from symbcast.graphs.check import check_graph, read_question

    check_readable(path)
    check_front_ends([path], runtime, confirm=False)
    front_end = front_end_for(path).load()
    bind, shapes, values = (known[name] for name in ("bind", "shapes", "values"))
    question = read_question(
        front_end, tuple(assume), min_size, bind=bind, shapes=shapes, values=values, runtime=runtime
    )
    return front_end.report(check_graph(front_end, front_end.read(path, question.runtime), question))


def _shown(contract: Contract, shortener: Shortener) -> Exit:
    print_text(_explanation(contract.explain(), shortener))
    return status_of(contract.verdict)


def _written(contract: Contract, target: str, shortener: Shortener) -> Exit:
    """Print the text for a target, and on standard error what it leaves out; the whole answer if it is not ALWAYS."""
    is_proved = contract.verdict is Verdict.ALWAYS
    opened = [f"open         {contract.reason}"] if contract.reason else []
    text = "\n".join([*opened, *contract.omissions()]) if is_proved else contract.explain()
    if text:
        print_text(_explanation(text, shortener), sys.stderr)
    if target != "json" and (not contract.boxes or contract.verdict is Verdict.UNKNOWN):
        return status_of(contract.verdict)
    try:
        print_text(contract.to(target))
    except TargetError as error:
        print_error(_as_options(str(error)))
        return Exit.FAILS
    return status_of(contract.verdict)


def _as_options(text: str) -> str:
    """Return a message about a call in Python with the options of the command.

    >>> _as_options("take form='list' and most=1, or symbcast.onnx.free(..., pad='zero')")
    'take --form list and --most 1, or symbcast model --free "N, H, W" --pad zero'
    """
    text = text.replace("symbcast.onnx.free(..., pad='zero')", 'symbcast model --free "N, H, W" --pad zero')
    text = text.replace("with symbcast.onnx.free or symbcast model", "with symbcast model")
    return re.sub(r"\bmost=([0-9]+)", r"--most \1", re.sub(r"\bform='(\w+)'", r"--form \1", text))


def _checked(contract: Contract, ranges: dict[str, str], shortener: Shortener) -> Exit:
    answer = contract.check(ranges)
    print_text(_explanation(answer.explain(), shortener))
    return status_of(answer.verdict)
