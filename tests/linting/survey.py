"""A survey of lint: the annotated functions of installed packages, with each finding confirmed by a call.

Each finding that names sizes is repeated in another child process: the function itself is called with arrays of
random numbers of those sizes, without any trace. A finding is confirmed if a call returns the shape or raises the error
that the finding names. A finding that something never holds is refuted if it holds in a call at larger sizes. Findings
about the annotation itself name no sizes and are listed to be read.

Run as ``python tests/linting/survey.py equinox.nn optimistix diffrax``, with packages, modules or paths. Only installed
packages are imported; what they need besides must be installed too.
"""

import importlib.util
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np

import symbcast as sb
from symbcast.answers.explanation.names import Namer
from symbcast.arrays.arguments import Arguments
from symbcast.arrays.returned import told
from symbcast.batch.endings import DiedError, TimedOutError
from symbcast.batch.isolation import Child
from symbcast.core.characters import sizes_text
from symbcast.core.logic.formulas import FALSE
from symbcast.core.program.sizes.scope import Scope
from symbcast.linting.annotations.arguments import forms_of
from symbcast.linting.annotations.promises import Sizes, promised
from symbcast.linting.checks.check import Asked, _arguments, _library
from symbcast.linting.checks.comparing import value_text
from symbcast.linting.checks.signature import signature_of
from symbcast.linting.codes import NEVER
from symbcast.linting.functions import read_source
from symbcast.linting.running import worker
from symbcast.linting.running.files import module_name
from symbcast.paths.real_calls import Raised

SECONDS = 60


def place_of(name):
    """The file or folder of an installed module, or a path."""
    if Path(name).exists():
        return name
    spec = importlib.util.find_spec(name)
    return str(Path(spec.origin).parent) if spec.submodule_search_locations else spec.origin


def array_of(library, random):
    """Makes arrays of random numbers for a library."""

    def made(shape, dtype):
        if library == "jax" and not isinstance(dtype, str):
            import jax

            return jax.random.split(jax.random.key(0), shape) if shape else jax.random.key(0)
        kind = np.dtype(dtype).kind
        values = random.random(shape) if kind in "fc" else random.integers(0, 2, shape)
        array = np.asarray(values).astype(dtype)
        if library == "numpy":
            return array
        return importlib.import_module(library if library == "torch" else "jax.numpy").asarray(array)

    return made


def larger(names):
    """Larger sizes: equal ones, and different ones."""
    rising = [5 + 2 * number for number, _ in enumerate(names)]
    return [dict(zip(names, s, strict=True)) for s in ([7] * len(names), rising, rising[::-1])]


def calls(finding):
    """What calls of a finding's function do, in each form of its arguments. Run in a child.

    For each form: as text, what it does at the sizes of the finding, and the calls at larger sizes that refute it.
    """
    (function,) = (f for f in read_source(finding.path).functions if f.name == finding.function)
    asked = Asked(finding.path, module_name(finding.path), function)
    worker.imported(asked)
    signature = signature_of(sys.modules[asked.module], function.name)
    forms, _ = forms_of(signature.parameters, _library(signature.library).dtype, signature.numbers)
    return [_calls_of(finding, signature, form) for form in forms]


def _calls_of(finding, signature, form):
    given = Arguments(*_arguments(form, signature))
    scope = Scope(given.shapes, given.is_fresh, [], 1)
    names = list(scope.names.values())
    if set(finding.sizes) - set(names):
        return [], []
    own = [_text(value) for value in _called(signature, given, scope, finding.sizes)]
    against = [
        f"at {sizes_text(at)}: {_text(value)}"
        for at in (larger(names) if finding.code == NEVER.id else [])
        for value in _called(signature, given, scope, at)
        if _holds(value, finding, signature, Sizes(form, at))
    ]
    return own, against


def _called(signature, given, scope, sizes):
    at = {symbol: sizes[name] for symbol, name in scope.names.items() if name in sizes}
    random = np.random.default_rng(0)
    for _ in range(2):
        try:
            yield told(given.called(signature.function, scope.shapes, at, array_of(signature.library, random)))
        except Exception as error:
            yield Raised.of(error)


def _holds(value, finding, signature, sizes):
    """Whether a call did what a finding says that it never does: it works, or returns what is promised."""
    if isinstance(value, Raised):
        return False
    return "works for no sizes" in finding.message or promised(value, signature.returns, sizes) != FALSE


def _text(value):
    if isinstance(value, Raised):
        return f"{type(value.error).__name__}: {' '.join(str(value.error).split())[:160]}"
    return value_text(value, Namer.of({}))


def confirmation(child, finding):
    """How the calls of a finding compare with what it says: "confirmed", or what they did instead."""
    if not finding.called:
        return "names no sizes"
    try:
        done = child.ask(calls, finding, SECONDS)
    except (DiedError, TimedOutError, worker.NotImportedError) as error:
        return f"no call: {error}"
    expected = finding.called.partition(": ")[0]
    confirming = [against for own, against in done if any(d.partition(": ")[0] == expected for d in own)]
    if confirming and not all(confirming):
        return "confirmed"
    texts = confirming[0] if confirming else [d for own, _ in done for d in own]
    return f"FALSE: {' | '.join(dict.fromkeys(texts))}"


def survey(name):
    """Print what lint finds in one package."""
    report = sb.lint(place_of(name), cache=False)
    traced = [c for c in report.functions if c.function and c.forms]
    seconds = [c.seconds for c in traced] or [0]
    with Child(worker.prepare) as child:
        rows = [(confirmation(child, f), f) for f in report.findings]
    print(f"== {name}: {report.summary}; {len(traced)} traced")
    print(f"   processor seconds a function: median {statistics.median(seconds):.3f}, greatest {max(seconds):.2f}")
    for said, finding in rows:
        print(f"   [{said}] {finding}")
    if "--unproved" in sys.argv:
        print("\n".join(f"   {line}" for line in report.unproved))
    slowest = sorted(traced, key=lambda c: -c.seconds)[:3]
    print("   slowest:", ", ".join(f"{c.function} {c.seconds:.2f}" for c in slowest), flush=True)


def main(names):
    for name in names:
        survey(name)


if __name__ == "__main__":
    from linting import survey as module  # a child process finds its functions by this name

    module.main([a for a in sys.argv[1:] if not a.startswith("--")])
