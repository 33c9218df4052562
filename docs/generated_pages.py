"""Pages of the site that repeat what the repository has elsewhere: public names, commands, READMEs, notebooks.

Each fact is stated in one place: docstrings, the command line's help and the folders' READMEs. This module copies them
and turns links between files into links between pages.
"""

from __future__ import annotations

import inspect
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType

from returned_classes import returned_classes

import symbcast as sb
from symbcast import _meanings as meanings_of_module
from symbcast.answers.contracts.targets import targets
from symbcast.answers.contracts.targets.declaration import Target
from symbcast.cli.command import Command, Option, command_names, load_command
from symbcast.cli.help import GROUPS

ROOT = Path(__file__).parent.parent
TOPICS = {
    "symbcast/core/text": "notation",
    "symbcast/core/rules": "rules",
    "symbcast/answers/public": "broadcasts",
    "symbcast/answers/cases": "questions",
    "symbcast/answers/comparison": "comparison",
    "symbcast/core/programs": "programs",
    "symbcast/answers/guards": "guards",
    "symbcast/answers/contracts": "contracts",
    "symbcast/onnx": "onnx",
    "symbcast/openvino": "openvino",
    "symbcast/stablehlo": "stablehlo",
    "symbcast/litert": "litert",
    "symbcast/torch": "torch",
    "symbcast/arrays": "functions",
    "symbcast/linting": "lint",
    "symbcast/adapters": "adapters",
    "symbcast/notebook": "notebook",
    "symbcast/cli": "command_line",
}
"""The folders whose README is a page for users, with the page's name."""

DEVELOPMENT = {
    "CONTRIBUTING.md": "contributing",
    "symbcast/operators": "operators",
    "symbcast/paths": "paths",
    "symbcast/core/solver": "solver",
    "symbcast/graphs": "graphs",
    "symbcast/answers": "reports",
    "symbcast/answers/show": "renderers",
    "symbcast/core/algebra": "algebra",
    "tests": "tests",
    "tests/benchmarks": "benchmarks",
    "tests/conformance": "conformance_suite",
    "tests/data": "test_data",
    "tests/data/stablehlo": "stablehlo_data",
}
"""The folders whose README is a page for contributors, and other documents for them, with the page's name."""

PAGES = {
    **{place: f"topics/{name}" for place, name in TOPICS.items()},
    **{place: f"development/{name}" for place, name in DEVELOPMENT.items()},
}

FRONT_ENDS = ("onnx", "openvino", "stablehlo", "litert", "torch", "jax", "adapters", "notebook")
"""The modules of the public interface, each with a page of its functions."""


def write(folder: Path) -> None:
    """Write all generated pages into a folder that is replaced as a whole."""
    shutil.rmtree(folder, ignore_errors=True)
    pages = {
        **topic_pages(),
        **reference_pages(),
        "commands.md": commands_page(),
        "other_names.md": other_names_page(),
        "targets.md": targets_page(),
        **release_pages(),
    }
    for name, text in pages.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    shutil.copytree(ROOT / "notebooks", folder / "notebooks", ignore=shutil.ignore_patterns("conftest.py", ".*"))
    for notebook in (folder / "notebooks").glob("*.ipynb"):
        notebook.write_text(_notebook_links(notebook.read_text("utf-8")), "utf-8")


# READMEs of folders.


def topic_pages() -> dict[str, str]:
    """Return the documents that are pages, by page, with links that lead to pages."""
    files = {page: ROOT / place / ("" if place.endswith(".md") else "README.md") for place, page in PAGES.items()}
    return {f"{page}.md": with_page_links(file.read_text("utf-8"), file.parent) for page, file in files.items()}


def with_page_links(text: str, folder: Path) -> str:
    """Return Markdown of a folder with links to pages for links to files; those to files without a page become code."""

    def replaced(match: re.Match[str]) -> str:
        label, target = match[1], match[2]
        if "://" in target or target.startswith("#"):
            return match[0]
        path, _, anchor = target.partition("#")
        page = _page_of((folder / path).resolve())
        if page is None:
            return label if label.startswith("`") else f"{label} (`{_in_repository(folder / path)}`)"
        return f"[{label}](/{page}{'#' + anchor if anchor else ''})"

    return re.sub(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)", replaced, text)


def _page_of(path: Path) -> str | None:
    """Return the page of a file of the repository; None if it has none."""
    inside = _in_repository(path)
    if path.suffix == ".ipynb":
        return f"generated/notebooks/{path.name}"
    if inside.startswith("docs/"):
        return inside.removeprefix("docs/")
    folder = inside.removesuffix("/README.md")
    return f"generated/{PAGES[folder]}.md" if folder in PAGES else None


def _in_repository(path: Path) -> str:
    return Path(os.path.relpath(path.resolve(), ROOT)).as_posix()


def _notebook_links(text: str) -> str:
    """Return the text of a notebook whose links to READMEs lead to pages."""

    def replaced(match: re.Match[str]) -> str:
        page = _page_of((ROOT / "notebooks" / match[1]).resolve())
        return f"](/{page}{match[2] or ''})" if page else match[0]

    return re.sub(r"\]\((\.\./[^)#\s]+)(#[^)\s]*)?\)", replaced, text)


# Public names.


def reference_pages() -> dict[str, str]:
    """Return a page for each public class and module, one for the functions, and their list."""
    classes = [n for n in sb.__all__ if inspect.isclass(getattr(sb, n))]
    errors = [n for n in classes if issubclass(getattr(sb, n), BaseException)]
    functions = [n for n in sb.__all__ if inspect.isfunction(getattr(sb, n))]
    pages = {
        "reference/functions.rst": _page("Functions", (f".. autofunction:: symbcast.{n}" for n in functions)),
        "reference/errors.rst": _page(
            "Exceptions", (f".. autoexception:: symbcast.{n}\n   :show-inheritance:" for n in errors)
        ),
    }
    own = [n for n in classes if n not in errors]
    for name in own:
        pages[f"reference/{name}.rst"] = _class_page(name, getattr(sb, name))
    documented: dict[object, str] = {getattr(sb, n): f"symbcast.{n}" for n in (*classes, *functions)}
    for name in FRONT_ENDS:
        pages[f"reference/{name}.rst"] = _module_page(name, documented)
    pages["reference/returned.rst"] = _page("Classes of results", _returned_classes(documented))
    groups = {"Everything at once": ["functions", "errors", "returned"], "Classes": own, "Modules": list(FRONT_ENDS)}
    trees = [f".. toctree::\n   :caption: {title}\n\n{_indented(names)}" for title, names in groups.items()]
    pages["reference/index.rst"] = _page("Reference", ["All public names, from their docstrings.", *trees])
    return pages


def _indented(names: list[str]) -> str:
    return "\n".join(f"   {name}" for name in names)


def _class_page(name: str, cls: type) -> str:
    return _page(name, [_autoclass(f"symbcast.{name}", cls)])


def _autoclass(path: str, cls: type) -> str:
    """Return the directive for a class with all of its members, but for those of other libraries' classes."""
    foreign = [base.__name__ for base in cls.__mro__ if not base.__module__.startswith("symbcast")]
    return f".. autoclass:: {path}\n   :members:\n   :inherited-members: {', '.join(foreign)}"


def _module_page(name: str, documented: dict[object, str]) -> str:
    """Return the page of a front end: its public functions and classes, each documented at its first name."""
    module = getattr(sb, name)
    assert isinstance(module, ModuleType)
    listed = getattr(module, "__all__", None) or [n for n in dir(module) if not n.startswith("_")]
    parts = []
    for public in listed:
        found, path = getattr(module, public), f"symbcast.{name}.{public}"
        first = documented.setdefault(found, path) if callable(found) else path
        if first != path:
            parts.append(f"``{path}`` is :py:obj:`{first}`.")
        elif inspect.isclass(found):
            parts.append(_autoclass(path, found))
        elif callable(found):
            parts.append(f".. autofunction:: {path}")
    first = (inspect.getdoc(module) or "").split("\n\n")[0].replace("\n", " ")
    return _page(f"symbcast.{name}", [first, *parts])


def _returned_classes(documented: Mapping[object, str]) -> Iterator[str]:
    yield "What functions and methods return, other than the classes with pages of their own."
    for path, cls in returned_classes(documented).items():
        yield f".. py:currentmodule:: {cls.__module__}"
        yield _autoclass(path, cls)


def _page(title: str, parts: Iterator[str] | list[str]) -> str:
    return "\n\n".join([_title(title), *parts, ""])


def _title(title: str) -> str:
    return f"{title}\n{'=' * len(title)}\n"


# Commands and guessed names.


def commands_page() -> str:
    """Return what the help of every command says, as a page that can be read on a narrow screen."""
    commands = [load_command(name) for name in command_names()]
    groups = dict.fromkeys([*GROUPS, *sorted(c.title for c in commands)])
    head = "# Commands\n\n`symbcast COMMAND --help` prints what this page says.\n"
    lists = [
        f"**{title}**\n\n" + "\n".join(f"- [{c.name}](#symbcast-{c.name}): {_summary(c)}" for c in own)
        for title in groups
        if (own := [c for c in commands if c.title == title])
    ]
    return "\n\n".join([head, *lists, *map(_command_text, commands)]) + "\n"


def _summary(command: Command) -> str:
    return " ".join(inspect.cleandoc(command.function.__doc__ or "").split("\n\n")[0].split())


def _command_text(command: Command) -> str:
    """Return the section of a command: its summary, an example, arguments and options."""
    parts = [f"## symbcast {command.name}\n\n{_summary(command)}"]
    example, *notes = [part for part in command.epilogue.split("\n\n") if part.strip()] or [""]
    line = example.partition("Example: ")[2]
    parts += [f"```sh\n{line}\n```"] if line else [_markdown(example)] if example else []
    parts += map(_markdown, notes)
    parts += [f"What it executes: {command.executes}."] if command.executes else []
    listed = [(name.upper(), "", help) for name, help in command.arguments]
    listed += [(", ".join(option.names), _value(option), option.help) for option in command.options()]
    parts += [f"`{name}{value}`\n: {_markdown(help) or 'see above'}" for name, value, help in listed]
    return "\n\n".join(parts)


def _value(option: Option) -> str:
    if option.is_switch:
        return ""
    kinds = {int: " NUMBER", float: " NUMBER"}
    return f" {'|'.join(option.choices)}" if 0 < len(option.choices) < 8 else kinds.get(option.number, " TEXT")


def _markdown(text: str) -> str:
    """Return a text of the help as Markdown: characters with a meaning there keep the one they have in a terminal."""
    escaped = re.sub(r"([*_<>\[\]|])", r"\\\1", " ".join(text.split()))
    return re.sub(r"(?<![\w-])(--[a-z][a-z-]*)", r"`\1`", escaped)  # otherwise a page makes a dash of the hyphens


def targets_page() -> str:
    """Return what each target of a contract takes, and the rules that each text keeps, as their files declare them."""
    head = "# Targets of contracts\n\nWhat `contract.to(target)` writes, and the rules that each text keeps."
    return "\n\n".join([head, *(_target_text(name, target) for name, target in targets().items())]) + "\n"


def _target_text(name: str, target: Target) -> str:
    rules = [f"- {rule.text} ({rule.source})" for rule in target.rules]
    return "\n".join([f"## {name}\n\n{target.text}; forms: {target.forms}.\n", *rules])


def other_names_page() -> str:
    """Return what symbcast calls things that have other names elsewhere: the suggestions of its errors."""
    head = "# Other names\n\nNames from other libraries, and what to use here.\n"
    tables = {
        "symbcast": meanings_of_module(),
        "ShapeEnv": sb.ShapeEnv._meanings,
        "An answer": sb.Result._meanings,
        "Condition": sb.Condition._meanings,
        "Shape": sb.Shape._meanings,
    }
    return "\n\n".join([head, *(f"## {title}\n\n{_names_table(names)}" for title, names in tables.items())]) + "\n"


def _names_table(names: Mapping[str, str]) -> str:
    by_use: dict[str, list[str]] = {}
    for name, use in names.items():
        by_use.setdefault(use, []).append(name)
    rows = (
        f"| {', '.join(f'`{n}`' for n in guesses)} | {use.replace('|', chr(92) + '|')} |"
        for use, guesses in sorted(by_use.items())
    )
    return "\n".join(["| elsewhere | here |", "|---|---|", *rows])


# Releases.


def release_pages() -> dict[str, str]:
    """Return a page for each release, the newest first in the list: the sections of the changelog."""
    _, *sections = re.split(r"^## ", (ROOT / "CHANGELOG.md").read_text("utf-8"), flags=re.MULTILINE)
    head = "---\nnosearch: true\n---\n\n# "  # otherwise each word leads to the changes first
    pages = {f"releases/{text.split()[0]}.md": head + text.replace("\n### ", "\n## ") for text in sections}
    listed = "\n".join(Path(name).stem for name in pages)
    pages["releases/index.md"] = f"# Releases\n\nWhat users notice.\n\n```{{toctree}}\n{listed}\n```\n"
    return pages
