"""Chains of reshapes whose targets may be 0."""

from onnx import parser


def chain(levels: int, base: int = 2, *, infers: bool = False):
    """Return a model that folds H and W by a base, several times; a size that becomes 0 keeps the one before.

    ``infers`` says that the last size is inferred: then small sizes work too.
    """
    lines = ["s = Shape(x)"]
    lines += [f"{name} = Slice(s, i{n}, i{n + 1}, i0)" for n, name in enumerate("bhw")]
    numbers = {f"i{n}": n for n in range(4)}
    before = "x"
    for level in range(1, levels + 1):
        numbers |= {f"d{level}": base**level, f"e{level}": -1 if infers else base ** (2 * level)}
        lines += [f"h{level} = Div(h, d{level})", f"w{level} = Div(w, d{level})"]
        lines += [f"t{level} = Concat<axis = 0>(b, h{level}, w{level}, e{level})"]
        lines += [f"y{level} = Reshape({before}, t{level})"]
        before = f"y{level}"
    constants = ", ".join(f"int64[1] {name} = {{{number}}}" for name, number in numbers.items())
    graph = f"g (float[B, H, W] x) => (float[P, Q, R, S] {before}) <{constants}> {{\n" + "\n".join(lines) + "\n}"
    return parser.parse_model(f'<ir_version: 8, opset_import: ["": 17]>\n{graph}')
