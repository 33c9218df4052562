"""The files of the playground: ``python docs/playground_files.py`` gets Pyodide from npm, and builds and gets wheels.

They are put into ``docs/static/playground``, where git ignores them. symbcast's wheel is built from this repository.
sympy is a wheel of its own that the page loads when a question needs it.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
PLAYGROUND = HERE / "static" / "playground"
PYODIDE = "pyodide@314.0.7"
NEEDED = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
LATER = ("sympy", "mpmath<1.4")


def main() -> None:
    """Put all files in their places and print their sizes."""
    with tempfile.TemporaryDirectory() as folder:
        _pyodide(Path(folder))
        first = _wheels(Path(folder) / "own", "wheel", str(HERE.parent))
        later = _wheels(Path(folder) / "later", "download", *LATER)
    (PLAYGROUND / "wheels.json").write_text(json.dumps({"first": first, "later": later}), "utf-8")
    for file in sorted(p for p in PLAYGROUND.rglob("*") if p.is_file()):
        print(f"{file.stat().st_size / 1e6:8.2f} MB  {file.relative_to(PLAYGROUND)}")


def _pyodide(folder: Path) -> None:
    """Unpack what a page needs of Pyodide."""
    subprocess.run(["npm", "pack", "--silent", PYODIDE], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    (archive,) = folder.glob("pyodide-*.tgz")
    target = PLAYGROUND / "pyodide"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    with tarfile.open(archive) as packed:
        for name in NEEDED:
            content = packed.extractfile(f"package/{name}")
            assert content is not None
            (target / name).write_bytes(content.read())


def _wheels(folder: Path, command: str, *packages: str) -> list[str]:
    """Build or download wheels without what they depend on; return their names."""
    folder.mkdir()
    subprocess.run([sys.executable, "-m", "pip", command, "-q", "--no-deps", *packages], cwd=folder, check=True)
    (PLAYGROUND / "wheels").mkdir(exist_ok=True)
    names = sorted(wheel.name for wheel in folder.glob("*.whl"))
    for name in names:
        shutil.copy(folder / name, PLAYGROUND / "wheels" / name)
    return names


if __name__ == "__main__":
    main()
