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
from importlib import import_module
from pathlib import Path

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "support", "surveys"))

import numpy as np

import symbcast as sb
from symbcast.answers.explanation.words import Namer
from symbcast.arrays.arguments import TraceArguments
from symbcast.arrays.trace import lasting_result
from symbcast.core.algebra.formulas import FALSE
from symbcast.core.characters import sizes_text
from symbcast.core.isolation import ChildProcess, DiedError, TimedOutError
from symbcast.core.programs.scope import Scope
from symbcast.linting import running
from symbcast.linting.annotation_meaning import SizesOfAxes, forms_of, promise_condition
from symbcast.linting.checks import _arguments, value_text
from symbcast.linting.findings import NEVER
from symbcast.linting.signatures import signature_of
from symbcast.linting.sources import FunctionToCheck, module_name, read_source
from symbcast.paths.real_calls import RaisedError

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
    asked = FunctionToCheck(finding.path, module_name(finding.path), function)
    running.import_in_child(asked)
    signature = signature_of(sys.modules[asked.module], function)
    forms, _ = forms_of(
        signature.parameters, import_module(f"symbcast.linting.libraries.{signature.library}").dtype, signature.numbers
    )
    return [_calls_of(finding, signature, form) for form in forms]


def _calls_of(finding, signature, form):
    given = TraceArguments(*_arguments(form, signature))
    scope = Scope(given.shapes, given.is_fresh, [], 1)
    names = list(scope.names.values())
    if set(finding.sizes) - set(names):
        return [], []
    own = [_text(value) for value in _called(signature, given, scope, finding.sizes)]
    against = [
        f"at {sizes_text(at)}: {_text(value)}"
        for at in (larger(names) if finding.code == NEVER.id else [])
        for value in _called(signature, given, scope, at)
        if _holds(value, finding, signature, SizesOfAxes(form, at))
    ]
    return own, against


def _called(signature, given, scope, sizes):
    at = {symbol: sizes[name] for symbol, name in scope.names.items() if name in sizes}
    random = np.random.default_rng(0)
    for _ in range(2):
        try:
            yield lasting_result(given.call(signature.function, scope.shapes, at, array_of(signature.library, random)))
        except Exception as error:
            yield RaisedError.of(error)


def _holds(value, finding, signature, sizes):
    """Whether a call did what a finding says that it never does: it works, or returns what is promised."""
    if isinstance(value, RaisedError):
        return False
    return "works for no sizes" in finding.message or promise_condition(value, signature.returns, sizes) != FALSE


def _text(value):
    if isinstance(value, RaisedError):
        return f"{type(value.error).__name__}: {' '.join(str(value.error).split())[:160]}"
    return value_text(value, Namer.of({}))


def confirmation(child, finding):
    """How the calls of a finding compare with what it says: "confirmed", or what they did instead."""
    if not finding.called:
        return "names no sizes"
    try:
        done = child.ask(calls, finding, SECONDS)
    except (DiedError, TimedOutError, running.NotImportedError) as error:
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
    with ChildProcess(running.prepare_child) as child:
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
