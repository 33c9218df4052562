"""The server of editors, spoken to by a client over standard input and output, as an editor does."""

import asyncio
import sys
from random import Random

import pytest

pytest.importorskip("numpy")
pytest.importorskip("jaxtyping")
pytest.importorskip("pygls")
pytest_lsp = pytest.importorskip("pytest_lsp")
from lsprotocol import types  # noqa: E402

WRONG = """from jaxtyping import Float
import numpy as np

def total(x: Float[np.ndarray, "N M"]) -> Float[np.ndarray, "N"]:
    é, n = x.T, len(x)
    rows = [row.sum() for row in é]
    return x.sum(0)

def joined(x: Float[np.ndarray, "*b N"], y: Float[np.ndarray, "*b M"]) -> Float[np.ndarray, "*b N+M"]:
    both = np.concatenate(
        [x, y], axis=-1
    )
    return both
"""
EVERYWHERE = types.Range(types.Position(0, 0), types.Position(99, 0))


class Editor:
    """An editor with a folder, and perhaps others; it answers questions with ``answer``."""

    def __init__(self, folder, answer=None, others=()):
        self.client, self.folder, self.questions = pytest_lsp.make_test_lsp_client(), folder, []
        self.folders = [types.WorkspaceFolder(f.as_uri(), f.name) for f in (folder, *others)]

        @self.client.feature(types.WINDOW_SHOW_MESSAGE_REQUEST)
        def _(params):
            self.questions.append(params.message)
            return next((a for a in params.actions if a.title == answer), None)

    async def start(self, *options):
        uri = self.folder.as_uri()
        await self.client.start_io(sys.executable, "-P", "-m", "symbcast", "lsp", *options)
        await self.client.initialize_session(
            types.InitializeParams(
                pytest_lsp.client_capabilities("visual-studio-code"), root_uri=uri, workspace_folders=self.folders
            )
        )

    async def open(self, name, encoding="utf-8", uri=None):
        uri = uri or (self.folder / name).as_uri()
        text = (self.folder / name).read_text(encoding)
        item = types.TextDocumentItem(uri, "python", 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return types.TextDocumentIdentifier(uri)

    async def published(self, document):
        while True:
            params = await self.client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
            if params.uri == document.uri:
                return list(params.diagnostics)

    async def shown(self, document, count):
        """The last diagnostics of a document, once there are so many; other files are checked again meanwhile."""
        while document.uri not in self.client.diagnostics or len(self.client.diagnostics[document.uri]) != count:
            await asyncio.sleep(0.05)
        return self.client.diagnostics[document.uri]

    def change(self, document, text):
        change = types.TextDocumentContentChangeWholeDocument(text)
        identifier = types.VersionedTextDocumentIdentifier(2, document.uri)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(identifier, [change]))

    def save(self, document, name, text):
        (self.folder / name).write_text(text, "utf-8")
        self.client.text_document_did_save(types.DidSaveTextDocumentParams(document))

    async def hints(self, document):
        hints = await self.client.text_document_inlay_hint_async(types.InlayHintParams(document, EVERYWHERE))
        return [(h.position.line, h.position.character, h.label) for h in hints]

    async def hover(self, document, line):
        place = types.Position(line, 4)
        hover = await self.client.text_document_hover_async(types.HoverParams(document, place))
        return hover and hover.contents.value


def session(folder, talk, *options, answer=None, others=()):
    """Run a session of an editor in a folder, of at most a minute; return the editor."""

    async def main():
        editor = Editor(folder, answer, others)
        await editor.start(*options)
        await asyncio.wait_for(talk(editor), 60)
        await editor.client.shutdown_session()
        return editor

    return asyncio.run(main())


def test_an_editor_shows_findings_shapes_and_fixes_of_files_that_are_opened_and_saved(tmp_path):
    (tmp_path / "code.py").write_text(WRONG, "utf-8")

    async def talk(editor):
        document = await editor.open("code.py")
        [wrong] = await editor.published(document)
        assert (wrong.code, wrong.severity, wrong.source) == ("SYM101", types.DiagnosticSeverity.Error, "symbcast")
        assert wrong.message == 'total returns "N" only if N == M: at N=1, M=2 it returns (2,)'
        assert WRONG.splitlines()[3][wrong.range.start.character : wrong.range.end.character] == (
            'Float[np.ndarray, "N"]'
        )
        assert await editor.hints(document) == [(4, 5, ": (M, N)"), (4, 8, ": N"), (9, 8, ": (*b, M + N)")]
        assert wrong.message in await editor.hover(document, 3)
        assert await editor.hover(document, 8) == "`joined`: proved in part: *b of 0, 1, 2 axes"
        assert await editor.hover(document, 2) is None
        action, ignoring = await editor.client.text_document_code_action_async(
            types.CodeActionParams(document, EVERYWHERE, types.CodeActionContext([wrong]))
        )
        assert action.title == 'Write "M", which it returns' and action.is_preferred
        [edit] = action.edit.changes[document.uri]
        lines = WRONG.splitlines()
        line = lines[edit.range.start.line]
        lines[3] = line[: edit.range.start.character] + edit.new_text + line[edit.range.end.character :]
        [comment] = ignoring.edit.changes[document.uri]
        assert comment.new_text == "  # symbcast: ignore[SYM101]"

        # Hints follow their lines while the text is edited, and those of changed lines are gone.
        edited = "# a comment\n" + WRONG.replace("é, n = x.T, len(x)", "é, n = x, len(x)")
        editor.change(document, edited)
        assert await editor.hints(document) == [(10, 8, ": (*b, M + N)")]

        editor.change(document, "\n".join(lines))
        editor.save(document, "code.py", "\n".join(lines))
        assert await editor.published(document) == []
        assert await editor.hover(document, 3) == "`total`: proved"

    editor = session(tmp_path, talk, "--trust", str(tmp_path))
    assert editor.questions == []
    assert (tmp_path / ".symbcast_cache").is_dir()


HARM = "from pathlib import Path\nPath(__file__).with_name('ran').write_text('')\n"


@pytest.mark.parametrize("answer", ["Run its code", "Not now", None])
def test_nothing_is_run_before_the_user_allows_it(tmp_path, answer):
    (tmp_path / "code.py").write_text(HARM + WRONG, "utf-8")
    (tmp_path / "other.py").write_text(HARM + WRONG, "utf-8")

    async def talk(editor):
        for name in ("code.py", "other.py"):
            document = await editor.open(name)
            if answer == "Run its code":
                assert len(await editor.published(document)) == 1
            assert (await editor.hints(document) == []) == (answer != "Run its code")

    editor = session(tmp_path, talk, answer=answer)
    assert (tmp_path / "ran").exists() == (answer == "Run its code")
    assert len(editor.questions) == 1 and str(tmp_path) in editor.questions[0]


def test_a_second_save_stops_the_first_check(tmp_path):
    (tmp_path / "code.py").write_text("while True:\n    pass\n" + WRONG, "utf-8")

    async def talk(editor):
        document = await editor.open("code.py")
        await asyncio.sleep(1)
        editor.save(document, "code.py", WRONG)
        assert [d.code for d in await editor.published(document)] == ["SYM101"]

    session(tmp_path, talk, "--trust", str(tmp_path))


def test_files_that_import_the_saved_one_are_checked_again(tmp_path):
    (tmp_path / "base.py").write_text("axis = 0\n", "utf-8")
    (tmp_path / "code.py").write_text("import base\n" + WRONG.replace("sum(0)", "sum(base.axis)"), "utf-8")

    async def talk(editor):
        document = await editor.open("code.py")
        assert len(await editor.published(document)) == 1
        base = await editor.open("base.py")
        assert await editor.published(base) == []
        editor.save(base, "base.py", "axis = 1\n")
        while await editor.published(document):
            pass

    session(tmp_path, talk, "--trust", str(tmp_path))


def test_a_wrong_configuration_is_shown(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[tool.symbcast.lint]\nsizes = 1\n", "utf-8")
    (tmp_path / "code.py").write_text(WRONG, "utf-8")

    async def talk(editor):
        await editor.open("code.py")
        await editor.client.wait_for_notification(types.WINDOW_SHOW_MESSAGE)

    editor = session(tmp_path, talk, "--trust", str(tmp_path))
    assert "tool.symbcast.lint" in editor.client.messages[0].message


def test_a_configuration_that_is_no_toml_is_shown(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[tool", "utf-8")
    (tmp_path / "code.py").write_text(WRONG, "utf-8")

    async def talk(editor):
        await editor.open("code.py")
        await editor.client.wait_for_notification(types.WINDOW_SHOW_MESSAGE)

    editor = session(tmp_path, talk, "--trust", str(tmp_path))
    assert "cannot be read" in editor.client.messages[0].message


def test_files_of_any_encoding_and_size_and_documents_that_are_no_files(tmp_path):
    latin = "# coding: latin-1\nNAME = 'é\x0c\u2028'\n".replace("\u2028", "\x1c") + WRONG
    (tmp_path / "latin.py").write_bytes(latin.encode("latin-1"))
    (tmp_path / "binary.py").write_bytes(b"NAME = '\xe9'\n" + WRONG.encode("latin-1"))
    (tmp_path / "large.py").write_text("x = 1\n" * 1_000_000)
    (tmp_path / "empty.py").write_text("")

    async def talk(editor):
        for uri in ("untitled:latin.py", f"git:{tmp_path}/latin.py?ref", f"vscode-notebook-cell:{tmp_path}/latin.py#1"):
            assert await editor.hints(await editor.open("latin.py", "latin-1", uri)) == []
        document = await editor.open("latin.py", "latin-1")
        [wrong] = await editor.published(document)
        assert wrong.range.start == types.Position(5, 42)
        assert await editor.hints(document) == [(6, 5, ": (M, N)"), (6, 8, ": N"), (11, 8, ": (*b, M + N)")]
        for name in ("binary.py", "large.py"):
            [unread] = await editor.shown(await editor.open(name, "latin-1"), 1)
            assert unread.code == "SYM202"
        await editor.shown(await editor.open("empty.py"), 0)
        (tmp_path / "latin.py").unlink()
        editor.client.text_document_did_save(types.DidSaveTextDocumentParams(document))
        await editor.shown(document, 0)
        assert await editor.hover(document, 5) is None

    session(tmp_path, talk, "--trust", str(tmp_path))


def test_each_folder_of_a_workspace_has_its_own_configuration(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
        (folder / "code.py").write_text(WRONG, "utf-8")
    (second / "pyproject.toml").write_text("[tool.symbcast.lint]\nignore = ['SYM101']\n")

    async def talk(editor):
        await editor.shown(await editor.open("code.py"), 1)
        await editor.shown(await editor.open("../second/code.py", uri=(second / "code.py").as_uri()), 0)

    session(first, talk, "--trust", str(tmp_path), others=[second])
    assert (first / ".symbcast_cache").is_dir() and (second / ".symbcast_cache").is_dir()


def test_lines_keep_their_places_while_a_file_is_edited():
    from symbcast.linting.editor import CheckedFile, lines_of

    assert lines_of("a\x0c\u2028b\r\nc\rd\n") == ("a\x0c\u2028b", "c", "d", "")
    random = Random(0)
    for _ in range(300):
        old = [random.choice("abc") for _ in range(random.randrange(8))]
        new = [random.choice("abc") for _ in range(random.randrange(8))]
        moved = CheckedFile(tuple(old), ()).moved(new)
        assert all(old[a - 1] == new[b - 1] for a, b in moved.items())
        assert sorted(moved) == list(moved) and sorted(moved.values()) == list(moved.values())
    lines = tuple(map(str, range(100_000)))
    moved = CheckedFile(lines, ()).moved([*lines[:50_000], "new", *lines[50_000:]])
    assert moved[50_000] == 50_000 and moved[50_001] == 50_002 and len(moved) == 100_000
    assert len(CheckedFile(lines, ()).moved(["new", *lines[::2], "end"])) == 0  # it would take minutes
