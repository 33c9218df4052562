"""Reading what displays make: HTML and LaTeX taken apart, and held to what they may consist of."""

import re
from html.parser import HTMLParser

from hypothesis import reject

from symbcast.errors import AssumptionError

TAGS = {"div", "strong", "table", "tr", "th", "td", "code", "span", "br"}
ATTRIBUTES = {"style", "scope", "aria-label", "title"}
COMMANDS = {
    *("text", "mathrm", "operatorname", "max", "min", "frac", "left", "right", "lfloor", "rfloor", "bmod"),
    *("land", "lor", "lnot", "le", "ge", "ne", "ldots", "cdots", "hline", "begin", "end", "backslash", "wedge", "sim"),
    "quad",
}
HOSTILE = [
    "<script>alert(1)</script>",
    '" onmouseover="x',
    "' onclick='x",
    "&amp;",
    "--> ]]> </td></table>",
    "a\nb\r\tc",
    "left\u202eright\u2066\u200f",
    "nul\x00\x1b[31m\x7f",
    "}$ \\href{javascript:x}{y}",
    "\\input{/etc/passwd}",
    "$$ \\( \\) \\[ \\end{array}",
    "50% #1 &2 ~3 ^4 _5 {6} \\\\",
    "größe",
    "批次",
    "שלום",
    "two  spaces ",
    "``--''",
]


def answer(question):
    """Return the answer to a random question; draw another one where its assumptions contradict each other."""
    try:
        return question.ask()
    except AssumptionError:
        reject()


class Page(HTMLParser):
    """An HTML fragment: its text, its rows of cells, and whether every element in it is one that may be there."""

    def __init__(self, html):
        super().__init__()
        self.stack, self.pieces, self.tables, self.labels = [], [], [], []
        self.feed(html)
        self.close()
        assert not self.stack
        self.text = "".join(self.pieces)

    def handle_starttag(self, tag, attributes):
        assert tag in TAGS
        given = dict(attributes)
        assert len(given) == len(attributes) and given.keys() <= ATTRIBUTES
        assert re.fullmatch(r"[a-zA-Z0-9 #,.:;()%-]*", given.get("style", "")), given
        assert "url" not in given.get("style", "")
        if tag == "table":
            assert given["aria-label"]
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            assert tag == "td" or given["scope"] in ("row", "col")
            self.tables[-1][-1].append("")
        if tag != "br":
            self.stack.append(tag)
        else:
            self.pieces.append("\n")

    def handle_endtag(self, tag):
        assert self.stack.pop() == tag

    def handle_data(self, data):
        self.pieces.append(data)
        if {"td", "th"} & set(self.stack):
            self.tables[-1][-1][-1] += data

    def handle_comment(self, data):
        raise AssertionError(data)

    handle_decl = handle_pi = unknown_decl = handle_comment


def check_latex(latex):
    """Hold LaTeX to being one formula, balanced, of known commands, with nothing special in its text."""
    head, tail = "$\\displaystyle ", "$"
    assert latex.startswith(head) and latex.endswith(tail)
    assert latex.isprintable()
    inner = latex[len(head) : -len(tail)]
    open_ = []
    for token in re.findall(r"\\[a-zA-Z]+|\\.|.", re.sub(r"\\(begin|end)\{(\w+)\}(\{[lr|]*\})?", _environment, inner)):
        if token in ("{", "\\left", "\\begin"):
            open_.append(token)
        elif token in ("}", "\\right", "\\end"):
            assert open_.pop() == {"}": "{", "\\right": "\\left", "\\end": "\\begin"}[token]
        elif token == "&":
            assert open_ and open_[-1] == "\\begin"
        elif len(token) == 1:
            assert token not in "$#%~_"
        elif token[1:].isalpha():
            assert token[1:] in COMMANDS, token
        else:
            assert token[1] in ",\\ {}$%#&_", token
    assert not open_
    for text in re.findall(r"\\text\{([^}]*)\}", inner):
        assert text in ("-", "`") or not set(text) & set("\\{$%#&_^~<>|`-"), text
    return inner


def _environment(found):
    assert found[2] == "array"
    return f"\\{found[1]} "


def read_latex(latex):
    """Return LaTeX as the text that it stands for: only what tells how terms and formulas are put together."""
    latex = re.sub(r"\\mathrm\{((?:[^{}\\]|\\_)*)\}", lambda m: m[1].replace("\\_", "_"), latex)
    latex = re.sub(r"\\operatorname\{(\w+)\}|\\(max|min)\b", lambda m: m[1] or m[2], latex)
    while "\\frac" in latex:
        latex = _without_fraction(latex)
    for sign, text in _SIGNS.items():
        latex = latex.replace(sign, text)
    return re.sub(r"\^\{(\d+)\}", r"**\1", latex)


def _without_fraction(latex):
    before, _, rest = latex.rpartition("\\frac")
    dividend, rest = _group(rest)
    divisor, rest = _group(rest)
    return f"{before}({dividend})//({divisor}){rest}"


def _group(latex):
    assert latex[0] == "{"
    depth = 0
    for n, c in enumerate(latex):
        depth += {"{": 1, "}": -1}.get(c, 0)
        if not depth:
            return latex[1:n], latex[n + 1 :]
    raise AssertionError(latex)


_SIGNS = {
    "\\left\\lfloor": "(",
    "\\right\\rfloor": ")",
    "\\left": "",
    "\\right": "",
    "\\bmod": "%",
    "\\,": "*",
    "\\lor": "or",
    "\\land": "and",
    "\\lnot": "not",
    "=": "==",
    "\\ne": "!=",
    "\\le": "<=",
    "\\ge": ">=",
    "\\text{True}": "True",
    "\\text{False}": "False",
}
