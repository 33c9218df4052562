"""JupyterLab on this machine, with settings and kernels of its own, and a page of it in headless Chromium."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.error import URLError

import nbformat

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).parents[2]
ARTEFACTS = Path(os.environ.get("SYMBCAST_ARTEFACTS", ROOT / ".artefacts"))
"""Where pictures of the run are kept."""

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

_STARTS_WITHIN = 60
_KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
_QUIET = {"fetchNews": "false", "checkForUpdates": False}
# What a page may say that is no fault of what it shows.
_HARMLESS = ("favicon",)


class Lab:
    """A JupyterLab server that runs; notebooks are written into its folder."""

    def __init__(self, folder: Path, url: str) -> None:
        self._folder = folder
        self._url = url

    def write(self, name: str, *sources: str) -> str:
        """Write a notebook of code cells; return the address of it alone in a page."""
        cells = [nbformat.v4.new_code_cell(source) for source in sources]
        nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=_KERNEL), self._folder / name)
        return f"{self._url}/doc/tree/{name}?reset"


@contextmanager
def jupyterlab(folder: Path) -> Iterator[Lab]:
    """Start a server on a free port of this machine, and stop it and its kernels."""
    settings = folder / "settings/@jupyterlab/apputils-extension/notification.jupyterlab-settings"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps(_QUIET))
    notebooks = folder / "notebooks"
    notebooks.mkdir()
    port = _free_port()
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}"),
        *("--IdentityProvider.token=", f"--ServerApp.root_dir={notebooks}", "--LabApp.expose_app_in_browser=True"),
        *(f"--LabApp.user_settings_dir={folder / 'settings'}", "--LabApp.extension_manager=readonly"),
    ]
    own = {f"JUPYTER_{what}_DIR": str(folder / what.lower()) for what in ("CONFIG", "RUNTIME", "DATA")}
    environment = {**os.environ, **own, "IPYTHONDIR": str(folder / "ipython"), "PYTHONPATH": str(ROOT)}
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=notebooks)
        try:
            url = f"http://127.0.0.1:{port}"
            _wait(url, server, folder / "log")
            yield Lab(notebooks, url)
        finally:
            server.terminate()
            server.wait(timeout=20)


@contextmanager
def page_of(browser: Browser, url: str, theme: str = "Light") -> Iterator[Page]:
    """Open a notebook, run all its cells, and fail on any error in the page's console."""
    context = browser.new_context(viewport={"width": 1300, "height": 1200})
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()
    faults: list[str] = []
    page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(url)
    page.wait_for_function(
        "() => window.jupyterapp?.shell.currentWidget?.context?.sessionContext?.session?.kernel?.status === 'idle'",
        timeout=_STARTS_WITHIN * 1000,
    )
    run = "(name) => window.jupyterapp.commands.execute(name, name.includes('theme') ? {theme: THEME} : {})"
    run = run.replace("THEME", json.dumps(f"JupyterLab {theme}"))
    page.evaluate(run, "apputils:change-theme")
    page.evaluate(run, "notebook:run-all-cells")
    try:
        yield page
        assert [f for f in faults if not any(word in f for word in _HARMLESS)] == []
    finally:
        context.close()


def keep(page: Page, name: str) -> None:
    """Keep a picture of a page as an artefact of this run."""
    ARTEFACTS.mkdir(exist_ok=True)
    page.screenshot(path=ARTEFACTS / f"{name}.png")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + _STARTS_WITHIN
    while time.monotonic() < until and server.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/api", timeout=5):
                return
        except (URLError, ConnectionError):
            time.sleep(0.2)
    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text()[-2000:]}")
