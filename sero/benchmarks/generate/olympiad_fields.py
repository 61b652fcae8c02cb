"""Made-up problems of electricity, optics and modern physics, with units and tolerances."""

from __future__ import annotations

import random
from fractions import Fraction

from sero.benchmarks.generate import olympiad_reading as reading
from sero.benchmarks.generate.olympiad_family import (
    Drawn,
    Family,
    Holes,
    combination,
    decimal,
    describes,
    near,
    same,
    values,
    whole,
)
from sero.benchmarks.generate.olympiad_reading import Number

_PLANCK, _LIGHT = Fraction("6.63e-34"), Fraction("3.00e8")


# Voltages along a chain of resistors.


def _draw_divider(rng: random.Random, level: int) -> Drawn:
    n = 2 + (level > 2)
    chain = rng.sample(range(1, 20 + 10 * level), n)
    current = Fraction(rng.choice((1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15)), 10)
    gold = ",".join(decimal(r * current, 1) for r in chain)
    holes = {
        "chain": ",".join(f"${r}$" for r in chain),
        "source": decimal(sum(chain) * current, 1),
    }
    return Drawn(holes=holes, gold=gold, error=",".join(["1e-2"] * n))


def _divider_holds(holes: Holes, answer: str, tolerance: float) -> bool:
    """Each voltage is the share of the source that the resistance has in the chain."""
    chain = reading.numbers(holes["chain"])
    (source,) = values(holes, "source")
    return same(reading.numbers(answer), [source * r / sum(chain) for r in chain], tolerance)


# Chains of equal resistors.


def _draw_chains(rng: random.Random, level: int) -> Drawn:
    p, q = rng.sample(range(2, 12 + 4 * level), 2)
    s = rng.randint(1, 9 + level)
    total = combination([(Fraction(p * q, p + q) + s, "R")])
    return Drawn(holes={"p": p, "q": q, "s": s}, gold=f"${total}$")


def _chains_hold(holes: Holes, answer: str, _tolerance: float) -> bool:
    """Conductances add up, at two values of R."""
    p, q, s = whole(holes, "p", "q", "s")
    return all(
        near(
            reading.value(reading.right_side(answer), {"R": r}),
            1 / (1 / (p * r) + 1 / (q * r)) + s * r,
        )
        for r in (Fraction(1), Fraction(7, 3))
    )


# The load that draws at least some power.


def _draw_load(rng: random.Random, level: int) -> Drawn:
    a, b = sorted(rng.sample(range(1, 10 + 2 * level), 2))
    s = rng.randint(1, 15 + 3 * level)
    holes = {"emf": (a + b) * s, "inner": a * b, "power": s * s}
    return Drawn(holes=holes, gold=f"$[{a * a},{b * b}]$")


def _load_holds(holes: Holes, answer: str, _tolerance: float) -> bool:
    """The power is computed from the current."""
    emf, inner, power = values(holes, "emf", "inner", "power")

    def enough(load: Number) -> bool:
        return load >= 0 and (emf / (load + inner)) ** 2 * load >= power

    squares = [Fraction(n * n) for n in range(1, int(inner) + 2)]
    return describes(reading.pieces(answer), enough, [Fraction(0), *squares])


# A lens and a screen.


def _draw_lens(rng: random.Random, level: int) -> Drawn:
    focal = rng.randint(4, 20 + 10 * level)
    far = focal + rng.randint(3, 40 + 10 * level)
    screen = Fraction(far * focal, far - focal)
    return Drawn(holes={"focal": focal, "far": far}, gold=decimal(screen, 1), error="1e-1")


def _lens_holds(holes: Holes, answer: str, tolerance: float) -> bool:
    """The vergences add up within what the tolerance allows."""
    (screen,) = reading.numbers(answer)
    focal, far = values(holes, "focal", "far")
    exact = 1 / (1 / focal - 1 / far)
    return reading.size(screen - exact) <= tolerance


# Fringes behind two slits.


def _draw_fringes(rng: random.Random, level: int) -> Drawn:
    length, way = rng.randint(400, 700), Fraction(rng.randint(10, 20 + 10 * level), 10)
    apart = Fraction(rng.randint(10, 60), 100)
    spacing = length * way / (1000 * apart)
    holes = {"length": length, "way": decimal(way, 1), "apart": decimal(apart, 2)}
    return Drawn(holes=holes, gold=decimal(spacing, 2), error="1e-2")


def _fringes_hold(holes: Holes, answer: str, tolerance: float) -> bool:
    """Small triangles: spacing to way as wavelength to slit distance, all in metres."""
    (spacing,) = reading.numbers(answer)
    length, way, apart = values(holes, "length", "way", "apart")
    metres = way * (length / 10**9) / (apart / 1000)
    return reading.size(spacing - 1000 * metres) <= tolerance


# The energy of a photon.


def _draw_photon(rng: random.Random, level: int) -> Drawn:
    length = rng.randint(100, 1000 + 200 * level)
    energy = _PLANCK * _LIGHT / (Fraction(length) / 10**9)
    power = 0
    while energy * 10**power < 1:
        power += 1
    mantissa = decimal(energy * 10**power, 2)
    gold = f"${mantissa} \\times 10^{{-{power}}}$"
    return Drawn(holes={"length": length}, gold=gold, error=f"1e-{power + 2}")


def _photon_holds(holes: Holes, answer: str, tolerance: float) -> bool:
    """Planck's constant times the frequency."""
    (energy,) = reading.numbers(answer)
    (length,) = values(holes, "length")
    return reading.size(energy - _PLANCK * (_LIGHT * 10**9 / length)) <= tolerance


# The wavelength of an accelerated particle.


def _draw_wavelength(rng: random.Random, level: int) -> Drawn:
    mass, charge, volts = rng.randint(2, 20 + 4 * level), rng.randint(2, 9), rng.randint(2, 9)
    holes = {"mass": mass, "charge": charge, "volts": volts}
    return Drawn(holes=holes, gold=f"$\\frac{{h}}{{\\sqrt{{{2 * mass * charge * volts} m q U}}}}$")


def _wavelength_holds(holes: Holes, answer: str, _tolerance: float) -> bool:
    """Squared momentum over twice the mass is the work of the field, at two sets of values."""
    mass, charge, volts = whole(holes, "mass", "charge", "volts")
    for h, m, q, u in ((7, 2, 3, 5), (11, 3, 1, 2)):
        letters = {k: Fraction(v) for k, v in zip("hmqU", (h, m, q, u), strict=True)}
        momentum = h / float(reading.value(reading.right_side(answer), letters))
        if momentum < 0 or not near(momentum**2 / (2 * mass * m), charge * q * volts * u):
            return False
    return True


# Radioactive decay.


def _draw_decay(rng: random.Random, level: int) -> Drawn:
    times, half_life = rng.randint(2, 4 + level), rng.randint(2, 30 + 10 * level)
    nuclei = rng.randint(3, 99) * 2**times
    holes = {"nuclei": nuclei, "half_life": half_life, "days": times * half_life}
    return Drawn(holes=holes, gold=str(nuclei - nuclei // 2**times))


def _decay_holds(holes: Holes, answer: str, _tolerance: float) -> bool:
    """Half of what is left goes in each half-life."""
    left, half_life, days = whole(holes, "nuclei", "half_life", "days")
    decayed = 0
    for _ in range(days // half_life):
        decayed += left // 2
        left -= left // 2
    return same(reading.numbers(answer), [Fraction(decayed)])


FAMILIES = (
    Family(
        name="divider",
        subfield="Electromagnetism",
        answer_type="Numerical",
        wording="Resistors of <chain> ohms are connected in series, in this order, to an ideal "
        "source of $<source>\\,\\mathrm{V}$. Find the voltage across each of them.",
        draw=_draw_divider,
        holds=_divider_holds,
        several=True,
        unit="V",
    ),
    Family(
        name="chains",
        subfield="Electromagnetism",
        answer_type="Expression",
        wording="All resistors of a network have the resistance $R$. A chain of $<p>$ of them is "
        "connected in parallel with a chain of $<q>$, and the two together are in series with a "
        "chain of $<s>$.\nFind the resistance of the whole in terms of $R$.",
        draw=_draw_chains,
        holds=_chains_hold,
    ),
    Family(
        name="load",
        subfield="Electromagnetism",
        answer_type="Interval",
        wording="A battery has an electromotive force of $<emf>\\,\\mathrm{V}$ and an inner "
        "resistance of $<inner>\\,\\Omega$.\nFor which load resistances, in ohms, does the load "
        "take up at least $<power>\\,\\mathrm{W}$?",
        draw=_draw_load,
        holds=_load_holds,
        unit="$\\Omega$",
    ),
    Family(
        name="lens",
        subfield="Optics",
        answer_type="Numerical",
        wording="A small lamp stands on the axis of a thin converging lens of focal length "
        "$<focal>\\,\\mathrm{cm}$, $<far>\\,\\mathrm{cm}$ in front of it. At which distance behind "
        "the lens does a screen show the lamp sharply?",
        draw=_draw_lens,
        holds=_lens_holds,
        unit="cm",
    ),
    Family(
        name="fringes",
        subfield="Optics",
        answer_type="Numerical",
        wording="Light of $<length>\\,\\mathrm{nm}$ falls on two narrow slits "
        "$<apart>\\,\\mathrm{mm}$ apart. A screen stands $<way>\\,\\mathrm{m}$ behind them.\nFind "
        "the distance of neighbouring bright fringes near the middle of the screen.",
        draw=_draw_fringes,
        holds=_fringes_hold,
        unit="mm",
    ),
    Family(
        name="photon",
        subfield="Modern Physics",
        answer_type="Numerical",
        wording="Take $h=6.63 \\times 10^{-34}\\,\\mathrm{J\\,s}$ and "
        "$c=3.00 \\times 10^{8}\\,\\mathrm{m/s}$.\nFind the energy of one photon of light with a "
        "wavelength of $<length>\\,\\mathrm{nm}$ in vacuum, to three digits.",
        draw=_draw_photon,
        holds=_photon_holds,
        unit="J",
    ),
    Family(
        name="wavelength",
        subfield="Modern Physics",
        answer_type="Expression",
        wording="A particle of mass $<mass> m$ and charge $<charge> q$ starts from rest and "
        "crosses a voltage of $<volts> U$. It stays slow.\nExpress its de Broglie wavelength by "
        "$h$, $m$, $q$ and $U$.",
        draw=_draw_wavelength,
        holds=_wavelength_holds,
    ),
    Family(
        name="decay",
        subfield="Modern Physics",
        answer_type="Numerical",
        wording="A sample holds $<nuclei>$ nuclei of an isotope with a half-life of $<half_life>$ "
        "days. How many of them are expected to decay within $<days>$ days?",
        draw=_draw_decay,
        holds=_decay_holds,
    ),
)
