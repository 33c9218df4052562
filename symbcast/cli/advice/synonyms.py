"""Words that people try as options: the options that they mean, or what to do where no option is meant."""

from __future__ import annotations

from collections.abc import Sequence

from symbcast.cli.advice.words import OF_SHAPES

OTHER_WORDS = {
    word: options
    for line in (
        "argument arguments assumption assumptions constraint constraints given if where with -> assume",
        "assert claim -> that",
        "condition -> that assume",
        "expect -> that out",
        "show -> that",
        "backend -> runtime rule",
        "device engine provider providers ort -> runtime",
        "framework -> rule runtime",
        "library semantics between vs -> rule",
        "rule -> runtime",
        "input input-shape input-shapes inputs dynamic-axes -> shapes",
        "feed feeds data -> values",
        "force -> overwrite",
        "verify validate -> confirm check",
        "save out -> output",
        "output result to want wanted -> out",
        "target -> out to",
        "for -> out that",
        "parallel processes process workers worker threads cores cpus -> jobs",
        "max-size upper -> assume",
        "max -> most limit",
        "top first head count number results suggestions repairs maximum -> limit most",
        "disable skip noqa -> ignore",
        "enable only -> select",
        "since base against ref revision changed -> diff",
        "svg png image picture draw figure graph visualize visualise render -> html",
        "exit fail warn -> fail-on",
        "code codes select -> select ignore",
        "lower smallest minimum least zero zeros nonzero positive -> min-size",
        "implies holds -> that",
        "find produce gives equals equal -> out that",
        "run execute test -> confirm",
        "freeze set -> bind",
        "best -> limit",
        "profile profiles -> form",
        "language lang -> guard dispatch format",
        "style reporter -> format",
    )
    for words, _, options in [line.partition(" -> ")]
    for word in words.split()
}
"""Options that people try, with the options that they may mean."""
OUTPUTS = ("out", "output", "result", "target", "to", "want", "wanted", "expect", "o")
"""Options that people try in order to name the wanted output."""
OPERATIONS = ("op", "operation", "operator", "layer")
"""Options that people try in order to ask about another operation than a broadcast."""
_MODELS = ("model", "contract")
_EVERY = (*OF_SHAPES, *_MODELS, "lint", "torch-error", "trace")
_NOTES: Sequence[tuple[str, Sequence[str], str]] = (
    ("explain verbose v debug print details", _EVERY, "the answer is explained as it is; --format json has it as data"),
    ("quiet q silent", _EVERY, "the exit status alone gives the result too; send the output to /dev/null"),
    ("plot svg png draw image figure", OF_SHAPES, "plots are drawn in Python, by symbcast.notebook.plot(...)"),
    ("plot svg png draw image figure", ("trace",), "plots are drawn in Python, by symbcast.notebook.plot(...)"),
    ("dtype dtypes type types precision", (*OF_SHAPES, *_MODELS), "no answer depends on it: leave {} out"),
    ("dtype dtypes type types", ("trace",), 'the type precedes the shape, as in "float32:N, 3"'),
    ("device cuda gpu cpu", OF_SHAPES, "nothing is run: leave {} out"),
    ("symbols symbol names vars variables", (*OF_SHAPES, "trace"), "names in shapes are sizes: leave {} out"),
    ("opset", OF_SHAPES, "--rule onnx-legacy is for operator sets before 7, and onnx for all others: leave {} out"),
    ("opset ir", _MODELS, "the model itself says which: leave {} out"),
    (
        "dynamic symbolic symbols",
        _MODELS,
        'sizes that the model leaves open are so as they are; --shapes "x=N, 3, H, W" names or fixes others',
    ),
    ("fix apply write", ("lint", *OF_SHAPES), "nothing is changed: leave {} out"),
    ("jax", ("trace",), "in Python, symbcast.jax.trace runs functions of JAX"),
    ("torch pytorch", ("trace",), "in Python, symbcast.torch.trace runs modules and functions of PyTorch"),
    ("file files stdin", OF_SHAPES, "- reads shapes from standard input, one per line: add - < FILE"),
    ("all every", ("compare",), "without --rule, all rules that need no attributes are compared: leave {} out"),
    ("list all every", ("cases",), "cases are listed as it is: leave {} out"),
    ("exit", ("lint",), "add || true to the line for a status of 0"),
    ("config", ("lint",), "options that are not given come from tool.symbcast.lint in pyproject.toml"),
    ("color colour", _EVERY, "the answer has no colours: leave {} out"),
)
"""Words of options, the commands that have no such option, and what to do instead."""


def noted(words: Sequence[str], command: str, name: str) -> str:
    """Return what to do instead of an option whose subject needs none; empty if its words name no such subject.

    >>> noted(["opset-version", "opset", "version"], "model", "--opset-version")
    'the model itself says which: leave --opset-version out'
    """
    for word in words:
        for said, commands, text in _NOTES:
            if command in commands and word in said.split():
                return text.replace("{}", name)
    return ""
