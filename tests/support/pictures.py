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

import symbcast as sb

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
    for name in PICTURES:
        for page in PAGES:
            path(name, page).write_text(made(name, page)[0], "utf-8")


if __name__ == "__main__":
    main()
