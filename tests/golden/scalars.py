"""Writes tests/data/scalars.txt: values of the scalar functions at points of their whole domains.

The right values are those of mpmath (https://mpmath.org) at 60 digits, rounded to 64-bit floats. A line is a function,
its operands and its value, the floats by their bits. Run at the root: python3 tests/golden/scalars.py
"""
import random
import struct

from mpmath import mp, mpf

mp.dps = 60
random.seed(20240607)


def spread(lo, hi, n=40):
    return [random.uniform(lo, hi) for _ in range(n)]


def sizes(lo, hi, n=40, signs=(1,)):
    """Points of all magnitudes from 10^lo to 10^hi."""
    return [random.choice(signs) * 10 ** random.uniform(lo, hi) for _ in range(n)]


BOTH = (1, -1)
UNARY = {
    "sqrt": (mp.sqrt, sizes(-300, 300)),
    "cbrt": (lambda x: mp.sign(x) * mp.cbrt(abs(x)), sizes(-300, 300, signs=BOTH)),
    "exp": (mp.exp, spread(-700, 700) + sizes(-20, 0, signs=BOTH)),
    "expm1": (mp.expm1, spread(-40, 700) + sizes(-300, 0, signs=BOTH)),
    "log": (mp.log, sizes(-300, 300) + spread(0.5, 2)),
    "log1p": (mp.log1p, sizes(-300, 300) + spread(-0.999, 1)),
    "log2": (lambda x: mp.log(x, 2), sizes(-300, 300) + spread(0.5, 2)),
    "log10": (mp.log10, sizes(-300, 300) + spread(0.5, 2)),
    "sin": (mp.sin, spread(-10, 10) + sizes(-10, 15, signs=BOTH)),
    "cos": (mp.cos, spread(-10, 10) + sizes(-10, 15, signs=BOTH)),
    "tan": (mp.tan, spread(-10, 10) + sizes(-10, 15, signs=BOTH)),
    "asin": (mp.asin, spread(-1, 1) + sizes(-300, 0, signs=BOTH)),
    "acos": (mp.acos, spread(-1, 1)),
    "atan": (mp.atan, sizes(-300, 300, signs=BOTH) + spread(-3, 3)),
    "sinh": (mp.sinh, spread(-700, 700) + sizes(-300, 1, signs=BOTH)),
    "cosh": (mp.cosh, spread(-700, 700) + spread(-2, 2)),
    "tanh": (mp.tanh, spread(-20, 20) + sizes(-300, 1, signs=BOTH)),
    "asinh": (mp.asinh, sizes(-300, 300, signs=BOTH) + spread(-3, 3)),
    "acosh": (mp.acosh, sizes(0, 300) + spread(1, 3)),
    "atanh": (mp.atanh, spread(-1, 1) + sizes(-300, 0, signs=BOTH)),
    "sigmoid": (lambda x: 1 / (1 + mp.exp(-x)), spread(-700, 40) + spread(-3, 3)),
    "softplus": (lambda x: mp.log1p(mp.exp(x)), spread(-700, 700) + spread(-3, 3)),
    "erf": (mp.erf, spread(-6, 6) + sizes(-300, 0, signs=BOTH)),
    "erfc": (mp.erfc, spread(-6, 26) + spread(-1, 1)),
    "erf_inv": (mp.erfinv, spread(-1, 1) + sizes(-20, 0, signs=BOTH)),
    "lgamma": (lambda x: mp.log(abs(mp.gamma(x))), sizes(-300, 2) + spread(3, 170)),
    "digamma": (mp.digamma, sizes(-300, 15) + spread(2, 50)),
    "trigamma": (lambda x: mp.psi(1, x), sizes(-100, 15) + spread(0.1, 50)),
}
BINARY = {
    "atan2": (mp.atan2, [(y, x) for y, x in zip(sizes(-100, 100, signs=BOTH), sizes(-100, 100, signs=BOTH))]),
    "hypot": (mp.hypot, [(y, x) for y, x in zip(sizes(-100, 100, signs=BOTH), sizes(-100, 100, signs=BOTH))]),
    "pow": (mp.power, [(x, y) for x, y in zip(sizes(-20, 20), spread(-14, 14))]),
    "lbeta": (lambda x, y: mp.log(mp.beta(x, y)), [(x, y) for x, y in zip(sizes(-3, 6), sizes(-3, 6))]),
    "logaddexp": (lambda x, y: mp.log(mp.exp(x) + mp.exp(y)), [(x, y) for x, y in zip(spread(1, 600), spread(1, 600))]),
    "polygamma": (lambda x, k: mp.psi(int(k), x), [(x, float(k)) for k in range(2, 7) for x in spread(0.05, 40, 10)]),
}


def write(out, name, args, value):
    value = float(value)
    if value not in (0.0, float("inf"), float("-inf")) and abs(value) > 2.3e-308:
        out.write(" ".join([name] + [struct.pack(">d", x).hex() for x in [*args, value]]) + "\n")


def main():
    with open("tests/data/scalars.txt", "w") as out:
        out.write("# Written by tests/golden/scalars.py.\n")
        for name, (f, points) in UNARY.items():
            for x in points:
                write(out, name, [x], f(mpf(x)))
        for name, (f, points) in BINARY.items():
            for args in points:
                write(out, name, args, f(*[mpf(x) for x in args]))


main()
