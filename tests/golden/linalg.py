"""Writes tests/corpus/linalg/: values, gradients and second derivatives of functions of matrices.

The right values are central differences at 60 digits, by mpmath (https://mpmath.org), of functions that are written
here from their definitions. Run at the root: python3 tests/golden/linalg.py
"""
from mpmath import mp, mpf, matrix, nstr

mp.dps = 60
H = mpf(10) ** -15


def add(a, v, t):
    return [[x + t * y for x, y in zip(r, s)] for r, s in zip(a, v)]


def unit(a, i, j):
    return [[mpf(1) if (k, l) == (i, j) else mpf(0) for l in range(len(a[0]))] for k in range(len(a))]


def slope(f, a, v):
    return (f(add(a, v, H)) - f(add(a, v, -H))) / (2 * H)


def gradient(f, a):
    return [[slope(f, a, unit(a, i, j)) for j in range(len(a[0]))] for i in range(len(a))]


def second(f, a, v):
    """The derivative of the gradient in the direction v."""
    step = mpf(10) ** -12
    up, down = gradient(f, add(a, v, step)), gradient(f, add(a, v, -step))
    return [[(x - y) / (2 * step) for x, y in zip(r, s)] for r, s in zip(up, down)]


def weights(m, n):
    return [[mpf((3 * i + 2 * j + i * j) % 5 - 2) / 4 + mpf(1) / 8 for j in range(n)] for i in range(m)]


def weighted(x):
    w = weights(x.rows, x.cols)
    return sum(w[i][j] * x[i, j] for i in range(x.rows) for j in range(x.cols))


def lower(a):
    """The symmetric matrix with the lower triangle of a."""
    n = len(a)
    return matrix([[a[max(i, j)][min(i, j)] for j in range(n)] for i in range(n)])


def squares(x):
    return x.apply(lambda y: y * y)


def lu(a):
    """LU with partial pivoting, by elimination."""
    n = len(a)
    u, l = matrix(a), mp.eye(n)
    for k in range(n):
        p = max(range(k, n), key=lambda i: abs(u[i, k]))
        for j in range(n):
            u[k, j], u[p, j] = u[p, j], u[k, j]
        for j in range(k):
            l[k, j], l[p, j] = l[p, j], l[k, j]
        for i in range(k + 1, n):
            l[i, k] = u[i, k] / u[k, k]
            for j in range(n):
                u[i, j] -= l[i, k] * u[k, j]
    return l, u


def qr(a):
    """By Gram and Schmidt: the diagonal of r is positive."""
    a = matrix(a)
    q, r = matrix(a.rows, a.cols), matrix(a.cols, a.cols)
    for j in range(a.cols):
        x = a[:, j]
        for i in range(j):
            r[i, j] = sum(q[k, i] * a[k, j] for k in range(a.rows))
            x -= r[i, j] * q[:, i]
        r[j, j] = mp.sqrt(sum(y * y for y in x))
        for k in range(a.rows):
            q[k, j] = x[k] / r[j, j]
    return q, r


def gram(a):
    a = matrix(a)
    return a.T * a


def singular(a):
    """Singular values from the greatest on, by the eigenvalues of the Gram matrix, and the right vectors."""
    w, v = mp.eigsy(gram(a))
    n = len(w)
    return [mp.sqrt(max(w[n - 1 - k], 0)) for k in range(n)], [v[:, n - 1 - k] for k in range(n)]


def solution(a, b):
    return mp.inverse(matrix(a)) * matrix(b)


def pinv(a):
    """Of a matrix with independent columns, or with independent rows."""
    a = matrix(a)
    if a.rows >= a.cols:
        return mp.inverse(a.T * a) * a.T
    return a.T * mp.inverse(a * a.T)


def expm(a):
    a = matrix(a)
    x = a / mpf(2) ** 12
    out, term = mp.eye(a.rows), mp.eye(a.rows)
    for k in range(1, 40):
        term = term * x / k
        out += term
    for _ in range(12):
        out = out * out
    return out


def eigen(a):
    return mp.eigsy(lower(a))


def projector(a, which):
    _, v = eigen(a)
    out = mp.zeros(len(a))
    for k in which:
        out += v[:, k] * v[:, k].T
    return out


B = [[1, -2], [mpf(1) / 2, 3], [2, 1]]
T = [[2, mpf(1) / 2, -1], [1, 3, mpf(1) / 4], [mpf(-1) / 2, 2, 4]]
SPD = [[4, 9, -7], [1, 3, 8], [mpf(-1) / 2, mpf(3) / 4, 2]]
NEAR = [[1, 2, 3], [2, 4, 6 + mpf(2) ** -20], [1, 0, 1]]
RANK2 = [[1, 2, 3], [2, 4, 6], [1, 0, 1]]
RANK1 = [[1, 2, 3], [2, 4, 6], [3, 6, 9]]
TWICE = [[1, 5, 5], [0, 1, 5], [0, 0, 2]]
TALL = [[1, 2], [3, -1], [mpf(1) / 2, 1], [-1, 1]]
WIDE = [[1, 3, mpf(1) / 2], [2, -1, 1]]
ORTH = [[3, 0], [0, 3], [0, 0]]
TRI = lambda keep, unit_diagonal: lambda a: matrix(
    [[mpf(1) if i == j and unit_diagonal else (a[i][j] if keep(i, j) else mpf(0)) for j in range(3)] for i in range(3)]
)
LOWER, UPPER = TRI(lambda i, j: j <= i, False), TRI(lambda i, j: i <= j, False)
ULOWER, UUPPER = TRI(lambda i, j: j <= i, True), TRI(lambda i, j: i <= j, True)

# Name, adl, mpmath, matrix, orders (1 where the second derivative does not exist).
CASES = [
    ("solve", "weighted(solve(a, b))", lambda a: weighted(solution(a, B)), T, 2),
    ("solve, nearly singular", "weighted(solve(a, b)) / 1.0e13", lambda a: weighted(solution(a, B)) / mpf(10) ** 13, NEAR, 2),
    ("inverse", "weighted(inv(a))", lambda a: weighted(mp.inverse(matrix(a))), T, 2),
    ("lower triangle", "weighted(tri_solve(Lower, a, b))", lambda a: weighted(mp.inverse(LOWER(a)) * matrix(B)), T, 2),
    ("upper triangle", "weighted(tri_solve(Upper, a, b))", lambda a: weighted(mp.inverse(UPPER(a)) * matrix(B)), T, 2),
    ("unit lower triangle", "weighted(tri_solve(UnitLower, a, b))", lambda a: weighted(mp.inverse(ULOWER(a)) * matrix(B)), T, 2),
    ("unit upper triangle, transposed", "weighted(tri_solve_transposed(UnitUpper, a, b))", lambda a: weighted(mp.inverse(UUPPER(a).T) * matrix(B)), T, 2),
    ("lower triangle, transposed", "weighted(tri_solve_transposed(Lower, a, b))", lambda a: weighted(mp.inverse(LOWER(a).T) * matrix(B)), T, 2),
    ("determinant", "det(a)", lambda a: mp.det(matrix(a)), T, 2),
    ("determinant, nearly singular", "det(a)", lambda a: mp.det(matrix(a)), NEAR, 2),
    ("determinant, rank 2", "det(a)", lambda a: laplace(a), RANK2, 2),
    ("determinant, rank 1", "det(a)", lambda a: laplace(a), RANK1, 2),
    ("determinant, equal singular values", "det(a)", lambda a: laplace(a), [[2, 0, 0], [0, 0, -2], [0, 2, 0]], 2),
    ("logarithm of the determinant", "logdet(a)", lambda a: mp.log(abs(mp.det(matrix(a)))), T, 2),
    ("Cholesky factor", "weighted(cholesky(a))", lambda a: weighted(mp.cholesky(lower(a))), SPD, 2),
    ("Cholesky factor, nearly singular", "weighted(cholesky(a))", lambda a: weighted(mp.cholesky(lower(a))), [[1, 0], [1, 1 + mpf(2) ** -12]], 1),
    ("LU", "{ let (l, u, _) = lu(a); weighted(l) + weighted(u @ u) }", lambda a: weighted(lu(a)[0]) + weighted(lu(a)[1] * lu(a)[1]), T, 2),
    ("LU with exchanges", "{ let (l, u, _) = lu(a); weighted(l) + weighted(u @ u) }", lambda a: weighted(lu(a)[0]) + weighted(lu(a)[1] * lu(a)[1]), [[0, 1, 2], [4, 1, 1], [2, 3, mpf(1) / 2]], 2),
    ("QR", "{ let (q, r) = qr(a); weighted(q) + weighted(r) }", lambda a: weighted(qr(a)[0]) + weighted(qr(a)[1]), T, 2),
    ("QR, tall", "{ let (q, r) = qr(a); weighted(q) + weighted(r) }", lambda a: weighted(qr(a)[0]) + weighted(qr(a)[1]), TALL, 2),
    ("QR, wide", "{ let (q, r) = qr(a); weighted(q @ r) }", lambda a: weighted(matrix(a)), WIDE, 2),
    ("singular values", "{ let (_, s, _) = svd(a); sum(s) + sum(s^3) }", lambda a: sum(singular(a)[0]) + sum(s**3 for s in singular(a)[0]), T, 2),
    ("singular values, tall", "{ let (_, s, _) = svd(a); sum(s) + sum(s^3) }", lambda a: sum(singular(a)[0]) + sum(s**3 for s in singular(a)[0]), TALL, 2),
    ("equal singular values", "{ let (_, s, _) = svd(a); sum(s) + sum(s^3) }", lambda a: sum(singular(a)[0]) + sum(s**3 for s in singular(a)[0]), ORTH, 1),
    ("singular vectors", "{ let (_, s, v) = svd(a); sum(for i. sum(for j. v[i, j]^2 * s[j])) + v[0, 0]^2 }",
     lambda a: sum(x * x * s for s, v in zip(*singular(a)) for x in v) + singular(a)[1][0][0] ** 2, T, 2),
    ("left singular vectors, tall", "{ let (u, _, _) = svd(a); u[0, 0]^2 + 2.0 * u[3, 1]^2 }", lambda a: left(a, 0, 0) + 2 * left(a, 3, 1), TALL, 2),
    ("eigenvalues", "sum(sin(eigh(a).0))", lambda a: sum(mp.sin(w) for w in eigen(a)[0]), SPD, 2),
    ("equal eigenvalues", "sum(sin(eigh(a).0))", lambda a: sum(mp.sin(w) for w in eigen(a)[0]), TWICE, 1),
    ("eigenvectors", "weighted(eigh(a).1^2)", lambda a: weighted(squares(eigen(a)[1])), SPD, 2),
    ("projector beside equal eigenvalues", "{ let v = eigh(a).1; weighted(for i, j. v[i, 2] * v[j, 2]) }", lambda a: weighted(projector(a, [2])), TWICE, 1),
    ("projector on equal eigenvalues", "{ let v = eigh(a).1; weighted(for i, j. v[i, 0] * v[j, 0] + v[i, 1] * v[j, 1]) }", lambda a: weighted(projector(a, [0, 1])), TWICE, 1),
    ("pseudoinverse, tall", "weighted(pinv(a))", lambda a: weighted(pinv(a)), TALL, 2),
    ("pseudoinverse, wide", "weighted(pinv(a))", lambda a: weighted(pinv(a)), WIDE, 2),
    ("least squares", "weighted(lstsq(a, for i, j: Fin(3). float(i) - 0.5 * float(j) + 1.0))", lambda a: weighted(pinv(a) * matrix([[i - mpf(j) / 2 + 1 for j in range(3)] for i in range(len(a))])), TALL, 2),
    ("least squares, wide", "weighted(lstsq(a, for i, j: Fin(3). float(i) - 0.5 * float(j) + 1.0))", lambda a: weighted(pinv(a) * matrix([[i - mpf(j) / 2 + 1 for j in range(3)] for i in range(len(a))])), WIDE, 2),
    ("exponential", "weighted(expm(a))", lambda a: weighted(expm(a)), T, 2),
    ("exponential, small", "weighted(expm(0.01 * a))", lambda a: weighted(expm([[mpf(x) / 100 for x in r] for r in a])), T, 2),
    ("trace and diagonal", "tr(a @ a) + sum(diagonal(a)^3) + weighted(diag(a[0]))", lambda a: sum((matrix(a) * matrix(a))[i, i] + a[i][i] ** 3 for i in range(3)) + weighted(mp.diag(a[0])), T, 2),
    ("norm", "norm(a)", lambda a: mp.sqrt(sum(x * x for r in a for x in r)), T, 2),
]


def left(a, i, k):
    s, v = singular(a)
    return (sum(a[i][j] * v[k][j] for j in range(len(a[0]))) / s[k]) ** 2


def laplace(a):
    if len(a) == 1:
        return a[0][0]
    minor = lambda j: [r[:j] + r[j + 1:] for r in a[1:]]
    return sum((-1) ** j * a[0][j] * laplace(minor(j)) for j in range(len(a)))


def number(x):
    text = nstr(mpf(x), 17, min_fixed=-5, max_fixed=17)
    return text if "." in text or "e" in text else text + ".0"


def show(a):
    return "[" + ", ".join("[" + ", ".join(number(x) for x in r) + "]" for r in a) + "]"


HEAD = """// Functions of matrices at ordinary, nearly singular and degenerate matrices: values, gradients, and gradients of
// directional derivatives. Written by tests/golden/linalg.py, which takes differences at 60 digits.

let b = [[1.0, -2.0], [0.5, 3.0], [2.0, 1.0]]

/// A number in which each element counts differently.
def weighted(x: m=>n=>Float) -> Float =
  sum(for i. sum(for j. x[i, j] * (float((3 * int(i) + 2 * int(j) + int(i) * int(j)) % 5 - 2) / 4.0 + 0.125)))

def direction() -> m=>n=>Float = for i, j. float((int(i) + 3 * int(j)) % 4) / 2.0 - 0.5

def near(x: m=>n=>Float, y: m=>n=>Float) -> Bool = norm(x - y) <= 1.0e-8 * (1.0 + norm(y))

/// Value and gradient in both modes.
def first(f: m=>n=>Float -> Float, a: m=>n=>Float, value: Float, slope: m=>n=>Float) -> Bool = {
  let v: m=>n=>Float = direction()
  let ahead = jvp(f)(a, v).1
  let value_is_right = abs(f(a) - value) <= 1.0e-8 * (1.0 + abs(value))
  value_is_right && near(grad(f)(a), slope) && abs(ahead - dot(slope, v)) <= 1.0e-8 * (1.0 + norm(slope))
}

/// The derivative of the gradient in the direction, by the four nestings of two modes.
def second(f: m=>n=>Float -> Float, a: m=>n=>Float, curve: m=>n=>Float) -> Bool = {
  let v: m=>n=>Float = direction()
  let along = \\x. jvp(f)(x, v).1
  let both = dot(curve, v)
  let forward = abs(jvp(along)(a, v).1 - both) <= 1.0e-7 * (1.0 + abs(both))
  let by_reverse = jvp(\\x. dot(grad(f)(x), v))(a, v).1
  let mixed = abs(by_reverse - both) <= 1.0e-7 * (1.0 + abs(both))
  forward && mixed && near(grad(along)(a), curve) && near(grad(\\x. dot(grad(f)(x), v))(a), curve)
}
"""


FILES = {
    "systems": ["solve", "inverse", "triangle", "least"],
    "determinants": ["determinant", "trace", "norm", "exponential"],
    "factors": ["Cholesky", "LU", "QR", "pseudoinverse"],
    "spectra": ["singular values", "singular vectors", "eigen", "projector"],
}


def write(case, out):
    name, code, f, a, orders = case
    a = [[mpf(x) for x in r] for r in a]
    v = [[mpf((i + 3 * j) % 4) / 2 - mpf(1) / 2 for j in range(len(a[0]))] for i in range(len(a))]
    print(f"// {name}", file=out)
    print("{", file=out)
    print(f"  let f = \\a: Fin({len(a)})=>Fin({len(a[0])})=>Float. {code}", file=out)
    print(f"  let a = {show(a)}", file=out)
    print(f"  let slope = {show(gradient(f, a))}", file=out)
    checks = f"first(f, a, {number(f(a))}, slope)"
    if orders == 2:
        checks += f" && second(f, a, {show(second(f, a, v))})"
    print(f"  {checks}", file=out)
    print("}", file=out)
    print("//> true", file=out)


def main():
    left_over = list(CASES)
    for file, words in FILES.items():
        with open(f"tests/corpus/linalg/{file}.adl", "w") as out:
            out.write(HEAD)
            for case in [c for c in left_over if any(w in c[0] for w in words)]:
                left_over.remove(case)
                write(case, out)
    assert not left_over, left_over


main()
