"""The configuration of lint: the table ``tool.symbcast.lint`` of pyproject.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from symbcast.errors import ShapeTypeError
from symbcast.linting.codes import CODES


@dataclass(frozen=True)
class Config:
    """Options of lint.

    Attributes:
        paths: The files and folders to check if none are given.
        exclude: Files and folders that are left out: paths or patterns.
        select: The codes to report, by identifier or name; empty for all.
        ignore: The codes not to report.
        min_size: The minimum size of every name.
        jobs: The number of child processes; 0 for one per core.
        timeout: The seconds after which a function is left unknown.
        cache: Whether results are kept.
    """

    paths: tuple[str, ...] = (".",)
    exclude: tuple[str, ...] = ()
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    min_size: int = 1
    jobs: int = 0
    timeout: float = 60.0
    cache: bool = True

    def given(self, **options: Any) -> Config:
        """Return the configuration with the options that are not None. Raises `ShapeTypeError` for unknown codes."""
        found = replace(self, **{n: v for n, v in options.items() if v is not None})
        known = {text for code in CODES for text in code.both}
        for text in (*found.select, *found.ignore):
            if text not in known:
                same = next((other for other in known if other.casefold() == text.casefold().replace("_", "-")), "")
                one = same or f"one of {', '.join(c.id for c in CODES)}, or its name"
                raise ShapeTypeError(text, "a code", f"write {one}")
        if found.min_size < 0:
            raise ShapeTypeError(found.min_size, "a minimum size", "write 0 or more")
        return found

    def is_wanted(self, code: str) -> bool:
        """Return whether findings of a code are reported."""
        (both,) = (c.both for c in CODES if c.id == code)
        is_selected = not self.select or any(t in self.select for t in both)
        return is_selected and not any(t in self.ignore for t in both)


def read_config(folder: Path) -> Config:
    """Return the configuration of the nearest pyproject.toml, in a folder or above it; its paths are relative to it.

    Raises `ShapeTypeError` for options that do not exist or have another type.
    """
    for place in (folder, *folder.parents):
        file = place / "pyproject.toml"
        if file.is_file():
            with file.open("rb") as stream:
                table = tomllib.load(stream).get("tool", {}).get("symbcast", {}).get("lint", {})
            return _config(table, place)
    return Config()


def _config(table: Mapping[str, Any], folder: Path) -> Config:
    kinds: dict[str, Any] = {f.name: f.default for f in fields(Config)}
    found: dict[str, Any] = {}
    for key, value in table.items():
        name = key.replace("-", "_")
        if name not in kinds:
            names = ", ".join(n.replace("_", "-") for n in kinds)
            raise ShapeTypeError(key, "an option of tool.symbcast.lint", f"write one of {names}")
        found[name] = _read(key, value, kinds[name])
    for name in ("paths", "exclude"):
        if name in found:
            found[name] = tuple(_relative(folder / p) for p in found[name])
    return Config().given(**found)


def _read(key: str, value: Any, default: Any) -> Any:
    if isinstance(default, tuple):
        is_list = isinstance(value, list) and all(isinstance(v, str) for v in value)
        if not is_list:
            raise ShapeTypeError(value, f"a value of {key}", "write a list of texts")
        return tuple(value)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    is_right = isinstance(value, bool) if isinstance(default, bool) else is_number
    if not is_right or (isinstance(default, int) and not isinstance(value, int)):
        raise ShapeTypeError(value, f"a value of {key}", f"write one such as {default}")
    return value


def _relative(path: Path) -> str:
    here: Sequence[Path] = [Path.cwd()]
    return str(path.relative_to(here[0])) if path.is_relative_to(here[0]) else str(path)
