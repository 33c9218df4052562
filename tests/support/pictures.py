"""The pictures of README.md, drawn by symbcast: ``PYTHONPATH=tests:tests/support python -m pictures`` makes them again.

A picture is one SVG for light pages and one for dark pages, without a background. What is drawn in it (its words, the
colour of each cell, each region with its hatch) is kept in it as data, so that a test can say whether it is still
what symbcast draws: the bytes differ between releases of matplotlib, the content does not.
"""

from __future__ import annotations

import io
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import onnx
from matplotlib.collections import QuadMesh
from matplotlib.colors import to_hex
from matplotlib.patches import PathPatch
from matplotlib.text import Text
from onnx.parser import parse_model
from rich.console import Console
from rich.terminal_theme import TerminalTheme

import symbcast as sb
from symbcast.answers.show.document import Span
from symbcast.answers.show.terminal import draw
from symbcast.graphs.report.presentation import model_document

FOLDER = Path(__file__).parents[2] / "notebooks" / "pictures"
ENCODER = Path(__file__).parents[1] / "data" / "onnx" / "encoder.txt"
SVG = "{http://www.w3.org/2000/svg}"
# The backgrounds and the ink of GitHub's pages: cells are set apart by lines of the background.
PAGES = {"light": ("#ffffff", "#1f2328"), "dark": ("#0d1117", "#f0f6fc")}


def broadcast():
    """Return a figure of the broadcast that README.md begins with."""
    return sb.notebook.plot(sb.broadcast("N, 3", "M, 1"), "N", "M", range(9)).figure


def free():
    """Return a figure of the block of notebook 10: only its input's axes renamed, and freed."""
    renamed, freed = encoders()
    figure, panels = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    for subject, axes in zip((renamed, freed), panels, strict=True):
        sb.notebook.plot(subject, "N", "T", range(1, 10), ax=axes)
    left, right = (sb.notebook.plot(subject, "N", "T", range(1, 10)).figure.description for subject in (renamed, freed))
    figure.description = f"{left} {right.split('. ', 1)[1]}"  # what is plotted is said once
    return figure


def encoders():
    """Return the reports of a block that was exported for 1 x 6 tokens: its input axes renamed, and freed."""
    renamed = parse_model(ENCODER.read_text("utf-8"))
    for name in "qkv":
        renamed.graph.initializer.append(onnx.numpy_helper.from_array(np.eye(8, dtype=np.float32), name))
    renamed.graph.name = "Freed"
    freed = sb.onnx.free(renamed, "N, T").report
    for axis, name in enumerate("NT"):
        renamed.graph.input[0].type.tensor_type.shape.dim[axis].dim_param = name
        renamed.graph.output[0].type.tensor_type.shape.dim[axis].dim_param = name
    renamed.graph.name = "Input axes renamed by hand"
    return sb.onnx.check(renamed), freed


PICTURES = {"broadcast": broadcast, "free": free}

# The report of `symbcast model` as a terminal prints it: drawn by rich, which draws the terminal too.

MODEL = Path(__file__).parents[1] / "data" / "onnx" / "models" / "ppocr_v4_det.onnx.gz"
TERMINAL = "model"
TERMINAL_WIDTH = 92
_LIGHT = [(36, 41, 47), (207, 34, 46), (17, 99, 41), (154, 103, 0), (9, 105, 218), (130, 80, 223), (27, 124, 131)]
_DARK = [(72, 79, 88), (255, 123, 114), (63, 185, 80), (210, 153, 34), (88, 166, 255), (188, 140, 255), (57, 197, 207)]
THEMES = {
    "light": TerminalTheme((246, 248, 250), (31, 35, 40), [*_LIGHT, (110, 119, 129)], [*_LIGHT, (110, 119, 129)]),
    "dark": TerminalTheme((22, 27, 34), (240, 246, 252), [*_DARK, (177, 186, 196)], [*_DARK, (177, 186, 196)]),
}


def terminal(page):
    """Return the picture of a terminal as text, and the lines on it."""
    report = sb.onnx.check(MODEL, runtime="onnxruntime")
    document = model_document(report)
    document = document.replace(title=(Span("model.onnx", True), *document.title[1:]))
    console = Console(record=True, width=TERMINAL_WIDTH, file=io.StringIO(), force_terminal=True, highlight=False)
    console.print("$ symbcast model model.onnx --runtime onnxruntime", style="dim", markup=False)
    draw(document, console)
    lines = console.export_text(clear=False).rstrip().splitlines()
    drawn = console.export_svg(title="symbcast model", theme=THEMES[page], unique_id=f"symbcast-{page}")
    drawn = re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.S)  # fonts of another site
    drawn = drawn.replace("Fira Code", "Menlo, Consolas, DejaVu Sans Mono")
    return "\n".join(line.strip() for line in drawn.splitlines() if line.strip()) + "\n", lines


def lines_in(picture):
    """Return the lines in the picture of a terminal, top down."""
    rows = {}
    for element in ET.fromstring(picture).iter(f"{SVG}text"):
        if element.get("clip-path"):
            rows.setdefault(float(element.get("y")), []).append((float(element.get("x")), element.text))
    return ["".join(text for _, text in sorted(rows[y])).replace("\xa0", " ").rstrip() for y in sorted(rows)]


def made(name, page):
    """Return a picture as text and its content."""
    background, ink = PAGES[page]
    colours = dict.fromkeys(("text.color", "axes.labelcolor", "xtick.color", "ytick.color", "axes.edgecolor"), ink)
    grounds = dict.fromkeys(("figure.facecolor", "axes.facecolor", "savefig.facecolor"), background)
    with mpl.rc_context():
        mpl.rcdefaults()  # whatever the reader of this has set
        mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": name, **colours, **grounds})
        figure = PICTURES[name]()
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
        content = content_of(figure)
        plt.close(figure)
    return small(buffer.getvalue(), content), content


def content_of(figure):
    """Return what is drawn: words in their order, the colours of cells row by row, regions in units of the axes."""
    words = [t.get_text() for t in figure.findobj(Text) if t.get_visible() and t.get_text()]
    panels = [axes for axes in figure.axes if axes.get_label() != "<colorbar>"]
    meshes = [m for axes in panels for m in axes.collections if isinstance(m, QuadMesh)]
    cells = [[to_hex(colour, keep_alpha=True) for colour in mesh.get_facecolor()] for mesh in meshes]
    regions = [
        {"colour": to_hex(p.get_facecolor()), "hatch": p.get_hatch(), "corners": p.get_path().vertices.tolist()}
        for axes in panels
        for p in axes.patches
        if isinstance(p, PathPatch)
    ]
    return {"description": figure.description, "words": words, "cells": cells, "regions": regions}


def small(text, content):
    """Return an SVG with its content as data, and without what is not seen: tools' names, empty cells, digits."""
    ET.register_namespace("", SVG[1:-1])
    ET.register_namespace("xlink", "http://www.w3.org/1999/xlink")
    root = ET.fromstring(text)
    for parent in list(root.iter()):
        for child in list(parent):
            style = child.get("style", "")
            if child.tag == f"{SVG}metadata" or (child.tag == f"{SVG}path" and style == "fill: none"):
                parent.remove(child)
        for key, value in parent.attrib.items():
            if key in ("d", "x", "y", "transform", "points"):
                parent.set(key, " ".join(re.sub(r"-?\d+\.\d+", _shorter, value).split()))
        parent.tail = parent.text = (parent.text or "").strip() or None
    for element in root.iter():
        element.tail = "\n"
    kept = ET.SubElement(root, f"{SVG}metadata")
    kept.text = json.dumps(content)
    return ET.tostring(root, encoding="unicode")


def _shorter(number):
    return f"{float(number.group()):.2f}".rstrip("0").rstrip(".")


def kept(name, page):
    """Return the content that a picture was drawn of, and the words and colours that are in its drawing."""
    root = ET.parse(path(name, page)).getroot()
    words = [e.text for e in root.iter(f"{SVG}text")]
    colours = set(re.findall(r"#[0-9a-f]{6}", " ".join(" ".join(e.attrib.values()) for e in root.iter())))
    return json.loads(root.find(f"{SVG}metadata").text), words, colours


def path(name, page):
    return FOLDER / f"{name}_{page}.svg"


def main():
    FOLDER.mkdir(exist_ok=True)
    for page in PAGES:
        path(TERMINAL, page).write_text(terminal(page)[0], "utf-8")
        for name in PICTURES:
            path(name, page).write_text(made(name, page)[0], "utf-8")


if __name__ == "__main__":
    main()
