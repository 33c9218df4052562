"""What the user of a command says about a model's sizes and inputs, read before any model is."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from symbcast.cli.advice.words import shown
from symbcast.cli.shapes import is_shape
from symbcast.cli.statuses import UsageError


def bound_sizes(texts: Sequence[str], min_size: int) -> tuple[tuple[str, int], ...]:
    """Return the sizes that are fixed by name, as ``--bind`` gives them."""
    found: dict[str, int] = {}
    for text in texts:
        name, size = _bound(text)
        if size < min_size:
            raise UsageError(f"--bind {text}: sizes are at least {min_size}; add --min-size {size}")
        if found.setdefault(name, size) != size:
            raise UsageError(f"--bind {text}: {name} is {found[name]} already")
    return tuple(found.items())


_BOUND = re.compile(r"\s*(.*?[^=:<>!\s])\s*(={1,2}|:|\s)\s*([+-]?[0-9]+)\s*", re.DOTALL)
_BETWEEN = re.compile(r"\s*(.*?[^=:\s])\s*(?:={1,2}|:)\s*\[?([0-9]+)\s*(?:\.\.|-|:|,)\s*([0-9]+)\]?\s*", re.DOTALL)


def _bound(text: str) -> tuple[str, int]:
    """Return a name and its size."""
    found = _BOUND.fullmatch(text)
    if found is not None and found[2] == "=" and found[3].isdecimal():
        return found[1], int(found[3])
    if found is not None and found[3].startswith("-"):
        raise UsageError(f"--bind {text}: a size is not negative; write a number, as in --bind {found[1]}=4")
    if found is not None:
        raise UsageError(f"--bind {text}: write --bind {shown(f'{found[1]}={int(found[3])}')}")
    ends = _BETWEEN.fullmatch(text)
    if ends is not None:
        relation = f"{ends[2]} <= {ends[1]} <= {ends[3]}"
        raise UsageError(f'--bind {text}: --bind fixes one number; for a range, write --assume "{relation}"')
    name, equals, size = (part.strip() for part in text.partition("="))
    if not equals or not name or not size:
        example = f"{text}=4" if text.isidentifier() else "batch=4"
        raise UsageError(f"--bind {text}: write a name and its size, as in --bind {example}")
    if size.isidentifier():
        hint = f'--bind {name}=4, or --assume "{name} == {size}" for two equal sizes'
        raise UsageError(f"--bind {text}: {size} is not a number; write {hint}")
    raise UsageError(
        f"--bind {text}: write a name and its size, as in --bind {name if name.isidentifier() else 'batch'}=4"
    )


def check_named(shapes: Sequence[str], inputs: Callable[[], Sequence[str]]) -> None:
    """Raise `UsageError` for a shape without the name of its input; ``inputs`` returns those of the model."""
    for text in shapes:
        if "=" in text or text.isidentifier() or not is_shape(text):
            continue
        names = inputs()
        dims = ", ".join(part.strip() for part in text.strip(" ()[]").split(","))
        each = " or ".join(f"--shapes {shown(f'{name}={dims}')}" for name in names[:3])
        if each:
            raise UsageError(f"--shapes {shown(text)}: a shape follows the name of its input; write {each}")


def inputs_given(option: str, texts: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return the given facts about inputs by name; they are parsed here, before any model is read."""
    from symbcast.graphs.inputs.given import read_given

    found: dict[str, str] = {}
    for text in texts:
        name, equals, told = (part.strip() for part in text.partition("="))
        if not name or not equals or not told:
            example = '"x=N, 3, H, W"' if option == "shapes" else "steps=4,N//2"
            raise UsageError(
                f"--{option} {text}: write an input and what is known about it, as in --{option} {example}"
            )
        if found.setdefault(name, told) != told:
            raise UsageError(f"--{option} {text}: {name} is {found[name]} already")
    if option == "values":
        for name, told in found.items():
            _check_numbers(name, told)
    _ = read_given(shapes=found) if option == "shapes" else read_given(values=found)
    return tuple(found.items())


def _check_numbers(name: str, told: str) -> None:
    """Raise `UsageError` for numbers that are no integers, as other tools write them."""
    scale = {"k": 1000, "m": 1_000_000}
    counted = re.fullmatch(r"\s*([0-9]+)\s*([kKmM])\s*", told)
    if counted:
        number = int(counted[1]) * scale[counted[2].lower()]
        raise UsageError(f"--values {name}={told}: write --values {name}={number}")
    if re.search(r"(?<![\w.])[0-9]*\.[0-9]+(?![\w.])|\b[0-9]+e-?[0-9]+", told):
        raise UsageError(
            f"--values {name}={told}: values are for inputs of integers, so leave it out for an input of floats; "
            f"elements are whole numbers or sizes, as in --values {name}=4,N//2"
        )
