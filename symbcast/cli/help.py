"""The commands as cyclopts sees them: it writes their help and the completion of shells."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Annotated, Any

from cyclopts import App, Parameter

from symbcast.cli.option import Command, Option, divided, helps_of, options_of
from symbcast.version import __version__

_EPILOGUE = """Example: symbcast check "N, 3" "M, 1" --assume "N >= 2"

Example: symbcast model encoder.onnx --assume "batch >= 1"

Exit status: 0 for all sizes, 1 for some sizes or none, 2 wrong usage or input, 3 not decided."""


def make_app(commands: Mapping[str, tuple[Command, str | None]]) -> App:
    """Return the application with some commands by name, each with the end of its help."""
    app = App(
        name="symbcast",
        help="For which sizes does this broadcast, or this model, work, and what comes out?",
        help_epilogue=_EPILOGUE,
        help_format="plaintext",
        version=__version__,
        result_action="return_value",
    )
    for name, (command, epilogue) in commands.items():
        app.command(_declared(command), name=name, help_epilogue=epilogue)
    return app


def _declared(command: Command) -> Command:
    """Return a command with the annotations that cyclopts reads."""

    def made(*args: Any, **options: Any) -> int:
        return command(*args, **options)

    own = inspect.signature(command, eval_str=True)
    helps, options = helps_of(command), {o.parameter: o for o in options_of(command)}
    parameters = [_parameter(p, options.get(p.name), helps.get(p.name, "")) for p in own.parameters.values()]
    made.__name__, made.__doc__ = command.__name__, command.__doc__
    made.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined] # functions take attributes
    made.__annotations__ = {p.name: p.annotation for p in parameters}
    return made


def _parameter(parameter: inspect.Parameter, option: Option | None, help: str) -> inspect.Parameter:
    """Return a parameter with the annotation that cyclopts reads."""
    hint, _ = divided(parameter.annotation)
    if option is None:
        return parameter.replace(annotation=Annotated[hint, Parameter(help=help)])
    is_told = parameter.default is not None and not option.is_switch
    said = Parameter(list(option.names), help=option.help, negative=(), consume_multiple=False, show_default=is_told)
    return parameter.replace(annotation=Annotated[hint, said])
