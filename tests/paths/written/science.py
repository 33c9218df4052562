"""Functions from scientific code, machine learning, signals, images and statistics, as people write them."""
# ruff: noqa - code as users write it

import math

import numpy as np


# Machine learning.


def train_test_split(x: "N, D", y: "M"):
    n = int(len(x) * 0.8)
    order = np.random.permutation(len(x))
    return x[order[:n]], x[order[n:]], y[order[:n]], y[order[n:]]


def k_fold_scores(x: "N, D", y: "N", k: "s:K"):
    folds = np.array_split(np.arange(len(x)), 5)
    scores = []
    for i in range(5):
        test = folds[i]
        train = np.concatenate([folds[j] for j in range(5) if j != i])
        w = np.linalg.pinv(x[train]) @ y[train]
        scores.append(((x[test] @ w - y[test]) ** 2).mean())
    return np.array(scores)


def softmax_cross_entropy(logits: "N, C", labels: "i:N"):
    z = logits - logits.max(axis=1, keepdims=True)
    logp = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
    return -logp[np.arange(len(labels)), labels].mean()


def gradient_descent(x: "N, D", y: "M", steps: "s:K"):
    w = np.zeros(x.shape[1])
    history = []
    for step in range(steps):
        r = x @ w - y
        w = w - 0.01 * x.T @ r / len(x)
        history.append(float((r**2).mean()))
    return w, np.array(history)


def kmeans_step(x: "N, D", c: "K, E"):
    d = ((x[:, None, :] - c[None, :, :]) ** 2).sum(-1)
    labels = d.argmin(axis=1)
    new = np.zeros_like(c)
    for k in range(len(c)):
        members = x[labels == k]
        if len(members) > 0:
            new[k] = members.mean(axis=0)
        else:
            new[k] = c[k]
    return new, labels


def knn_predict(train: "N, D", labels: "i:M", test: "T, E", k: "s:K"):
    out = []
    for row in test:
        dist = np.sqrt(((train - row) ** 2).sum(axis=1))
        nearest = np.argsort(dist)[:k]
        out.append(labels[nearest].mean())
    return np.array(out)


def batch_norm(x: "N, C, H, W", gamma: "C", beta: "D"):
    mean = x.mean(axis=(0, 2, 3), keepdims=True)
    var = x.var(axis=(0, 2, 3), keepdims=True)
    xhat = (x - mean) / np.sqrt(var + 1e-5)
    return gamma[None, :, None, None] * xhat + beta[None, :, None, None]


def layer_norm_mlp(x: "B, T, D", w1: "E, F", b1: "F", w2: "F, G", b2: "G"):
    mu = x.mean(-1, keepdims=True)
    sd = x.std(-1, keepdims=True)
    h = (x - mu) / (sd + 1e-6)
    h = np.maximum(h @ w1 + b1, 0)
    return x + h @ w2 + b2


def positional_encoding(n: "s:N", d: "s:D"):
    pos = np.arange(n)[:, None]
    i = np.arange(d)[None, :]
    angle = pos / np.power(10000, (2 * (i // 2)) / d)
    out = np.zeros((n, d))
    out[:, 0::2] = np.sin(angle[:, 0::2])
    out[:, 1::2] = np.cos(angle[:, 1::2])
    return out


def causal_attention(q: "T, D", k: "S, E", v: "S, F"):
    scores = q @ k.T / math.sqrt(q.shape[-1])
    mask = np.triu(np.ones(scores.shape, dtype=bool), k=1)
    scores = np.where(mask, -np.inf, scores)
    w = np.exp(scores - scores.max(-1, keepdims=True))
    w /= w.sum(-1, keepdims=True)
    return w @ v


def beam_step(scores: "B, V", beams: "s:K"):
    flat = scores.ravel()
    best = np.argpartition(-flat, beams)[:beams]
    rows, cols = np.unravel_index(best, scores.shape)
    return scores[rows, cols], rows, cols


def confusion_matrix(truth: "i:N", pred: "i:M", c: "s:C"):
    m = np.zeros((c, c), dtype=int)
    for t, p in zip(truth, pred):
        m[t % c, p % c] += 1
    return m


def minibatches(x: "N, D", y: "M", size: "s:B"):
    losses = []
    for start in range(0, len(x), 32):
        xb, yb = x[start : start + 32], y[start : start + 32]
        losses.append((xb.sum(axis=1) - yb).mean())
    return np.array(losses)


def early_stopping(losses: "N", patience: "s:P"):
    best, wait = losses[0], 0
    for i, loss in enumerate(losses):
        if loss < best:
            best, wait = loss, 0
        else:
            wait += 1
    return float(best), wait


def adam_update(w: "D", g: "E", m: "D", v: "D"):
    m = 0.9 * m + 0.1 * g
    v = 0.999 * v + 0.001 * g**2
    step = 0.001 * m / (np.sqrt(v) + 1e-8)
    if np.linalg.norm(step) > 1.0:
        step = step / np.linalg.norm(step)
    return w - step, m, v


def report_metrics(y: "N", p: "M"):
    err = y - p
    mse = float((err**2).mean())
    mae = float(np.abs(err).mean())
    return {"mse": mse, "mae": mae, "text": f"mse={mse:.3f} mae={mae:.3f}"}


def one_hot(labels: "i:N", classes: "s:C"):
    out = np.zeros((len(labels), classes))
    out[np.arange(len(labels)), labels] = 1.0
    return out


# Signals.


def moving_average(x: "N", w: "s:K"):
    c = np.cumsum(np.insert(x, 0, 0.0))
    return (c[w:] - c[:-w]) / w


def spectrogram(x: "N", frame: "s:F"):
    hop = frame // 2
    frames = [x[i : i + frame] * np.hanning(frame) for i in range(0, len(x) - frame + 1, max(hop, 1))]
    return np.abs(np.fft.rfft(np.array(frames), axis=-1))


def fft_convolution(x: "N", h: "M"):
    n = len(x) + len(h) - 1
    size = 2 ** int(np.ceil(np.log2(n)))
    y = np.fft.irfft(np.fft.rfft(x, size) * np.fft.rfft(h, size), size)
    return y[:n]


def pre_emphasis(x: "N"):
    return np.append(x[0], x[1:] - 0.97 * x[:-1])


def zero_crossings(x: "N"):
    s = np.sign(x)
    return np.where(np.diff(s) != 0)[0]


def find_peaks(x: "N"):
    peaks = []
    for i in range(1, len(x) - 1):
        if x[i] > x[i - 1] and x[i] > x[i + 1]:
            peaks.append(i)
    return np.array(peaks, dtype=int)


def downsample(x: "N", factor: "s:K"):
    n = len(x) // factor * factor
    return x[:n].reshape(-1, factor).mean(axis=1)


def autocorrelation(x: "N"):
    x = x - x.mean()
    full = np.correlate(x, x, mode="full")
    half = full[full.size // 2 :]
    return half / half[0]


def levinson(r: "N"):
    a = np.array([1.0])
    e = r[0]
    for i in range(1, 4):
        k = -(a @ r[i:0:-1]) / e
        a = np.concatenate([a, [0.0]]) + k * np.concatenate([[0.0], a[::-1]])
        e = e * (1 - k**2)
    return a, e


def overlap_add(frames: "K, F"):
    hop = frames.shape[1] // 2
    out = np.zeros(hop * (frames.shape[0] - 1) + frames.shape[1])
    for i, f in enumerate(frames):
        out[i * hop : i * hop + len(f)] += f
    return out


def butter_like(x: "N", b: "3", a: "3"):
    y = np.zeros_like(x)
    for n in range(2, len(x)):
        y[n] = b[0] * x[n] + b[1] * x[n - 1] + b[2] * x[n - 2] - a[1] * y[n - 1] - a[2] * y[n - 2]
    return y


def haar_levels(x: "N"):
    out = []
    while len(x) > 1:
        even, odd = x[::2], x[1::2]
        out.append((even - odd) / 2)
        x = (even + odd) / 2
    return x


def trim_silence(x: "N"):
    loud = np.abs(x) > 0.1
    if not loud.any():
        return x[:0]
    first = int(np.argmax(loud))
    last = len(x) - int(np.argmax(loud[::-1]))
    return x[first:last]


def normalise(x: "N"):
    peak = float(np.abs(x).max())
    if peak > 1e-9:
        x = x / peak
    print(f"peak {peak:.2f}")
    return x


def stft_frames(x: "N", n_fft: "s:F"):
    pad = n_fft // 2
    y = np.pad(x, (pad, pad), mode="reflect")
    n = 1 + (len(y) - n_fft) // 4
    idx = np.arange(n_fft)[None, :] + 4 * np.arange(n)[:, None]
    return y[idx]


# Images.


def sobel(img: "H, W"):
    gx = img[1:-1, 2:] - img[1:-1, :-2]
    gy = img[2:, 1:-1] - img[:-2, 1:-1]
    return np.hypot(gx, gy)


def convolve2d(img: "H, W", k: "P, Q"):
    kh, kw = k.shape
    out = np.zeros((img.shape[0] - kh + 1, img.shape[1] - kw + 1))
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = (img[i : i + kh, j : j + kw] * k).sum()
    return out


def max_pool(x: "N, H, W, C"):
    n, h, w, c = x.shape
    return x.reshape(n, h // 2, 2, w // 2, 2, c).max(axis=(2, 4))


def center_crop(img: "H, W, 3", size: "s:S"):
    top = (img.shape[0] - size) // 2
    left = (img.shape[1] - size) // 2
    crop = img[top : top + size, left : left + size]
    assert crop.shape[:2] == (size, size)
    return crop


def integral_image(img: "H, W"):
    s = np.zeros((img.shape[0] + 1, img.shape[1] + 1))
    s[1:, 1:] = img.cumsum(0).cumsum(1)
    return s[2:, 2:] - s[:-2, 2:] - s[2:, :-2] + s[:-2, :-2]


def histogram_equalise(img: "H, W"):
    hist, edges = np.histogram(img.ravel(), bins=256)
    cdf = hist.cumsum()
    cdf = cdf / cdf[-1]
    return np.interp(img.ravel(), edges[:-1], cdf).reshape(img.shape)


def grey(img: "H, W, C"):
    return img @ np.array([0.299, 0.587, 0.114])


def bilinear_resize(img: "H, W", h: "s:P", w: "s:Q"):
    ys = np.linspace(0, img.shape[0] - 1, h)
    xs = np.linspace(0, img.shape[1] - 1, w)
    y0, x0 = np.floor(ys).astype(int), np.floor(xs).astype(int)
    y1, x1 = np.minimum(y0 + 1, img.shape[0] - 1), np.minimum(x0 + 1, img.shape[1] - 1)
    wy, wx = (ys - y0)[:, None], xs - x0
    top = img[y0][:, x0] * (1 - wx) + img[y0][:, x1] * wx
    bottom = img[y1][:, x0] * (1 - wx) + img[y1][:, x1] * wx
    return top * (1 - wy) + bottom * wy


def image_pyramid(img: "H, W"):
    levels = [img]
    for _ in range(3):
        img = (img[::2, ::2] + img[1::2, ::2] + img[::2, 1::2] + img[1::2, 1::2]) / 4
        levels.append(img)
    return levels


def patches(img: "H, W", p: "s:P"):
    h, w = img.shape
    return np.stack([img[i : i + p, j : j + p] for i in range(0, h - p + 1, p) for j in range(0, w - p + 1, p)])


def mosaic(a: "H, W", b: "H, V", c: "G, W", d: "G, V"):
    return np.block([[a, b], [c, d]])


def bounding_box(mask: "b:H, W"):
    rows = np.any(mask, axis=1)
    cols = np.any(mask, axis=0)
    r = np.where(rows)[0]
    c = np.where(cols)[0]
    return mask[r[0] : r[-1] + 1, c[0] : c[-1] + 1]


def rescale(img: "H, W"):
    h, w = int(img.shape[0] * 0.5), int(img.shape[1] * 0.5)
    return img[: 2 * h : 2, : 2 * w : 2]


# Statistics.


def bootstrap_means(x: "N", reps: "s:B"):
    rng = np.random.default_rng(0)
    means = [x[rng.integers(0, len(x), len(x))].mean() for _ in range(reps)]
    return np.percentile(means, [2.5, 97.5])


def welch_t(a: "N", b: "M"):
    va, vb = a.var(ddof=1) / len(a), b.var(ddof=1) / len(b)
    t = (a.mean() - b.mean()) / np.sqrt(va + vb)
    df = (va + vb) ** 2 / (va**2 / (len(a) - 1) + vb**2 / (len(b) - 1))
    return t, df


def ranks(x: "N"):
    order = x.argsort()
    r = np.empty(len(x))
    r[order] = np.arange(1, len(x) + 1)
    return r


def spearman(x: "N", y: "M"):
    rx, ry = x.argsort().argsort(), y.argsort().argsort()
    return np.corrcoef(rx, ry)[0, 1]


def trimmed_mean(x: "N"):
    k = int(0.1 * len(x))
    s = np.sort(x)
    return s[k : len(s) - k].mean()


def pca(x: "N, D", k: "s:K"):
    x = x - x.mean(axis=0)
    cov = x.T @ x / (len(x) - 1)
    values, vectors = np.linalg.eigh(cov)
    order = np.argsort(values)[::-1][:k]
    return x @ vectors[:, order]


def mahalanobis(x: "N, D", mu: "E", cov: "D, D"):
    delta = x - mu
    return np.sqrt(np.einsum("ij,jk,ik->i", delta, np.linalg.inv(cov + np.eye(len(cov))), delta))


def ar_fit(x: "N", p: "s:P"):
    rows = [x[i : i + p] for i in range(len(x) - p)]
    a = np.array(rows)
    return np.linalg.lstsq(a, x[p:], rcond=None)[0]


def markov_chain(p: "S, S", steps: "s:K"):
    v = np.ones(len(p)) / len(p)
    path = [v]
    for _ in range(steps):
        v = v @ p
        path.append(v)
    return np.array(path), path[-1]


def kde(x: "N", grid: "G"):
    h = 1.06 * x.std() * len(x) ** (-1 / 5)
    z = (grid[:, None] - x[None, :]) / h
    return np.exp(-0.5 * z**2).sum(axis=1) / (len(x) * h * math.sqrt(2 * math.pi))


def contingency_chi2(table: "R, C"):
    total = table.sum()
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / total
    return ((table - expected) ** 2 / expected).sum()


# Scientific code.


def euler_integrate(y0: "D", a: "E, E", n: "s:N"):
    ys = [y0]
    for i in range(n):
        ys.append(ys[i] + 0.1 * a @ ys[i])
    return np.array(ys)


def heat_step(u: "N", n: "s:K"):
    for _ in range(n):
        u = u.copy()
        u[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u


def thomas(a: "N", b: "N", c: "N", d: "N"):
    n = len(d)
    cp, dp = np.zeros(n), np.zeros(n)
    cp[0], dp[0] = c[0] / b[0], d[0] / b[0]
    for i in range(1, n):
        m = b[i] - a[i] * cp[i - 1]
        cp[i] = c[i] / m
        dp[i] = (d[i] - a[i] * dp[i - 1]) / m
    x = np.zeros(n)
    x[-1] = dp[-1]
    for i in range(n - 2, -1, -1):
        x[i] = dp[i] - cp[i] * x[i + 1]
    return x


def pairwise_forces(pos: "N, 3", mass: "M"):
    n = len(pos)
    acc = np.zeros_like(pos)
    for i in range(n):
        for j in range(n):
            if i != j:
                d = pos[j] - pos[i]
                acc[i] += mass[j] * d / (np.linalg.norm(d) + 1e-3) ** 3
    return acc


def simpson(y: "N", dx: "s:K"):
    if len(y) % 2 == 0:
        raise ValueError("an odd number of points is needed")
    return dx / 3 * (y[0] + 4 * y[1:-1:2].sum() + 2 * y[2:-1:2].sum() + y[-1])


def lagrange(x: "N", y: "M", t: "T"):
    total = np.zeros_like(t)
    for i in range(len(x)):
        term = np.full_like(t, y[i])
        for j in range(len(x)):
            if j != i:
                term = term * (t - x[j]) / (x[i] - x[j])
        total += term
    return total


def newton_root(x: "N"):
    for _ in range(20):
        step = (x**2 - 2) / (2 * x)
        x = x - step
        if np.abs(step).max() < 1e-8:
            break
    return x


def grid_square(x: "N"):
    side = math.isqrt(len(x))
    return x[: side * side].reshape(side, side)
