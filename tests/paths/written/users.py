"""Functions as people write them, with the shapes that they are traced with as annotations."""
# ruff: noqa: B905, E731, F722, F821, RUF059

import numpy as np


def group_means(values: "N", groups: "i:M"):
    sums = np.zeros(4)
    counts = np.zeros(4)
    np.add.at(sums, groups, values)
    np.add.at(counts, groups, 1)
    return sums / np.maximum(counts, 1)


def group_rows(values: "N, M", groups: "i:K"):
    out = np.zeros((3, values.shape[1]))
    np.add.at(out, groups, values)
    return out


def group_by_sort(values: "N", keys: "i:M"):
    order = np.argsort(keys)
    keys, values = keys[order], values[order]
    starts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
    return np.add.reduceat(values, starts)


def group_by_unique(values: "N", keys: "i:M"):
    names, places = np.unique(keys, return_inverse=True)
    return np.bincount(places, weights=values, minlength=len(names))


def running_mean(x: "N"):
    width = 3
    return np.convolve(x, np.ones(width) / width, mode="valid")


def running_max(x: "N, M"):
    view = np.lib.stride_tricks.sliding_window_view(x, 2, axis=1)
    return view.max(axis=-1)


def running_strided(x: "N"):
    w = 3
    shape = (x.shape[0] - w + 1, w)
    return np.lib.stride_tricks.as_strided(x, shape, (x.strides[0], x.strides[0]))


def conv2d_loops(image: "N, M", kernel: "K, L"):
    h, w = image.shape
    kh, kw = kernel.shape
    out = np.zeros((h - kh + 1, w - kw + 1))
    for i in range(kh):
        for j in range(kw):
            out += kernel[i, j] * image[i : i + h - kh + 1, j : j + w - kw + 1]
    return out


def conv2d_windows(image: "N, M", kernel: "2, K"):
    view = np.lib.stride_tricks.sliding_window_view(image, kernel.shape)
    return np.einsum("ijkl,kl->ij", view, kernel)


def im2col(x: "N, M"):
    k = 2
    h, w = x.shape
    rows = np.arange(k)[:, None] + np.arange(h - k + 1)[None]
    return x[rows].reshape(k, -1)


def batched_matmul(a: "B, N, M", b: "B, K, L"):
    return np.matmul(a, b)


def batched_outer(a: "B, N", b: "C, M"):
    return a[:, :, None] * b[:, None, :]


def batched_solve(a: "B, N, N", b: "B, M"):
    return np.linalg.solve(a + 3 * np.eye(a.shape[-1]), b[..., None])[..., 0]


def mahalanobis(x: "N, M", cov: "K, K"):
    centred = x - x.mean(axis=0)
    return np.sqrt(np.einsum("ij,jk,ik->i", centred, np.linalg.inv(cov + np.eye(len(cov))), centred))


def whiten(x: "N, M"):
    centred = x - x.mean(0)
    u, s, vt = np.linalg.svd(centred, full_matrices=False)
    return u @ vt


def pca(x: "N, M"):
    centred = x - x.mean(axis=0, keepdims=True)
    _, _, vt = np.linalg.svd(centred, full_matrices=False)
    return centred @ vt[:2].T


def ridge(x: "N, M", y: "K"):
    gram = x.T @ x + 0.1 * np.eye(x.shape[1])
    return np.linalg.solve(gram, x.T @ y)


def least_squares(x: "N, M", y: "K"):
    design = np.column_stack([np.ones(len(x)), x])
    beta, *_ = np.linalg.lstsq(design, y, rcond=None)
    return design @ beta - y


def one_hot(labels: "i:N"):
    out = np.zeros((labels.size, 5))
    out[np.arange(labels.size), labels] = 1
    return out


def one_hot_max(labels: "i:N"):
    out = np.zeros((labels.size, labels.max() + 1))
    out[np.arange(labels.size), labels] = 1
    return out


def one_hot_compare(labels: "i:N", classes: "i:M"):
    return (labels[:, None] == classes).astype(float)


def cross_entropy(logits: "N, M", labels: "i:K"):
    shifted = logits - logits.max(axis=1, keepdims=True)
    logp = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return -logp[np.arange(len(labels)), labels].mean()


def accuracy(logits: "N, M", labels: "i:K"):
    return (logits.argmax(axis=-1) == labels).mean()


def confusion(true: "i:N", guess: "i:M"):
    out = np.zeros((3, 3), dtype=int)
    for t, g in zip(true, guess):
        out[t, g] += 1
    return out


def confusion_at(true: "i:N", guess: "i:M"):
    out = np.zeros((3, 3), dtype=int)
    np.add.at(out, (true, guess), 1)
    return out


def masked_mean(x: "N, M", mask: "b:N, K"):
    total = np.where(mask, x, 0).sum(axis=1)
    return total / np.maximum(mask.sum(axis=1), 1)


def masked_rows(x: "N, M", mask: "b:K"):
    return x[mask].sum(axis=0)


def masked_assign(x: "N, M", mask: "b:K, L"):
    x = x.copy()
    x[mask] = -1
    return x


def masked_fill_rows(x: "N, M", mask: "b:K", value: "L"):
    x[mask] = value
    return x


def keep_top(x: "N, M"):
    k = 2
    cut = np.sort(x, axis=1)[:, -k][:, None]
    return np.where(x >= cut, x, 0)


def attention(q: "N, D", k: "M, E", v: "K, F"):
    scores = q @ k.T / np.sqrt(q.shape[-1])
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    return weights @ v


def causal_attention(x: "N, D"):
    n, d = x.shape
    scores = x @ x.T / np.sqrt(d)
    mask = np.triu(np.ones((n, n), bool), 1)
    scores[mask] = -np.inf
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return (weights / weights.sum(-1, keepdims=True)) @ x


def multi_head(x: "N, D"):
    heads = 2
    n, d = x.shape
    split = x.reshape(n, heads, d // heads).transpose(1, 0, 2)
    scores = np.einsum("hid,hjd->hij", split, split)
    return np.einsum("hij,hjd->hid", scores, split).transpose(1, 0, 2).reshape(n, d)


def layer_norm(x: "N, M", gain: "K", bias: "L"):
    mean = x.mean(-1, keepdims=True)
    var = x.var(-1, keepdims=True)
    return (x - mean) / np.sqrt(var + 1e-5) * gain + bias


def rnn(x: "3, N", w: "M, K", u: "L, K"):
    h = np.zeros(w.shape[1])
    for step in x:
        h = np.tanh(step @ w + h @ u)
    return h


def rnn_lengths(x: "T, 2", w: "2, K"):
    h = np.zeros(w.shape[1])
    outputs = []
    for t in range(x.shape[0]):
        h = np.tanh(x[t] @ w + h)
        outputs.append(h)
    return np.stack(outputs)


def lstm_gates(x: "N", h: "M", w: "K, L"):
    z = np.concatenate([x, h]) @ w
    i, f, g, o = np.split(z, 4)
    return o * np.tanh(i * g) + f


def ema(x: "N"):
    out = np.empty_like(x)
    out[0] = x[0]
    for i in range(1, len(x)):
        out[i] = 0.9 * out[i - 1] + 0.1 * x[i]
    return out


def differences(x: "N, M"):
    return (x[1:] - x[:-1]) / np.diff(np.arange(len(x)))[:, None]


def pairwise_gram(x: "N, D", y: "M, E"):
    return (x**2).sum(1)[:, None] + (y**2).sum(1) - 2 * x @ y.T


def nearest(x: "N, D", centres: "K, E"):
    d = np.linalg.norm(x[:, None, :] - centres[None], axis=-1)
    return d.argmin(axis=1)


def kmeans_step(x: "N, D"):
    centres = x[:2]
    labels = ((x[:, None] - centres) ** 2).sum(-1).argmin(1)
    return np.stack([x[labels == k].mean(axis=0) for k in range(2)])


def cosine(x: "N, D", y: "M, E"):
    x = x / np.linalg.norm(x, axis=1, keepdims=True)
    y = y / np.linalg.norm(y, axis=1, keepdims=True)
    return x @ y.T


def upper_distances(x: "N, D"):
    d = np.abs(x[:, None] - x[None]).sum(-1)
    i, j = np.triu_indices(len(x), k=1)
    return d[i, j]


def tiles(image: "N, M"):
    h, w = image.shape
    t = 2
    return image.reshape(h // t, t, w // t, t).swapaxes(1, 2)


def tiles_cropped(image: "N, M"):
    t = 2
    h, w = image.shape[0] // t * t, image.shape[1] // t * t
    return image[:h, :w].reshape(h // t, t, w // t, t).mean(axis=(1, 3))


def pad_to_multiple(x: "N, M"):
    h, w = x.shape
    return np.pad(x, ((0, -h % 4), (0, -w % 3)))


def pad_to_square(x: "N, M"):
    size = max(x.shape)
    out = np.zeros((size, size))
    out[: x.shape[0], : x.shape[1]] = x
    return out


def pad_reflect(x: "N, M"):
    return np.pad(x, 2, mode="reflect")


def pad_sequences(a: "N", b: "M", c: "K"):
    longest = max(map(len, (a, b, c)))
    out = np.full((3, longest), -1.0)
    for row, values in enumerate((a, b, c)):
        out[row, : len(values)] = values
    return out


def crop_centre(x: "N, M"):
    h, w = x.shape
    top, left = (h - 2) // 2, (w - 3) // 2
    return x[top : top + 2, left : left + 3]


def crop_like(x: "N, M", y: "K, L"):
    h, w = y.shape
    return x[:h, :w] - y


def crop_checked(x: "N, M"):
    if x.shape[0] < 3 or x.shape[1] < 2:
        raise ValueError("too small")
    return x[1:-1, 1:]


def flip_augment(x: "N, M, 3"):
    return np.concatenate([x, x[::-1], x[:, ::-1], x.transpose(1, 0, 2)])


def bilinear(image: "N, M"):
    top, bottom = image[:-1], image[1:]
    rows = (top + bottom) / 2
    return (rows[:, :-1] + rows[:, 1:]) / 2


def upsample(x: "N, M"):
    return x.repeat(2, axis=0).repeat(3, axis=1)


def upsample_zeros(x: "N, M"):
    out = np.zeros((2 * x.shape[0], 2 * x.shape[1]))
    out[::2, ::2] = x
    return out


def interleave(x: "N", y: "M"):
    out = np.empty(x.size + y.size)
    out[0::2] = x
    out[1::2] = y
    return out


def integral_image(x: "N, M"):
    s = np.zeros((x.shape[0] + 1, x.shape[1] + 1))
    s[1:, 1:] = x.cumsum(0).cumsum(1)
    return s[2:, 2:] - s[:-2, 2:] - s[2:, :-2] + s[:-2, :-2]


def histogram_equal(x: "N, M"):
    hist, edges = np.histogram(x.ravel(), bins=8, range=(0, 1))
    cdf = hist.cumsum() / max(x.size, 1)
    return np.interp(x.ravel(), edges[:-1], cdf).reshape(x.shape)


def sobel(x: "N, M"):
    gx = x[1:-1, 2:] - x[1:-1, :-2]
    gy = x[2:, 1:-1] - x[:-2, 1:-1]
    return np.hypot(gx, gy)


def laplace_step(u: "N, M"):
    u[1:-1, 1:-1] = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) / 4
    return u


def heat(u: "N"):
    for _ in range(3):
        u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u


def game_of_life(x: "i:N, M"):
    n = sum(np.roll(np.roll(x, i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j)
    return (n == 3) | (x & (n == 2))


def tridiagonal(a: "N", b: "M", c: "K"):
    return np.diag(a, -1) + np.diag(b) + np.diag(c, 1)


def toeplitz(x: "N"):
    n = len(x)
    i = np.arange(n)
    return x[np.abs(i[:, None] - i)]


def hankel(x: "N"):
    n = (len(x) + 1) // 2
    return x[np.arange(n)[:, None] + np.arange(n)]


def circulant(x: "N"):
    n = len(x)
    return np.stack([np.roll(x, k) for k in range(n)]) if n else np.zeros((0, 0))


def vandermonde(x: "N", y: "M"):
    a = np.vander(x, 3, increasing=True)
    return np.linalg.lstsq(a, y, rcond=None)[0]


def polynomial_fit(x: "N", y: "M"):
    return np.polyfit(x, y, 1)


def horner(p: "4", x: "N, M"):
    y = np.zeros_like(x)
    for c in p:
        y = y * x + c
    return y


def lagrange(x: "3", y: "K"):
    total = np.poly1d([0.0])
    for i in range(3):
        others = np.delete(x, i)
        total = total + y[i] * np.poly1d(np.poly(others))
    return total.coeffs


def cumulative_returns(prices: "N, M"):
    r = prices[1:] / prices[:-1] - 1
    return np.cumprod(1 + r, axis=0) - 1


def drawdown(x: "N"):
    return (x - np.maximum.accumulate(x)).min()


def sharpe(x: "N, M", w: "K"):
    r = x @ w
    return r.mean() / r.std(ddof=1)


def portfolio(cov: "N, M", w: "K"):
    return w @ cov @ w


def autocorrelation(x: "N"):
    x = x - x.mean()
    r = np.correlate(x, x, mode="full")[len(x) - 1 :]
    return r[:3] / r[0]


def lagged(x: "N"):
    return np.column_stack([x[2:], x[1:-1], x[:-2]])


def train_test(x: "N, M", y: "K"):
    cut = int(0.8 * len(x))
    return x[:cut], x[cut:], y[:cut], y[cut:]


def batches_of(x: "N, M"):
    size = 2
    return [x[i : i + size].sum() for i in range(0, len(x), size)]


def folds(x: "N, M"):
    return [np.delete(x, part, axis=0) for part in np.array_split(np.arange(len(x)), 3)]


def shuffle_together(x: "N, M", y: "K"):
    p = np.random.permutation(len(x))
    return x[p], y[p]


def bootstrap(x: "N"):
    rng = np.random.default_rng(0)
    picks = rng.integers(0, len(x), size=(10, len(x)))
    return x[picks].mean(axis=1)


def dropout(x: "N, M"):
    keep = np.random.rand(*x.shape) < 0.5
    return x * keep / 0.5


def random_walk(n: "s:N"):
    steps = np.random.choice([-1, 1], size=(n, 2))
    return np.cumsum(steps, axis=0)


def monte_carlo(n: "s:N"):
    rng = np.random.default_rng(1)
    p = rng.uniform(-1, 1, (n, 2))
    return ((p**2).sum(axis=1) <= 1).mean()


def random_projection(x: "N, M"):
    return x @ np.random.RandomState(0).randn(x.shape[1], 3)


def gumbel(logits: "N, M"):
    g = -np.log(-np.log(np.random.default_rng(2).random(logits.shape)))
    return (logits + g).argmax(-1)


def levenshtein(a: "i:N", b: "i:M"):
    d = np.zeros((len(a) + 1, len(b) + 1))
    d[:, 0] = np.arange(len(a) + 1)
    d[0, :] = np.arange(len(b) + 1)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + (a[i - 1] != b[j - 1]))
    return d[-1, -1]


def dtw_costs(a: "N, D", b: "M, E"):
    cost = np.abs(a[:, None] - b[None]).sum(-1)
    acc = np.full((len(a) + 1, len(b) + 1), np.inf)
    acc[0, 0] = 0
    acc[1:, 1:] = cost
    return acc


def floyd(d: "3, N"):
    for k in range(3):
        d = np.minimum(d, d[:, k, None] + d[None, k, :])
    return d


def adjacency(edges: "i:N, 2"):
    a = np.zeros((4, 4))
    a[edges[:, 0], edges[:, 1]] = 1
    return a + a.T


def graph_laplacian(a: "N, M"):
    return np.diag(a.sum(axis=1)) - a


def page_rank(a: "N, N"):
    n = a.shape[0]
    m = a / np.maximum(a.sum(0, keepdims=True), 1)
    r = np.ones(n) / n
    for _ in range(2):
        r = 0.85 * m @ r + 0.15 / n
    return r


def power_method(a: "N, M"):
    v = np.ones(a.shape[1])
    for _ in range(3):
        v = a @ v
        v /= np.linalg.norm(v)
    return v


def gram_schmidt(a: "N, 3"):
    q = np.zeros_like(a)
    for j in range(a.shape[1]):
        v = a[:, j] - q[:, :j] @ (q[:, :j].T @ a[:, j])
        q[:, j] = v / np.linalg.norm(v)
    return q


def lu_step(a: "N, M"):
    a[1:, 0] /= a[0, 0]
    a[1:, 1:] -= np.outer(a[1:, 0], a[0, 1:])
    return a


def jacobi(a: "N, M", b: "K"):
    d = np.diagonal(a)
    r = a - np.diagflat(d)
    x = np.zeros_like(b)
    for _ in range(2):
        x = (b - r @ x) / d
    return x


def newton(x: "N", y: "M"):
    for _ in range(2):
        x = x - (x * x - y) / (2 * x)
    return x


def finite_jacobian(x: "3"):
    eye = np.eye(x.size) * 1e-6
    return np.array([(np.sin(x + e) - np.sin(x)) / 1e-6 for e in eye]).T


def trapezoid(y: "N", x: "M"):
    return np.sum((y[1:] + y[:-1]) * np.diff(x)) / 2


def simpson(y: "N"):
    if len(y) % 2 == 0:
        raise ValueError("an odd number of samples")
    return (y[0] + y[-1] + 4 * y[1:-1:2].sum() + 2 * y[2:-1:2].sum()) / 3


def fft_filter(x: "N", kernel: "M"):
    n = len(x) + len(kernel) - 1
    return np.fft.irfft(np.fft.rfft(x, n) * np.fft.rfft(kernel, n), n)


def spectrogram(x: "N"):
    frame, hop = 4, 2
    count = 1 + (len(x) - frame) // hop
    idx = np.arange(frame)[None] + hop * np.arange(count)[:, None]
    return np.abs(np.fft.rfft(x[idx] * np.hanning(frame), axis=1))


def periodogram(x: "N"):
    f = np.fft.rfftfreq(len(x))
    return f, np.abs(np.fft.rfft(x)) ** 2 / len(x)


def phase_correlation(a: "N, M", b: "K, L"):
    r = np.fft.fft2(a) * np.fft.fft2(b).conj()
    return np.fft.ifft2(r / np.abs(r)).real


def rotate_points(points: "N, M"):
    c, s = np.cos(0.5), np.sin(0.5)
    return points @ np.array([[c, -s], [s, c]]).T


def homogeneous(points: "N, M", m: "K, L"):
    h = np.c_[points, np.ones(len(points))] @ m.T
    return h[:, :-1] / h[:, -1:]


def triangle_areas(vertices: "N, D", faces: "i:M, 3"):
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    return np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2


def polygon_area(x: "N", y: "M"):
    return 0.5 * abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1)))


def bounding_boxes(points: "N, D"):
    return np.stack([points.min(axis=0), points.max(axis=0)])


def iou(a: "N, 4", b: "M, 4"):
    lt = np.maximum(a[:, None, :2], b[None, :, :2])
    rb = np.minimum(a[:, None, 2:], b[None, :, 2:])
    wh = np.clip(rb - lt, 0, None)
    inter = wh[..., 0] * wh[..., 1]
    area = lambda t: (t[:, 2] - t[:, 0]) * (t[:, 3] - t[:, 1])
    return inter / (area(a)[:, None] + area(b) - inter)


def unpack_columns(x: "N, M"):
    a, b, c = x.T
    return a * b + c


def quaternion(q: "N, 4", p: "M, 4"):
    w1, x1, y1, z1 = np.moveaxis(q, -1, 0)
    w2, x2, y2, z2 = np.moveaxis(p, -1, 0)
    return np.stack([w1 * w2 - x1 * x2, w1 * x2 + x1 * w2, y1 * y2, z1 * z2], axis=-1)


def rgb_to_grey(image: "H, W, C"):
    return image @ [0.3, 0.6, 0.1]


def rgb_to_grey_channels(image: "H, W, C"):
    r, g, b = image[..., 0], image[..., 1], image[..., 2]
    return 0.3 * r + 0.6 * g + 0.1 * b


def alpha_blend(top: "H, W, 4", below: "K, L, 3"):
    a = top[..., 3:]
    return top[..., :3] * a + below * (1 - a)


def normalise_channels(image: "H, W, C", mean: "K", std: "L"):
    return ((image - mean) / std).transpose(2, 0, 1)[None]


def patches(image: "H, W, 3"):
    p = 2
    h, w, c = image.shape
    assert h % p == 0 and w % p == 0
    return image.reshape(h // p, p, w // p, p, c).transpose(0, 2, 1, 3, 4).reshape(-1, p * p * c)


def max_pool(x: "N, H, W"):
    n, h, w = x.shape
    return x[:, : h // 2 * 2, : w // 2 * 2].reshape(n, h // 2, 2, w // 2, 2).max(axis=(2, 4))


def positional(length: "s:N", width: "s:M"):
    position = np.arange(length)[:, None]
    div = np.exp(np.arange(0, width, 2) * -0.1)
    pe = np.zeros((length, width))
    pe[:, 0::2] = np.sin(position * div)
    pe[:, 1::2] = np.cos(position * div)
    return pe


def rotary(x: "N, D"):
    n, d = x.shape
    angles = np.outer(np.arange(n), np.arange(d // 2))
    a, b = x[:, ::2], x[:, 1::2]
    return np.concatenate([a * np.cos(angles) - b * np.sin(angles), a * np.sin(angles) + b], axis=1)


def embed(table: "N, D", tokens: "i:M, L"):
    return table[tokens] + table[: tokens.shape[1]]


def bag_of_words(tokens: "i:N, M"):
    return np.apply_along_axis(np.bincount, 1, tokens, minlength=4)


def tf_idf(counts: "N, M"):
    tf = counts / counts.sum(axis=1, keepdims=True)
    idf = np.log(len(counts) / (1 + (counts > 0).sum(axis=0)))
    return tf * idf


def sort_by_column(x: "N, M"):
    return x[x[:, 1].argsort()]


def rank_data(x: "N"):
    ranks = np.empty(len(x), int)
    ranks[np.argsort(x)] = np.arange(len(x))
    return ranks


def inverse_permutation(x: "N"):
    p = np.argsort(x)
    return np.argsort(p)[::-1]


def remove_outliers(x: "N"):
    lo, hi = np.percentile(x, [25, 75])
    return x[(x >= lo) & (x <= hi)]


def fill_missing(x: "N, M"):
    means = np.nanmean(x, axis=0)
    i, j = np.where(np.isnan(x))
    x[i, j] = means[j]
    return x


def run_lengths(x: "i:N"):
    change = np.flatnonzero(np.diff(x)) + 1
    return np.diff(np.r_[0, change, len(x)])


def dedupe(x: "N, M"):
    _, first = np.unique(x, axis=0, return_index=True)
    return x[np.sort(first)]


def weighted_median(x: "N", w: "M"):
    order = np.argsort(x)
    c = np.cumsum(w[order])
    return x[order][np.searchsorted(c, c[-1] / 2)]


def chunk_apply(x: "N, M"):
    return np.concatenate([c * (k + 1) for k, c in enumerate(np.array_split(x, 2))])


def write_blocks(a: "N, M", b: "K, L"):
    out = np.zeros((a.shape[0] + b.shape[0], a.shape[1] + b.shape[1]))
    out[: len(a), : a.shape[1]] = a
    out[len(a) :, a.shape[1] :] = b
    return out


def rolling_buffer(buffer: "N, M", new: "K, M"):
    buffer[: -len(new)] = buffer[len(new) :]
    buffer[-len(new) :] = new
    return buffer


def swap_rows(x: "N, M"):
    x[[0, 1]] = x[[1, 0]]
    return x


def swap_columns(x: "N, M"):
    x[:, [0, -1]] = x[:, [-1, 0]]
    return x


def set_border(x: "N, M"):
    x[[0, -1], :] = 0
    x[:, [0, -1]] = 0
    return x


def scatter(x: "N", places: "i:M", values: "K"):
    out = x.copy()
    out[places] += values
    return out


def scatter_rows(x: "N, D", places: "i:M", values: "K, E"):
    out = np.zeros_like(x)
    out[places] = values
    return out


def gather_windows(x: "N, M", centres: "i:K"):
    offsets = np.arange(-1, 2)
    return x[centres[:, None] + offsets]


def viterbi(obs: "3, N", trans: "M, K"):
    score = obs[0]
    for t in range(1, 3):
        score = (score[:, None] + trans).max(axis=0) + obs[t]
    return score.argmax()


def forward_algorithm(alpha: "N", a: "M, K", b: "L"):
    return (alpha @ a) * b / (alpha @ a * b).sum()


def kalman(x: "N", p: "N, N", f: "M, M", h: "K, N"):
    x = f @ x
    p = f @ p @ f.T + np.eye(len(x))
    s = h @ p @ h.T + np.eye(len(h))
    gain = p @ h.T @ np.linalg.inv(s)
    return x + gain @ (np.ones(len(h)) - h @ x)


def naive_bayes(x: "N, D", mean: "K, E", var: "K, E"):
    logp = -0.5 * ((x[:, None] - mean) ** 2 / (var + 1) + np.log(var + 1)).sum(-1)
    return logp - np.logaddexp.reduce(logp, axis=1, keepdims=True)


def perceptron(x: "N, D", y: "M"):
    w = np.zeros(x.shape[1])
    for xi, yi in zip(x, y):
        w += (yi - (xi @ w > 0)) * xi
    return w


def two_layers(x: "N, D", w1: "E, H", b1: "K", w2: "H, O"):
    hidden = np.maximum(x @ w1 + b1, 0)
    out = hidden @ w2
    grad = 2 * out / out.size
    return w1 - 0.1 * x.T @ ((grad @ w2.T) * (hidden > 0))


def triplet(x: "i:N, 3", e: "M, D"):
    a, p, n = e[x].transpose(1, 0, 2)
    return np.maximum(((a - p) ** 2).sum(1) - ((a - n) ** 2).sum(1) + 1, 0)


def ensure_2d(x: "N", y: "M, K"):
    x = x[:, None] if x.ndim == 1 else x
    return np.hstack([x, y])


def checked_shapes(x: "N, M", y: "K"):
    if x.shape[0] != y.shape[0]:
        raise ValueError(f"{x.shape[0]} rows, {y.shape[0]} targets")
    if x.size == 0:
        return np.zeros(0)
    return x.T @ y / len(y)


def early_return(x: "N, M"):
    if x.shape[0] < x.shape[1]:
        x = x.T
    q, r = np.linalg.qr(x)
    return q, r


def catches(x: "N", y: "M"):
    try:
        return x + y
    except ValueError:
        return np.add.outer(x, y)


def retries(x: "N, M"):
    try:
        return np.linalg.inv(x)
    except np.linalg.LinAlgError:
        return np.linalg.pinv(x)


def recursive_sum(x: "N"):
    if len(x) <= 1:
        return x.sum()
    half = len(x) // 2
    return recursive_sum(x[:half]) + recursive_sum(x[half:])


def merge_sort(x: "N"):
    if len(x) < 2:
        return x
    a, b = merge_sort(x[: len(x) // 2]), merge_sort(x[len(x) // 2 :])
    out = np.empty(len(a) + len(b))
    out[np.arange(len(a)) + np.searchsorted(b, a)] = a
    out[np.arange(len(b)) + np.searchsorted(a, b, side="right")] = b
    return out


def while_halves(x: "N"):
    n = len(x)
    while n > 1:
        n = (n + 1) // 2
        x = x[:n] + np.pad(x[n:], (0, n - len(x[n:])))
    return x


def generator_sum(x: "N, M"):
    return sum(row * (i + 1) for i, row in enumerate(x))


def dictionary(x: "N", y: "M"):
    named = {"x": x, "y": y}
    return {k: v / v.sum() for k, v in named.items()}


def nested_lists(x: "N", y: "M"):
    return np.array([[x.sum(), y.sum()], [x.size, y.size]])


def ragged(x: "N", y: "M"):
    return np.array([x, y])


def from_lists(x: "N", y: "M"):
    return np.array([*x, *y])


def list_comprehension(x: "N, M"):
    return np.array([np.median(row) for row in x])


def zip_rows(x: "N, M", y: "K, L"):
    return [a @ b for a, b in zip(x, y, strict=True)]


def enumerate_write(x: "N, M"):
    out = np.zeros(x.shape[1])
    for i, row in enumerate(x):
        out[i] = row.sum()
    return out
