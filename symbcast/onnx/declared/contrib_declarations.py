"""Declare operators of Microsoft's domain as data, in the language of `symbcast.onnx.declared.declarations`.

Operators with CPU kernels in ONNX Runtime are tested against recorded runs; the others follow ContribOperators.md.
"""

from __future__ import annotations

from symbcast.onnx.declared.declarations import MICROSOFT, Declaration

INT32 = 6
_HIDDEN = "@num_heads*D"

CONTRIB_DECLARATIONS = tuple(
    declaration._replace(domain=MICROSOFT)
    for declaration in (
        Declaration("Gelu QuickGelu SampleOp", "X -> X"),
        Declaration("MurmurHash3", "X -> X", INT32),
        Declaration("Trilu", "(..., N, M), number? -> (..., N, M)"),
        Declaration("BiasGelu FastGelu", "(..., C), (C)? -> (..., C)"),
        Declaration("Inverse", "(..., N, N) -> (..., N, N)"),
        Declaration("CDist", "(M, 1<=N), (K, N) -> (M, K)"),
        Declaration("TorchEmbedding", "(N, M), (...), number?, number? -> (..., M)"),
        Declaration("BiasSoftmax", "X, * -> X", note="not checked: the shape of the bias"),
        Declaration("BiasDropout", "X, *, X?, number?, number? -> X, X", note="not checked: the shape of the bias"),
        Declaration("Unique", "(N) -> (unique), (N), (unique)"),
        # Quantized data in a device-specific memory order.
        Declaration("QuantizeWithOrder DequantizeWithOrder", "X, number -> X"),
        Declaration("QOrderedGelu", "X, number, number -> X"),
        Declaration("QOrderedLayerNormalization", "(..., C), number, (C), (C)?, number -> (..., C)"),
        Declaration(
            "QOrderedMatMul",
            "(..., M, K), number, (K, N), *, number, (N)?, *?, number? -> (..., M, N)",
            note="not checked: the shapes of C and of B's scale",
        ),
        Declaration(
            "QOrderedAttention",
            "(B, S, I), number, number, number, number, (I, H), (I, H), (I, H), *, *, *, (H), (H), (H), number?,"
            " number?, number, *?, *?, *? -> (B, S, H)",
            note="not checked: the shapes of the scales, the mask and the added scores",
        ),
        # Attention without padding, and windowed attention.
        Declaration("RemovePadding", "(B, S, H), (B) -> (tokens, H), (B, S), (B+1), (1)"),
        Declaration("RestorePadding", "(T, H), (B, S) -> (B, S, H)"),
        Declaration(
            "LongformerAttention",
            f"(B, S, {_HIDDEN}), ({_HIDDEN}, 3*{_HIDDEN}), (3*{_HIDDEN}), (B, S), ({_HIDDEN}, 3*{_HIDDEN}),"
            f" (3*{_HIDDEN}), (B, S) -> (B, S, {_HIDDEN})",
            note="not checked: the length must be a multiple of the window",
        ),
        Declaration(
            "DecoderAttention",
            f"(S, B, {_HIDDEN}), (T, B, {_HIDDEN}), ({_HIDDEN}, {_HIDDEN}), ({_HIDDEN}, 2*{_HIDDEN}), (3*{_HIDDEN}),"
            " *?, (B, @num_heads, P, D)?, (B, @num_heads, P, D)?, number, number, number, number"
            f" -> (S, B, {_HIDDEN}), (B, @num_heads, keys, D), (B, @num_heads, keys, D)",
            note="not checked: the shapes of the mask and the caches",
        ),
        Declaration(
            "GemmaRotaryEmbedding",
            "(B, S, D), (B, N, S, D), (B, N, S, D), (B, N, S, D), (B, N, S, D) -> (B, N, S, D), (B, N, S, D)",
            "#1",
        ),
    )
)
