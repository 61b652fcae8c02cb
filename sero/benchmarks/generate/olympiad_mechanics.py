"""Made-up problems of mechanics and thermodynamics, with units and tolerances."""

from __future__ import annotations

import random
import re
from fractions import Fraction

from sero.benchmarks.generate import olympiad_reading as reading
from sero.benchmarks.generate.olympiad_family import (
    Drawn,
    Family,
    Holes,
    combination,
    decimal,
    describes,
    fraction,
    near,
    nonzero,
    proportional,
    same,
    values,
    whole,
)
from sero.benchmarks.generate.olympiad_reading import Number

_BODY = re.compile(r"\$(\d+)\$ at \$\((-?\d+),(-?\d+)\)\$")
_FREEDOMS = {"monatomic": 3, "diatomic": 5}


# A stone thrown upwards from a cliff.


def _draw_cliff(rng: random.Random, level: int) -> Drawn:
    speed = rng.randint(1, 10 + 5 * level)
    time = Fraction(rng.randint(2 * speed + 1, 2 * speed + 20 + 20 * level), 10)
    height = 5 * time * time - speed * time
    return Drawn(
        holes={"speed": speed, "height": decimal(height, 2)}, gold=decimal(time, 1), error="1e-2"
    )


def _cliff_holds(holes: Holes, answer: str, tolerance: float) -> bool:
    """The height crosses zero within the tolerance around the answer, and on the way down."""
    (time,) = reading.numbers(answer)
    speed, height = values(holes, "speed", "height")

    def above(t: float) -> float:
        return float(height) + float(speed) * t - 5 * t * t

    slack = tolerance + 1e-9
    return above(float(time) - slack) >= 0 >= above(float(time) + slack) and time > 0


# A block held by friction and a force.


def _draw_incline(rng: random.Random, level: int) -> Drawn:
    mass, percent = rng.randint(1, 10 + 5 * level), rng.randint(5, 70)
    middle, half = Fraction(6 * mass), Fraction(8 * mass * percent, 100)
    gold = f"$[{decimal(middle - half, 2)},{decimal(middle + half, 2)}]$"
    return Drawn(holes={"mass": mass, "mu": decimal(Fraction(percent, 100), 2)}, gold=gold)


def _incline_holds(holes: Holes, answer: str, _tolerance: float) -> bool:
    """It rests where what friction has to supply is at most what it can."""
    mass, mu = values(holes, "mass", "mu")
    weight = mass * 10
    along, normal = weight * Fraction(3, 5), weight * Fraction(4, 5)

    def rests(force: Number) -> bool:
        return reading.size(along - force) <= mu * normal

    return describes(reading.pieces(answer), rests, (along - mu * normal, along + mu * normal))


# The centre of mass.


def _draw_centre(rng: random.Random, level: int) -> Drawn:
    bodies = [
        (rng.randint(1, 9), rng.randint(-9, 9), rng.randint(-9, 9)) for _ in range(2 + level // 2)
    ]
    total = sum(m for m, _, _ in bodies)
    x, y = (Fraction(sum(body[0] * body[i] for body in bodies), total) for i in (1, 2))
    listed = ", ".join(f"${m}$ at $({a},{b})$" for m, a, b in bodies)
    return Drawn(holes={"bodies": listed}, gold=f"$({fraction(x)},{fraction(y)})$")


def _centre_holds(holes: Holes, answer: str, _tolerance: float) -> bool:
    """The moments about it cancel."""
    ((x, y),) = reading.tuples(answer)
    bodies = [(int(m), int(a), int(b)) for m, a, b in _BODY.findall(holes["bodies"])]
    moments = (sum(m * (a - x) for m, a, _ in bodies), sum(m * (b - y) for m, _, b in bodies))
    return near(moments[0], Fraction(0)) and near(moments[1], Fraction(0))


# The path of a motion.


def _draw_path(rng: random.Random, level: int) -> Drawn:
    a, b, c = rng.randint(1, 4 + level), nonzero(rng, 9 + level), rng.randint(1, 6 + level)
    path = combination([(Fraction(b, a), "x"), (Fraction(-c, a * a), "x^{2}")])
    holes = {
        "x": combination([(a, "t")]),
        "y": combination([(b, "t"), (-c, "t^{2}")]),
    }
    return Drawn(holes=holes, gold=f"$y={path}$")


def _path_holds(holes: Holes, answer: str, _tolerance: float) -> bool:
    """Off the path by d, left minus right is always the same multiple of d."""
    pairs = []
    for t in map(Fraction, range(-3, 4)):
        x, y = (reading.value(holes[axis], {"t": t}) for axis in "xy")
        pairs += [(reading.difference(answer, {"x": x, "y": y + d}), d) for d in range(-2, 3)]
    return proportional(pairs)


# An elastic collision on a line.


def _draw_collision(rng: random.Random, level: int) -> Drawn:
    first, second = rng.sample(range(1, 8 + 2 * level), 2)
    step = Fraction(rng.randint(1, 20), 10)
    gold = f"{decimal((first - second) * step, 1)},{decimal(2 * first * step, 1)}"
    holes = {"first": first, "second": second, "speed": decimal((first + second) * step, 1)}
    return Drawn(holes=holes, gold=gold, error="1e-2,1e-2")


def _collision_holds(holes: Holes, answer: str, tolerance: float) -> bool:
    """In the frame of the centre of mass both velocities turn round."""
    first, second, speed = values(holes, "first", "second", "speed")
    centre = first * speed / (first + second)
    return same(reading.numbers(answer), [2 * centre - speed, 2 * centre], tolerance)


# Mixing water.


def _draw_mixing(rng: random.Random, level: int) -> Drawn:
    while True:
        warm, cold, step = rng.randint(1, 4 + level), rng.randint(1, 4 + level), rng.randint(1, 12)
        final = rng.randint(15, 70)
        if final + cold * step < 96 and final - warm * step > 2:
            break
    holes = {
        "warm": warm,
        "warm_degrees": final + cold * step,
        "cold": cold,
        "cold_degrees": final - warm * step,
    }
    return Drawn(holes=holes, gold=str(final), error="1e-1")


def _mixing_holds(holes: Holes, answer: str, tolerance: float) -> bool:
    """The heat given off is the heat taken in, as far as the tolerance allows."""
    (final,) = reading.numbers(answer)
    warm, above, cold, below = values(holes, "warm", "warm_degrees", "cold", "cold_degrees")
    surplus = warm * (above - final) - cold * (final - below)
    return reading.size(surplus) <= (warm + cold) * tolerance


# Heating a gas.


def _draw_heating(rng: random.Random, level: int) -> Drawn:
    gas, kept = rng.choice(sorted(_FREEDOMS)), rng.choice(("pressure", "volume"))
    moles, times = rng.randint(1, 9 + 2 * level), rng.randint(2, 9 + 2 * level)
    halves = _FREEDOMS[gas] + 2 * (kept == "pressure")
    gold = combination([(Fraction(halves * moles * (times - 1), 2), "R T")])
    return Drawn(holes={"moles": moles, "gas": gas, "kept": kept, "times": times}, gold=f"${gold}$")


def _heating_holds(holes: Holes, answer: str, _tolerance: float) -> bool:
    """Internal energy gained plus work done, at two values of R and T."""
    moles, times = whole(holes, "moles", "times")
    for r, t in ((Fraction(8), Fraction(300)), (Fraction(3), Fraction(7))):
        energy = moles * r * t * _FREEDOMS[holes["gas"]] / 2
        volume = moles * r * t  # at pressure 1
        work = volume * times - volume if holes["kept"] == "pressure" else 0
        found = reading.value(reading.right_side(answer), {"R": r, "T": t})
        if not near(found, energy * times - energy + work):
            return False
    return True


FAMILIES = (
    Family(
        name="cliff",
        subfield="Mechanics",
        answer_type="Numerical",
        wording="A stone is thrown straight up at $<speed>\\,\\mathrm{m/s}$ from the edge of a "
        "cliff, $<height>\\,\\mathrm{m}$ above the sea. Take $g=10\\,\\mathrm{m/s^{2}}$ and "
        "neglect the air.\nAfter how many seconds does the stone reach the sea?",
        draw=_draw_cliff,
        holds=_cliff_holds,
        unit="s",
    ),
    Family(
        name="incline",
        subfield="Mechanics",
        answer_type="Interval",
        wording="A block of $<mass>\\,\\mathrm{kg}$ lies on a plane that rises by three metres on "
        "every four metres of horizontal way. Its coefficient of static friction is $<mu>$, and "
        "$g=10\\,\\mathrm{m/s^{2}}$.\nA force of $F$ newtons pulls the block up along the plane. "
        "For which $F$ does it stay at rest?",
        draw=_draw_incline,
        holds=_incline_holds,
        unit="N",
    ),
    Family(
        name="centre",
        subfield="Mechanics",
        answer_type="Tuple",
        wording="Point masses in kilograms are fixed to a light plate at points given in metres: "
        "<bodies>. Find the coordinates $(x,y)$ of their centre of mass.",
        draw=_draw_centre,
        holds=_centre_holds,
        unit="m",
    ),
    Family(
        name="path",
        subfield="Mechanics",
        answer_type="Equation",
        wording="A body moves in a plane. At the time $t$ its coordinates are $x=<x>$ and "
        "$y=<y>$, all in SI units.\nWrite the equation of its path with $y$ as a function of $x$.",
        draw=_draw_path,
        holds=_path_holds,
    ),
    Family(
        name="collision",
        subfield="Mechanics",
        answer_type="Numerical",
        wording="A glider of $<first>\\,\\mathrm{kg}$ moves at $<speed>\\,\\mathrm{m/s}$ along a "
        "straight air track towards a glider of $<second>\\,\\mathrm{kg}$ at rest. They collide "
        "elastically.\nFind the velocities of the first and of the second glider after the "
        "collision, positive in the direction in which the first one moved.",
        draw=_draw_collision,
        holds=_collision_holds,
        several=True,
        unit="m/s",
    ),
    Family(
        name="mixing",
        subfield="Thermodynamics",
        answer_type="Numerical",
        wording="In an insulated vessel of no heat capacity $<warm>\\,\\mathrm{kg}$ of water at "
        "$<warm_degrees>^{\\circ} \\mathrm{C}$ are poured onto $<cold>\\,\\mathrm{kg}$ of water at "
        "$<cold_degrees>^{\\circ} \\mathrm{C}$. Which temperature do they reach?",
        draw=_draw_mixing,
        holds=_mixing_holds,
        unit="^{\\circ} \\mathrm{C}",
    ),
    Family(
        name="heating",
        subfield="Thermodynamics",
        answer_type="Expression",
        wording="<moles> mol of an ideal <gas> gas, whose molecules are rigid, are heated at "
        "constant <kept> from the absolute temperature $T$ to $<times> T$.\nExpress the heat that "
        "the gas takes in by $T$ and the gas constant $R$.",
        draw=_draw_heating,
        holds=_heating_holds,
    ),
)
