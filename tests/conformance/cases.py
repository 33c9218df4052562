"""The questions of the suite: shapes that are broadcast, and graphs in the text format of ONNX (opset 17).

An input dimension is a number or a name; `record.py` turns each graph into JSON and runs it. What is declared of an
output is only its type.
"""

from __future__ import annotations

BROADCASTS = {
    "one name": ["N", "N"],
    "a name and 1": ["N", "1"],
    "a name and 3": ["N", "3"],
    "a name and 0": ["N", "0"],
    "two names": ["N", "M"],
    "two names beside a 3": ["N, 3", "M, 1"],
    "two names beside 2 and 3": ["N, 2", "M, 3"],
    "two names beside a 0": ["N, 0", "M, 1"],
    "column and row": ["N, 1", "1, M"],
    "column and vector": ["N, 1", "M"],
    "vector and its column": ["N", "N, 1"],
    "matrix and its transpose": ["N, M", "M, N"],
    "square and vector": ["N, N", "M"],
    "first axis as vector": ["N, M", "N"],
    "last axis as vector": ["N, M", "M"],
    "scalar": ["N, M", ""],
    "channels against width": ["N, C, 2", "C"],
    "channels as column": ["N, C, 2", "C, 1"],
    "two batches": ["B, 2, T", "C, 1, T"],
    "mask of one row": ["B, T, S", "B, 1, S"],
    "mask of another length": ["B, T, 3", "B, 1, S"],
    "corners": ["N, M, 1", "1, M, N"],
    "three names": ["N", "M", "K"],
    "three names, one a column": ["N, 1", "M", "K"],
    "two names and 4": ["N", "M", "4"],
    "row, column and both": ["N, 1", "1, M", "N, M"],
    "two clashing numbers": ["N, 2", "M, 2", "1, 3"],
}

OPERATORS = {
    "where": "(bool[N] c, float[M] x, float[1] y) => (float z) { z = Where(c, x, y) }",
    "where of three": "(bool[N] c, float[M] x, float[K] y) => (float z) { z = Where(c, x, y) }",
    "prelu": "(float[N, C] x, float[M, 1] slope) => (float z) { z = PRelu(x, slope) }",
    "expand to 3": "(float[N, 1] x) => (float z) <int64[2] shape = {3, 2}> { z = Expand(x, shape) }",
    "expand to a vector": "(float[N] x, float[M] y) => (float z) { s = Shape(y)  z = Expand(x, s) }",
    "concat on the other axis": "(float[N, 3] x, float[M, 3] y) => (float z) { z = Concat<axis = 1>(x, y) }",
    "concat": "(float[N, K] x, float[2, M] y) => (float z) { z = Concat<axis = 0>(x, y) }",
    "concat of three": "(float[N] x, float[M] y, float[N] w) => (float z) { z = Concat<axis = 0>(x, y, w) }",
    "reshape to pairs": "(float[N, M] x) => (float z) <int64[2] shape = {-1, 2}> { z = Reshape(x, shape) }",
    "reshape to 2 rows": "(float[N, 3] x) => (float z) <int64[2] shape = {2, -1}> { z = Reshape(x, shape) }",
    "reshape to 4": "(float[N, M] x) => (float z) <int64[1] shape = {4}> { z = Reshape(x, shape) }",
    "reshape to heads": "(float[B, T, D] x) => (float z) <int64[4] shape = {0, 0, 2, -1}> { z = Reshape(x, shape) }",
    "reshape as another": "(float[N, M] x, float[K, 2] y) => (float z) { s = Shape(y)  z = Reshape(x, s) }",
    "flatten": "(float[N, M, 3] x) => (float z) { z = Flatten<axis = 1>(x) }",
    "transpose": "(float[N, M, 3] x) => (float z) { z = Transpose<perm = [2, 0, 1]>(x) }",
    "squeeze": "(float[N, M] x) => (float z) <int64[1] axes = {1}> { z = Squeeze(x, axes) }",
    "unsqueeze": "(float[N, M] x) => (float z) <int64[1] axes = {1}> { z = Unsqueeze(x, axes) }",
    "split into halves": "(float[N, H] x) => (float a, float b) { a, b = Split<axis = 1>(x) }",
    "split into 1 and 2": """(float[N, H] x) => (float a, float b) <int64[2] parts = {1, 2}>
        { a, b = Split<axis = 1>(x, parts) }""",
    "slice from 1 to 3": "(float[N, 2] x) => (float z) <int64[1] a = {1}, int64[1] b = {3}> { z = Slice(x, a, b) }",
    "slice of the last 2": "(float[N, 2] x) => (float z) <int64[1] a = {-2}, int64[1] b = {9}> { z = Slice(x, a, b) }",
    "slice of every second": """(float[N, M] x) => (float z)
        <int64[1] a = {0}, int64[1] b = {9}, int64[1] axis = {1}, int64[1] step = {2}>
        { z = Slice(x, a, b, axis, step) }""",
    "slice to a length": """(float[N, 2] x, float[M] y) => (float z) <int64[1] a = {0}>
        { s = Shape(y)  z = Slice(x, a, s) }""",
    "gather of row 2": "(float[N, M] x) => (float z) <int64[1] at = {2}> { z = Gather(x, at) }",
    "gather by ids": "(float[3, M] x, int64[B, T] ids) => (float z) { z = Gather(x, ids) }",
    "tile": "(float[N, M] x) => (float z) <int64[2] times = {2, 3}> { z = Tile(x, times) }",
    "pad": "(float[N, M] x) => (float z) <int64[4] pads = {0, 1, 0, 2}> { z = Pad(x, pads) }",
    "pad by reflection": """(float[1, N] x) => (float z) <int64[4] pads = {0, 2, 0, 1}>
        { z = Pad<mode = "reflect">(x, pads) }""",
    "mean": "(float[N, M] x) => (float z) { z = ReduceMean<axes = [1], keepdims = 0>(x) }",
    "largest": "(float[N, M] x) => (float z) { z = ReduceMax<axes = [1], keepdims = 1>(x) }",
    "place of the largest": "(float[N, M] x) => (int64 z) { z = ArgMax<axis = 1, keepdims = 0>(x) }",
    "two largest": "(float[N, M] x) => (float v, int64 i) <int64[1] k = {2}> { v, i = TopK(x, k) }",
    "softmax": "(float[N, M] x) => (float z) { z = Softmax<axis = 1>(x) }",
    "layer norm": "(float[N, D] x, float[E] scale) => (float z) { z = LayerNormalization(x, scale) }",
    "batch norm": """(float[N, C, 2] x, float[K] s, float[K] b, float[K] m, float[K] v) => (float z)
        { z = BatchNormalization(x, s, b, m, v) }""",
    "matmul": "(float[N, K] x, float[L, 2] y) => (float z) { z = MatMul(x, y) }",
    "matmul of a vector": "(float[N] x, float[M, 2] y) => (float z) { z = MatMul(x, y) }",
    "matmul of batches": "(float[B, 2, K] x, float[C, K, 2] y) => (float z) { z = MatMul(x, y) }",
    "matmul by one matrix": "(float[B, T, 3] x, float[K, 2] y) => (float z) { z = MatMul(x, y) }",
    "gemm": "(float[N, K] x, float[2, 3] w, float[M] b) => (float z) { z = Gemm<transB = 1>(x, w, b) }",
    "einsum": """(float[B, 2, K] x, float[C, K, 2] y) => (float z)
        { z = Einsum<equation = "bij,bjk->bik">(x, y) }""",
    "conv": "(float[N, C, H] x, float[2, 3, 3] w) => (float z) { z = Conv(x, w) }",
    "conv with pads and stride": """(float[1, 2, H, W] x, float[3, 2, 3, 3] w) => (float z)
        { z = Conv<pads = [1, 1, 1, 1], strides = [2, 2]>(x, w) }""",
    "conv in groups": "(float[N, C, 2] x, float[4, 2, 1] w) => (float z) { z = Conv<group = 2>(x, w) }",
    "conv with dilation": """(float[1, 1, H, W] x, float[1, 1, 2, 2] w) => (float z)
        { z = Conv<dilations = [2, 2]>(x, w) }""",
    "transposed conv": "(float[N, C, H] x, float[2, 3, 3] w) => (float z) { z = ConvTranspose<strides = [2]>(x, w) }",
    "max pool": "(float[N, 2, H, W] x) => (float z) { z = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(x) }",
    "max pool, rounded up": """(float[1, 2, H] x) => (float z)
        { z = MaxPool<kernel_shape = [2], strides = [2], ceil_mode = 1>(x) }""",
    "average pool": "(float[1, 2, H] x) => (float z) { z = AveragePool<kernel_shape = [3], pads = [1, 1]>(x) }",
    "global pool": "(float[N, 2, H, W] x) => (float z) { z = GlobalAveragePool(x) }",
    "resize by 2": """(float[1, 1, H, W] x) => (float z) <float[4] scales = {1, 1, 2, 2}>
        { z = Resize<mode = "nearest">(x, , scales) }""",
    "depth to space": "(float[N, C, H, 2] x) => (float z) { z = DepthToSpace<blocksize = 2>(x) }",
    "space to depth": "(float[N, 1, H, W] x) => (float z) { z = SpaceToDepth<blocksize = 2>(x) }",
    "zeros of a shape": "(float[N, M] x) => (float z) { s = Shape(x)  z = ConstantOfShape(s) }",
    "lower triangle": "(float[N, M] x) => (float z) { z = Trilu<upper = 0>(x) }",
    "cumulative sum": "(float[N, M] x) => (float z) <int64 axis = {1}> { z = CumSum(x, axis) }",
    "lstm": """(float[T, B, I] x, float[1, 8, 3] w, float[1, 8, 2] r) => (float z)
        { z, h, c = LSTM<hidden_size = 2>(x, w, r) }""",
}

MODELS = {
    "halved, doubled and added": """(float[1, 1, H] x) => (float z) <float[3] scales = {1, 1, 2}> {
        half = MaxPool<kernel_shape = [2], strides = [2]>(x)
        full = Resize<mode = "nearest">(half, , scales)
        z = Add(full, x) }""",
    "halved, doubled and joined": """(float[N, 2, H, W] x) => (float z) <float[4] scales = {1, 1, 2, 2}> {
        half = AveragePool<kernel_shape = [2, 2], strides = [2, 2]>(x)
        full = Resize<mode = "nearest">(half, , scales)
        z = Concat<axis = 1>(full, x) }""",
    "convolution and skip": """(float[N, C, H] x, float[2, 2, 3] w) => (float z) {
        y = Conv<pads = [1, 1]>(x, w)
        r = Relu(y)
        z = Add(r, x) }""",
    "stride and skip": """(float[N, 2, H] x, float[2, 2, 1] w) => (float z) {
        y = Conv<strides = [2]>(x, w)
        p = MaxPool<kernel_shape = [2], strides = [2]>(x)
        z = Add(y, p) }""",
    "masked attention": """(float[B, T, 2] q, float[B, S, 2] k, float[1, M] mask) => (float z) {
        kt = Transpose<perm = [0, 2, 1]>(k)
        s = MatMul(q, kt)
        m = Add(s, mask)
        p = Softmax<axis = 2>(m)
        z = MatMul(p, k) }""",
    "attention over a cache": """(float[B, P, 2] past, float[B, 1, 2] now, float[1, M] mask) => (float z) {
        k = Concat<axis = 1>(past, now)
        kt = Transpose<perm = [0, 2, 1]>(k)
        s = MatMul(now, kt)
        m = Add(s, mask)
        z = MatMul(m, k) }""",
    "heads and back": """(float[B, T, D] x) => (float z) <int64[4] heads = {0, 0, 2, -1}, int64[3] flat = {0, 0, 4}> {
        h = Reshape(x, heads)
        t = Transpose<perm = [0, 2, 1, 3]>(h)
        u = Transpose<perm = [0, 2, 1, 3]>(t)
        z = Reshape(u, flat) }""",
    "cache of another batch": """(float[B, P, 2] past, float[C, 1, 2] now) => (float z)
        { z = Concat<axis = 1>(past, now) }""",
    "patches and positions": """(float[1, 1, H, W] x, float[3, 1, 2, 2] w, float[1, 3, 4] place) => (float z)
        <int64[3] flat = {1, 3, -1}> {
        p = Conv<strides = [2, 2]>(x, w)
        f = Reshape(p, flat)
        z = Add(f, place) }""",
    "image classifier": """(float[N, 1, H, W] x, float[2, 1, 3, 3] w, float[5, 8] v) => (float z) {
        c = Conv<pads = [1, 1, 1, 1], strides = [2, 2]>(x, w)
        f = Flatten<axis = 1>(c)
        z = Gemm<transB = 1>(f, v) }""",
    "pooled classifier": """(float[N, 1, H, W] x, float[2, 1, 3, 3] w, float[5, 2] v) => (float z) {
        c = Conv(x, w)
        g = GlobalAveragePool(c)
        f = Flatten<axis = 1>(g)
        z = Gemm<transB = 1>(f, v) }""",
    "gated unit": """(float[N, H] x) => (float z) {
        a, b = Split<axis = 1>(x)
        s = Sigmoid(b)
        z = Mul(a, s) }""",
    "gate of another width": """(float[N, H] x, float[M] w) => (float z) {
        a, b = Split<axis = 1>(x)
        y = Mul(a, w)
        z = Add(y, b) }""",
    "table of positions": """(float[B, T, 2] x, float[3, 2] table) => (float z)
        <int64[1] zero = {0}, int64[1] one = {1}> {
        s = Shape<start = 1, end = 2>(x)
        p = Slice(table, zero, s)
        z = Add(x, p) }""",
    "similarity of two sets": """(float[N, 2] x, float[M, 2] y) => (float z) {
        t = Transpose<perm = [1, 0]>(y)
        s = MatMul(x, t)
        u = Transpose<perm = [1, 0]>(s)
        z = Sub(s, u) }""",
    "squared error of a column": """(float[N, 1] guess, float[M] truth) => (float z) {
        d = Sub(guess, truth)
        q = Mul(d, d)
        z = ReduceMean<axes = [0, 1], keepdims = 0>(q) }""",
    "features and extras": """(float[N, C, 2] x, float[M, 3] extra) => (float z) {
        f = Flatten<axis = 1>(x)
        z = Concat<axis = 1>(f, extra) }""",
    "expanded as another": """(float[N, 1] x, float[M, K] y) => (float z) {
        s = Shape(y)
        e = Expand(x, s)
        z = Mul(e, y) }""",
    "windows of two": """(float[B, T, 2] x) => (float z) <int64[3] pairs = {-1, 2, 2}> {
        s = Shape(x)
        w = Reshape(x, pairs)
        m = Softmax<axis = 1>(w)
        z = Reshape(m, s) }""",
    "rotated halves": """(float[N, D] x, float[1, E] angle) => (float z)
        <int64[1] zero = {0}, int64[1] two = {2}, int64[1] end = {9}, int64[1] axis = {1}> {
        a = Slice(x, zero, two, axis)
        b = Slice(x, two, end, axis)
        n = Neg(b)
        r = Concat<axis = 1>(n, a)
        m = Mul(r, angle)
        z = Add(m, x) }""",
    "upsampled and shuffled": """(float[N, C, H, 1] x, float[N, 1, K, 2] y) => (float z) {
        s = DepthToSpace<blocksize = 2>(x)
        z = Add(s, y) }""",
    "two convolutions": """(float[1, 1, H, W] x, float[1, 1, 2, 2] w) => (float z) {
        a = Conv(x, w)
        b = Conv<strides = [2, 2]>(a, w)
        z = MaxPool<kernel_shape = [1, 2]>(b) }""",
    "outer product and trace": """(float[N] x, float[M] y) => (float z) <int64[1] one = {1}> {
        c = Unsqueeze(x, one)
        o = Mul(c, y)
        t = Transpose<perm = [1, 0]>(o)
        z = Mul(o, t) }""",
    "normalised by its mean": """(float[N, M] x, float[K] scale) => (float z) {
        m = ReduceMean<axes = [1], keepdims = 1>(x)
        d = Sub(x, m)
        z = Mul(d, scale) }""",
    "normalised without keepdims": """(float[N, M] x) => (float z) {
        m = ReduceMean<axes = [1], keepdims = 0>(x)
        z = Sub(x, m) }""",
}
