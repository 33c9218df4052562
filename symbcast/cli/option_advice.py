"""The option, or command, that an unknown option means; words of other tools."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from symbcast.cli.argument_advice import is_file, is_module, module_of
from symbcast.cli.command import Options, Subject, load_command
from symbcast.cli.terminal import CHOICES, EQUALS, argument_text, command_line, is_numbers, is_shape, repeated_option
from symbcast.cli.value_advice import is_relation, separated, several_rules, sign_among
from symbcast.core.characters import closest, prose_list
from symbcast.core.rules.registry import is_rule_name, parameters_of, takers_of
from symbcast.core.structs import NamedTuple


class UnknownOption(NamedTuple):
    """An option that a command does not have, as typed.

    ``argument`` is the whole argument, ``name`` its option (empty if it is none), ``following`` its value, ``command``
    the command, ``others`` the arguments of the command that are not options, ``rule`` the rule's name, ``arguments``
    all arguments of the command, and ``subject`` what its arguments are that are not options.
    """

    argument: str
    name: str
    following: str
    command: str
    others: Sequence[str]
    rule: str = "numpy"
    arguments: Sequence[str] = ()
    subject: Subject = "other"

    @property
    def is_of_shapes(self) -> bool:
        """Whether the command takes shapes."""
        return self.subject == "shapes"

    @property
    def word(self) -> str:
        """The name without its hyphens, in lower case."""
        return self.name.lstrip("-").casefold()

    @property
    def words(self) -> list[str]:
        """The whole name and the words in it, in lower case: ``minShapes`` has ``min``, ``shape1`` has ``shape``."""
        parts = re.findall(r"[^\W\d_][^\W\d_A-Z]*", self.name)
        return list(dict.fromkeys([self.word, *(part.casefold() for part in parts)]))


# Words that people try as options: the options that they mean, or what to do where no option is meant.


# Options that people try, with the options that they may mean.
OTHER_WORDS = {
    word: options
    for line in (
        "argument arguments assumption assumptions constraint constraints given if where with -> assume",
        "assert claim -> that",
        "condition -> that assume",
        "expect -> that out",
        "show -> that",
        "backend -> runtime rule",
        "engine ort -> runtime",
        "framework -> rule runtime",
        "library semantics between vs -> rule",
        "rule rules -> runtime select",
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
        "full whole everything long -> all",
        "evaluate eval evaluated concrete point points -> at",
        "profile profiles -> form",
        "language lang -> guard dispatch format",
        "style reporter -> format",
    )
    for words, _, options in [line.partition(" -> ")]
    for word in words.split()
}
# Options that people try in order to name the wanted output.
OUTPUTS = ("out", "output", "result", "target", "to", "want", "wanted", "expect", "o")
# Options that people try in order to ask about another operation than a broadcast.
OPERATIONS = ("op", "operation", "operator", "layer")
# Words of options that no command has, and what to do instead.
_NOTES = {
    "explain verbose v debug print details": "the answer is explained as it is; --format json has it as data",
    "quiet q silent": "the exit status alone gives the result too; send the output to /dev/null",
    "color colour": "the answer has no colours: leave {} out",
}
# The same for all commands with the same kind of arguments; a command adds its own ``notes``.
_NOTES_BY_SUBJECT: dict[Subject, dict[str, str]] = {
    "shapes": {
        "plot svg png draw image figure": "plots are drawn in Python, by symbcast.notebook.plot(...)",
        "dtype dtypes type types precision": "no answer depends on it: leave {} out",
        "device cuda gpu cpu": "nothing is run: leave {} out",
        "symbols symbol names vars variables": "names in shapes are sizes: leave {} out",
        "opset": "--rule onnx-legacy is for operator sets before 7, and onnx for all others: leave {} out",
        "fix apply write": "nothing is changed: leave {} out",
        "file files stdin": "- reads shapes from standard input, one per line: add - < FILE",
    },
    "models": {
        "dtype dtypes type types precision": "no answer depends on it: leave {} out",
        "opset ir": "the model itself says which: leave {} out",
        "device provider providers cuda gpu": "models are checked as they run on a CPU: leave {} out",
        "output-shapes output-shape outputs": "outputs are printed with their shapes; --at N=2 has them in numbers",
        "dynamic symbolic symbols": "every size that the model leaves open is a symbol already: leave {} out",
    },
}


def noted(words: Sequence[str], command: str, name: str) -> str:
    """Return what to do instead of an option whose subject needs none; empty if its words name no such subject.

    >>> noted(["opset-version", "opset", "version"], "model", "--opset-version")
    'the model itself says which: leave --opset-version out'
    """
    declared = load_command(command)
    notes = {**_NOTES, **_NOTES_BY_SUBJECT.get(declared.subject, {}), **declared.notes}
    answers = (text for word in words for said, text in notes.items() if word in said.split())
    return next(answers, "").replace("{}", name)


# Options that a command does not have: the option, or the command, that was meant.


_SIZES = ("size", "sizes", "dim", "dims", "batch", "set", "with", "at", "d", "bind", "range", "fix")
# Endings of files for answers, with their format.
_ANSWERS = {"json": "json", "sarif": "sarif", "txt": "", "log": ""}
_SIZE = re.compile(r"\s*([^\W\d][\w.]*)\s*={1,2}\s*([0-9]+(?:(?:\.\.|-|:)[0-9]+)?)\s*")
# Words around the name of a size, as in ``--batch-size`` and ``--set-batch``.
_ABOUT_SIZES = ("set", "fix", "fixed", "freeze", "size", "dim", "num", "n", "static")
_RANGE = re.compile(r"([0-9]+)(?:\.\.|-|:)([0-9]+)")
# Options that people try in order to give the arguments of a traced function.
_ARGUMENTS = ("arg", "args", "argument", "arguments", "input", "inputs", "shape", "shapes", "input-shape")
# Options that people try in order to give a model's file, or the function.
_ARGUMENT_WORDS = ("model", "models", "file", "files", "path", "network", "function", "module", "source", "graph")
# Options of other commands that are seldom parameters of functions.
_NOT_ARGUMENTS = ("rule", "that", "out", "limit", "range", "bind", "timeout", "jobs", "runtime")
# Text that Python reads as a value, and that a shape of one axis is seldom written as.
_LITERAL = re.compile(r"[-+]?\d+(?:\.\d*)?|True|False|None|[\"'(\[{].*", re.DOTALL)


def unknown_option(typed: UnknownOption, commands: Mapping[str, Options]) -> str:
    """Return the error for an option that a command does not have, with the likely intended one."""
    command, name = typed.command, typed.name
    behind = f'write a {"shape" if typed.is_of_shapes else "file"} that begins with "-" after "--"'
    if not name and typed.argument in EQUALS and typed.following:
        return sign_among(command, [*typed.others, typed.argument, typed.following], ())
    if not name:
        said = argument_text(typed.argument)
        return f"{said} looks like an option; {behind}: symbcast {command} -- {said}"
    if name == "--help":
        return "--help takes no value"
    text = f"{command} has no option {argument_text(name)}"
    if typed.is_of_shapes and typed.word in OPERATIONS:
        return f"{text}: it is about broadcasts; other operations are methods of symbcast.ShapeEnv, in Python"
    chosen = _chosen(typed, commands[command])
    if command == "rules":
        own = _meant(typed, commands[command]) or _misspelt(name, commands[command])
        only = f"leave {name} out: its only option is --format"
        return f"{text}; {f'did you mean {chosen or own[0]}?' if chosen or own else only}"
    is_of_function = typed.subject == "function"
    is_argument = is_of_function and len(typed.word) == 1 and typed.following != ""
    note = "" if chosen or is_argument or _pair(typed) else noted(typed.words, command, name)
    if note:
        return f"{text}: {note}"
    hint = (
        (f"did you mean {chosen}?" if chosen else "")
        or _command_meant(typed, commands)
        or _other_command(typed)
        or _bounds_meant(typed)
        or _pairs_meant(typed)
        or (
            _size_meant(typed)
            if _pair(typed) or (typed.subject == "function" and typed.word not in _NOT_ARGUMENTS)
            else ""
        )
        or _step_meant(typed)
        or _own_option(typed, commands)
        or ("" if is_of_function else _size_meant(typed))
        or _similar(typed, commands)
        or (_listed(typed, commands[command]) if name.startswith("--") else behind)
    )
    return f"{text}; {hint}"


def _chosen(typed: UnknownOption, options: Options) -> str:
    """Return the option with the value that is written as an option, such as ``--format json`` for ``--json``."""
    other = CHOICES.get(typed.word, "")
    pairs = ((o.names[0], word) for word in (typed.word, other) for o in options if word in o.choices)
    option, value = next(pairs, ("", ""))
    if not option and is_rule_name(typed.word) and any("--rule" in o.names for o in options):
        return f"--rule {typed.word}"
    return f"{option} {value}" if option else ""


def _command_meant(typed: UnknownOption, commands: Mapping[str, Options]) -> str:
    """Return the line of a command that is written as an option; empty if the option is no command."""
    word = typed.word
    if word not in commands or word in {typed.command, "rules"}:
        return ""
    command = load_command(word)
    if (command.subject == "shapes") != typed.is_of_shapes:
        return ""
    option = command.needs
    if not option or not typed.following:
        own = [a for a in typed.arguments if not a.startswith("-")]
        return f"did you mean {command_line(word, own)}?"
    rules = ["--rule", typed.rule] if word == "compare" else []
    return f"did you mean {command_line(word, typed.others, rules, option, typed.following)}?"


def _pair(typed: UnknownOption) -> re.Match[str] | None:
    """Return the size and its value that follow an option which gives sizes; None for any other."""
    return _SIZE.fullmatch(typed.following) if typed.word in _SIZES else None


def _pairs_meant(typed: UnknownOption) -> str:
    """Return what to write for an option that gives several sizes with their values; empty for any other."""
    matches = [_SIZE.fullmatch(part) for part in re.split("[,;]", typed.following)] if typed.word in _SIZES else []
    sizes = [(pair[1], pair[2]) for pair in matches if pair]
    if len(sizes) < 2 or len(sizes) < len(matches):
        return ""
    if typed.subject == "models":
        option = "--bind" if all(value.isdecimal() for _, value in sizes) else "--range"
        return f"write {repeated_option(option, [f'{size}={value}' for size, value in sizes])}"
    return f"write {' '.join(_assumed(size, value).removeprefix('write ') for size, value in sizes)}"


def _listed(typed: UnknownOption, options: Options) -> str:
    """Return all options of the command that its rule takes."""
    own = [o for o in options if not typed.is_of_shapes or _is_for_rule(o.names[0], typed.rule)]
    return f"leave {typed.name} out; its options are {prose_list([o.names[0] for o in own], limit=30)}"


_BOUNDS = {"min": ">=", "opt": "==", "max": "<=", "least": ">=", "most": "<=", "minimum": ">=", "maximum": "<="}
_COMMON_SIZES = ("batch", "height", "width", "seq", "sequence", "length", "time")
_BOUND = re.compile(r"([^\W\d][\w.]*)\s*[=:]\s*([0-9]+)")


def _bounds_meant(typed: UnknownOption) -> str:
    """Return what to write for an option that gives one end of the range of a size; empty for any other."""
    ends = [word for word in typed.words if word in _BOUNDS]
    bound = _BOUND.fullmatch(typed.following)
    named = next((word for word in typed.words[1:] if word in _COMMON_SIZES), "")
    if ends and named and typed.following.isdecimal() and typed.subject == "models":
        bound = _BOUND.fullmatch(f"{named}={typed.following}")
    if typed.command == "contract" and ends and "x" in typed.following and ":" in typed.following:
        return 'give the range of each size by its name, as in --range "H=64..1280"; --to trtexec writes such shapes'
    if not ends or bound is None:
        return ""
    size, value = bound[1], bound[2]
    if typed.command != "contract":
        relation = argument_text(f"{size} {_BOUNDS[ends[0]]} {value}")
        return f"write --assume {relation}"
    text = " ".join(typed.arguments)
    if named:
        return f"write --range {size}={f'1..{value}' if _BOUNDS[ends[0]] == '<=' else f'{value}..4096'}"
    low, high = (re.search(rf"--?{end}\w*[ =]{re.escape(size)}\s*[=:]\s*([0-9]+)", text) for end in ("min", "max"))
    typical = re.search(rf"--?opt\w*[ =]{re.escape(size)}\s*[=:]\s*([0-9]+)", text)
    ended = f"--range {size}={low[1] if low else 1}..{high[1] if high else 4096}"
    return f"give both ends: {ended}{f' --typical {size}={typical[1]}' if typical else ''}"


def _other_command(typed: UnknownOption) -> str:
    """Return the whole line of another command that has the option; empty if none is meant."""
    output = typed.following
    is_output = typed.word in OUTPUTS and ("," in output or is_numbers(output)) and is_shape(output)
    if typed.is_of_shapes and typed.command != "solve" and is_output:
        return f"write {command_line('solve', typed.others, '--out', typed.following)}"
    ending = typed.following.rpartition(".")[2].casefold() if "." in typed.following else ""
    if typed.command == "model" and ending in _ANSWERS:
        form = f" --format {_ANSWERS[ending]}" if _ANSWERS[ending] else ""
        return f"the answer goes to standard output: add{form} > {argument_text(typed.following)}"
    if typed.command in ("contract", "trace", "lint") and typed.word in ("o", "output", "out", "save"):
        return "the answer goes to standard output: add > FILE"
    is_source = any(a.partition("=")[0] in ("--guard", "--format") for a in typed.arguments)
    if typed.command == "model" and is_source and typed.word in OUTPUTS:
        return f"the answer goes to standard output: add > {argument_text(typed.following or 'FILE')}"
    if typed.command == "compare" and takers_of(typed.word.replace("-", "_")):
        rule = next((r for r in (typed.rule, *takers_of(typed.word)) if _is_for_rule(typed.name, r)), typed.rule)
        rule_text = f"{rule.partition('(')[0]}({typed.word.replace('-', '_')}={typed.following or '...'})"
        return f"attributes follow the rule in parentheses: --rule {argument_text(rule_text)}"
    if typed.subject in ("shapes", "other") and typed.word in ("output", "save", "o", "out") and ending:
        form = f" --format {_ANSWERS[ending]}" if _ANSWERS.get(ending) else ""
        return f"the answer goes to standard output: add{form} > {argument_text(typed.following)}"
    is_argument = typed.word in _ARGUMENT_WORDS and (is_file(typed.following) or is_module(typed.following))
    if typed.subject in ("models", "function") and is_argument:
        return f"{argument_text(typed.following)} is an argument: leave {typed.name} out"
    is_shape_given = any(word in _ARGUMENTS for word in typed.words[-2:]) and not {*typed.words} & {*OUTPUTS}
    is_letter = len(typed.word) == 1 and typed.name.startswith("--") and is_shape(typed.following)
    is_letter = is_letter and not _is_size(typed.name[2:], typed.others) and not is_rule_name(typed.following)
    if typed.command == "solve" and is_shape_given and not value_is_given("--out", typed.arguments):
        return "did you mean --out?"
    if typed.is_of_shapes and (is_shape_given or is_letter):
        return f"shapes are arguments: leave {typed.name} out"
    if typed.subject == "function" and typed.name == "-m" and typed.following:
        function = next((a for a in typed.others if a.isidentifier()), "FUNCTION")
        others = [a for a in typed.others if a != function]
        return f"write {command_line('trace', f'{module_of(typed.following)}:{function}', others)}"
    if typed.subject == "function" and typed.word in ("rule", "rules"):
        return f"the function's own code is run, by no other rule: leave {typed.name} out"
    if typed.subject == "function" and typed.word in _ARGUMENTS:
        return f"arguments follow the function: leave {typed.name} out"
    return ""


def _size_meant(typed: UnknownOption) -> str:
    """Return what to write instead of an option that is named by a size, or that gives sizes; empty for any other."""
    command, following = typed.command, typed.following
    pair = _SIZE.fullmatch(following) if typed.subject != "function" else _pair(typed)
    parts = re.split("[-_]", typed.name.lstrip("-"))
    written = "-".join(part for part in parts if part not in _ABOUT_SIZES) if parts[1:] else parts[0]
    size, value = (pair[1], pair[2]) if pair else (written, following)
    if (
        typed.subject == "function"
        and size.isidentifier()
        and following
        and (following[0] != "-" or _LITERAL.match(following))
    ):
        if pair is not None:
            return _assumed(size, value)
        equals = "==" if _LITERAL.fullmatch(following) else "="
        return f"write an argument by its name as {argument_text(f'{written}{equals}{following}')}"
    ends = _RANGE.fullmatch(value)
    if pair is None and typed.word in _SIZES[:-3] and typed.word != "batch":
        return ""
    value = f"{ends[1]}..{ends[2]}" if ends else value
    if not (ends or re.fullmatch(r"[0-9]+", value)) or (pair is None and len(typed.name) < 3):
        return ""
    is_of_sizes = typed.is_of_shapes or command == "bounds"
    if is_of_sizes and pair is None and not _is_size(size, typed.others):
        return ""
    if command == "contract":
        return f"write --range {size}={value}"
    if command == "model":
        return f"write --bind {size}={value}" if ends is None else _assumed(size, value)
    return _assumed(size, value) if is_of_sizes else ""


def _step_meant(typed: UnknownOption) -> str:
    """Return the range with the step that is written as an option; empty if there is no such range."""
    ranges = re.findall(r"--range[ =]([^\W\d][\w.]*=[0-9]+\.\.[0-9]+)(?!\S)", " ".join(typed.arguments))
    if typed.word not in ("step", "steps", "multiple", "divisor") or not typed.following.isdecimal() or not ranges:
        return ""
    return f'write --range "{ranges[0]} step {typed.following}" --form steps'


def _is_size(name: str, shapes: Sequence[str]) -> bool:
    """Return whether a name is one of the sizes in some shapes."""
    return any(name in re.findall(r"[^\W\d][\w.]*", text) for text in shapes)


def _assumed(size: str, value: str) -> str:
    ends = _RANGE.fullmatch(value)
    relation = f"{ends[1]} <= {size} <= {ends[2]}" if ends else f"{size} == {value}"
    return f'write --assume "{relation}"'


def _own_option(typed: UnknownOption, commands: Mapping[str, Options]) -> str:
    """Return which of the command's own options is meant by another word; empty if none is."""
    close = _meant_by_value(typed, commands[typed.command]) or _meant(
        typed, commands[typed.command], is_elsewhere=bool(_having(typed.name, commands))
    )
    return _instead(typed, close, commands[typed.command])


def _meant_by_value(typed: UnknownOption, options: Options) -> list[str]:
    """Return the option that takes such a value, where the value tells: a relation, or the name of a rule."""
    names = [option.names[0] for option in options]
    said = {o for word in typed.words for o in OTHER_WORDS.get(word, "").split()}
    is_comparison = re.search(r"[<>=!]=|[<>]", typed.following) is not None and is_relation(typed.following)
    if is_comparison and "--assume" in names and not said & {"assume", "that"}:
        is_to_prove = "--that" in names and not any(a.startswith("--that") for a in typed.arguments)
        return ["--that" if is_to_prove else "--assume"]
    return ["--rule"] if "--rule" in names and is_rule_name(typed.following.partition("(")[0]) else []


def _instead(typed: UnknownOption, close: Sequence[str], options: Options) -> str:
    """Return what to write instead of an option that means one of some others; several rules are given one by one."""
    several = several_rules(typed.following, typed.others) if list(close) == ["--rule"] else []
    if len(several) > 1:
        option = next(o for o in options if "--rule" in o.names)
        advice = separated(option, several, typed.command, typed.others)
        return f"write {advice}" if option.repeats else advice
    return f"did you mean {prose_list(close, 'or')}?" if close else ""


def _similar(typed: UnknownOption, commands: Mapping[str, Options]) -> str:
    """Return which other commands have an option, or which own option has a similar name; empty if none has."""
    others = _having(typed.name, commands)
    close = [] if others else _misspelt(typed.name, commands[typed.command])
    if close:
        return _instead(typed, close, commands[typed.command])
    have = "has" if len(others) == 1 else "have"
    return f"{prose_list([f'symbcast {other}' for other in others[:3]])} {have} it" if others else ""


def _having(name: str, commands: Mapping[str, Options]) -> list[str]:
    return [c for c, options in commands.items() if any(name in o.names for o in options)]


def _meant(typed: UnknownOption, options: Options, is_elsewhere: bool = False) -> list[str]:
    """Return the options that the user may have meant by an unknown name."""
    # An option that is there already, and is given only once, is not meant a second time.
    is_open = (o.repeats or o.choices or not any(value_is_given(n, typed.arguments) for n in o.names) for o in options)
    options = [option for option, is_meant in zip(options, is_open, strict=True) if is_meant]
    names = [n for option in options for n in option.names if n.startswith("--")]
    word, following = typed.word, typed.following
    if len(word) == 1:
        short = [o for o in options if o.names[0][2] == word]
        if short:
            return [o.names[0] for o in ([o for o in short if following in o.choices] or short)][:3]
    near = _misspelt(typed.name, options)
    following = following if any(following in o.choices for o in options) else CHOICES.get(following, following)
    taking = [o.names[0] for o in options if following and following in o.choices]
    is_near = any(o.names[0] in near and (following in o.choices or not o.choices) for o in options)
    if taking and not is_near:
        return [f"{taking[0]} {following}"]
    said = ([f"--{o}" for o in OTHER_WORDS.get(w, "").split()] for w in typed.words)
    others = next(filter(None, ([n for n in own if n in names] for own in said)), [f"--{word}"])
    tests: tuple[Callable[[str], bool], ...] = (
        lambda n: n in others,
        *(() if is_elsewhere else (lambda n: n.startswith(f"--{word}"), lambda n: word in n[2:].split("-"))),
    )
    likely = next(filter(None, ([n for n in names if test(n)] for test in tests)), [])
    fitting = [n for n in likely if _is_for_rule(n, typed.rule)] if typed.is_of_shapes else likely
    return (fitting or likely)[:3]


def value_is_given(option: str, arguments: Sequence[str]) -> bool:
    """Return whether an option is among the arguments, with its value after ``=`` or behind it."""
    return any(a.partition("=")[0] == option for a in arguments)


def _is_for_rule(option: str, rule: str) -> bool:
    """Return whether an option is no attribute of rules, or one that a rule has."""
    name = option[2:].replace("-", "_")
    return not takers_of(name) or name in [p.name for p in parameters_of(rule.partition("(")[0])]


def _misspelt(name: str, options: Options) -> list[str]:
    """Return the option that an unknown name resembles."""
    from difflib import SequenceMatcher

    names = [n for option in options for n in option.names if n.startswith("--")]
    word = name.lstrip("-").casefold()
    close = closest(word, [known[2:] for known in names])
    is_near = close is not None and SequenceMatcher(None, word, close).ratio() >= _NEAR
    return [f"--{close}"] if is_near else []


# Two words of an option that have less in common are different ones, such as ``cases`` and ``axes``.
_NEAR = 0.72
