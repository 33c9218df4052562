"""The playground in Chromium: Python and symbcast run in the page, which any server of files can serve."""

from __future__ import annotations

import functools
import http.server
import json
import re
import runpy
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

DOCS = Path(__file__).parents[2] / "docs"
FILES = DOCS / "static" / "playground"
MILLISECONDS = 240_000


class Server(http.server.SimpleHTTPRequestHandler):
    extensions_map = http.server.SimpleHTTPRequestHandler.extensions_map | {".mjs": "text/javascript"}

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the page as the site has it, without the site's theme."""
    if not (FILES / "wheels.json").exists():
        pytest.skip("the playground's files are not here: python docs/playground_files.py")
    (page,) = re.findall(r"```\{raw\} html\n(.*?)```", (DOCS / "playground.md").read_text("utf-8"), re.S)
    folder = tmp_path_factory.mktemp("playground")
    shutil.copytree(FILES, folder / "_static" / "playground")
    (folder / "playground.html").write_text(f"<!doctype html><meta charset='utf-8'><body>{page}", "utf-8")
    return folder


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Server, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/playground.html"
    server.shutdown()
    server.server_close()


def answers(page: Page) -> int:
    return int(page.evaluate("document.getElementById('playground').dataset.answered ?? 0"))


def wait(page: Page, count: int) -> None:
    number = "Number(document.getElementById('playground').dataset.answered ?? 0)"
    page.wait_for_function(f"{number} >= {count}", timeout=MILLISECONDS)


def fill(page: Page, name: str, text: str) -> str:
    """Fill in a field and return the answer to it."""
    before = answers(page)
    page.fill(f'[name="{name}"]', text)
    wait(page, before + 1)
    return page.locator(".answer").inner_text()


def test_type_a_question_and_share_it(browser: Browser, address: str) -> None:
    page = browser.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(address)
    wait(page, 1)
    assert "N and M are equal, or one of them is 1" in page.locator(".answer").inner_text()
    assert "49 of 289 cells work" in page.locator(".plot").inner_text()
    assert (
        "M, 1 ^" not in fill(page, "shapes", "N, 3\nM, 4")
        and "valid for no sizes" in page.locator(".answer").inner_text()
    )
    assert "there is no operator '^'" in fill(page, "shapes", "N^2")
    fill(page, "assume", "N >= 2\nM >= 2\nK >= 2")
    said = fill(page, "shapes", "N*N*N + M*M*M\nK*K*K")
    assert "z3 is not available here" in " ".join(said.split()) and "ModuleNotFoundError" not in said
    other = browser.new_page()
    other.goto(page.url)
    wait(other, 1)
    assert other.input_value('[name="shapes"]') == "N*N*N + M*M*M\nK*K*K"
    assert "z3 is not available here" in " ".join(other.locator(".answer").inner_text().split())
    assert not errors


def test_compare_rules_and_write_a_program(browser: Browser, address: str) -> None:
    page = browser.new_page()
    page.goto(address)
    wait(page, 1)
    page.check('[name="kind"][value="compare"]')
    wait(page, 2)
    assert "numpy accepts everything that pdpd accepts" in page.locator(".answer").inner_text()
    page.check('[name="kind"][value="program"]')
    wait(page, 3)
    assert "mask" in page.locator(".answer").inner_text()
    # sympy is not loaded before a question needs it.
    assert "AssertionError: N" in fill(page, "program", 'assert False, sb.Condition("N == M").sympy.lhs')


def test_a_page_that_was_opened_from_a_file_says_what_to_do(browser: Browser, folder: Path) -> None:
    page = browser.new_page()
    page.goto((folder / "playground.html").as_uri())
    assert "python3 -m http.server" in page.locator(".status").inner_text()


def test_what_answers_in_the_page_answers_here() -> None:
    """The part in Python is tested without a browser too."""
    answer = runpy.run_path(str(FILES / "answers.py"))["answer"]
    question = {"kind": "broadcast", "shapes": "N, 3\nM, 1", "rule": "pdpd", "attributes": "axis=0", "assume": ""}
    said = json.loads(answer(json.dumps(question)))
    assert "M is 1 or equals N" in said["html"] and said["axes"] == ["N", "M"]
    assert "33 of 289 cells work" in said["plot"]
    wrong = json.loads(answer(json.dumps({**question, "attributes": "flavour='x'"})))
    assert wrong["error"].startswith("rule 'pdpd': flavour='x' is not offered")
