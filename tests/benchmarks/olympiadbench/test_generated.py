"""Both scorers on made-up items, whose verifier knows nothing of them."""

import re

import pytest
import sympy

from sero.benchmarks.generate.olympiad import families, generate, verify

N = len(families())
SCORERS = ("careful", "official")
ITEMS = [item for level in (1, 5) for item in generate(N, seed=11, difficulty=level)]
NAMES = [f"{family.name}-{level}" for level in (1, 5) for family in families()]
every_item = pytest.mark.parametrize("item", ITEMS, ids=NAMES)


def gold(item):
    (text,) = item["final_answer"]
    return text


def score(benchmark, item, answer):
    task = benchmark.task_from_data(item)
    unit = f"({item['unit']})" if item["unit"] else ""
    response = f"Some steps.\nSo the final answer is \\boxed{{{answer}}}{unit}."
    return benchmark.score(benchmark.parse(task.prompt, response), task)


@every_item
def test_gold_scores_one(olympiadbench, item):
    for scorer in SCORERS:
        verdict = score(olympiadbench(scorer=scorer), item, gold(item))
        assert verdict.value == 1.0, (scorer, verdict)


def parts(item):
    """The answers in the gold, dollars gone."""
    text = gold(item).replace("$", "")
    return [part.strip() for part in re.split(r",(?![^(]*\))", text)]


@pytest.mark.parametrize(
    "item",
    [i for i in ITEMS if i["is_multiple_answer"]],
    ids=[n for n, i in zip(NAMES, ITEMS, strict=True) if i["is_multiple_answer"]],
)
def test_the_order_of_several_answers_does_not_matter(olympiadbench, item):
    answers = parts(item)
    assert len(answers) > 1
    for scorer in SCORERS:
        benchmark = olympiadbench(scorer=scorer)
        for answer in (", ".join(answers[::-1]), ",".join([*answers[1:], answers[0]])):
            assert verify(item, answer)
            assert score(benchmark, item, answer).value == 1.0, (scorer, answer)
    careful = olympiadbench()
    for answer in (",".join(answers[1:]), ",".join([*answers, "97"]), ",".join([answers[0]] * 2)):
        assert not verify(item, answer)
        assert score(careful, item, answer).value == 0.0, answer


def mutations(item):
    """The gold with one number, sign or bracket changed."""
    text = gold(item)
    numbers = list(re.finditer(r"\d+", text))
    for match in numbers[:1] if item["error"] else numbers:
        yield text[: match.start()] + str(int(match[0]) + 1) + text[match.end() :]
    if item["answer_type"] == "Interval":
        for old, new in ("[(", "])", "([", ")]"):
            if old in text and f"\\infty{old}" not in text and f"{old}-\\infty" not in text:
                yield text.replace(old, new, 1)
    yield text.replace("$", "$-", 1) if "$" in text else f"-{text}"


@every_item
def test_a_mutation_that_the_verifier_refuses_scores_zero(olympiadbench, item):
    benchmark = olympiadbench()
    refused = [answer for answer in mutations(item) if not verify(item, answer)]
    assert refused
    for answer in refused:
        assert score(benchmark, item, answer).value == 0.0, answer


# The same answer in another form.


def decimals(text):
    """Fractions whose denominators divide 100 as decimals."""

    def one(match):
        top, bottom = int(match[1]), int(match[2])
        return str(top / bottom) if 100 % bottom == 0 else match[0]

    return re.sub(r"\\frac\{(\d+)\}\{(\d+)\}", one, text)


def other_forms(item):
    """Answers that mean the gold's."""
    text = gold(item).replace("$", "")
    kind = item["answer_type"].split(",")[0]
    yield text.replace("\\frac", "\\dfrac").replace(" ", "")
    yield decimals(text)
    if kind in ("Interval", "Tuple"):
        sized = re.sub(r"[\[(]", lambda m: f"\\left{m[0]}", text)
        yield re.sub(r"[\])]", lambda m: f"\\right{m[0]}", sized)
    if kind == "Interval":
        yield f"x \\in {text}"
        yield " \\cup ".join(reversed(text.split(" \\cup ")))
    if kind == "Equation":
        left, right = text.split("=")
        yield f"{left}-({right})=0"
        yield f"{right}={left}"
        yield f"2({left})=2({right})"
    if kind == "Expression" and "sum" in item["question"]:
        yield sympy.latex(summed(item))
        yield sympy.latex(sympy.factor(summed(item)))
    if kind == "Expression" and "rooks" in item["question"]:
        n = sympy.Symbol("n")
        board = [int(k) for k in re.findall(r"\d+", item["question"])]  # 3, rooks, times, more
        rows, columns = sympy.ff(n, board[1]), sympy.ff(board[2] * n + board[3], board[1])
        yield sympy.latex(sympy.expand(rows * columns / sympy.factorial(board[1]), func=True))


def summed(item):
    """The sum of the question by SymPy."""
    k, n = sympy.symbols("k n", positive=True)
    term = re.search(r"\\left\((.+)\\right\)|the sum of \$(.+?)\$", item["question"])
    text = (term[1] or term[2]).replace(" \\cdot ", "*").replace("^", "**")
    text = re.sub(r"(\d) k", r"\1*k", text.replace("{", "(").replace("}", ")"))
    return sympy.expand(sympy.simplify(sympy.summation(sympy.sympify(text, {"k": k}), (k, 1, n))))


@every_item
def test_another_form_scores_one(olympiadbench, item):
    benchmark = olympiadbench()
    for answer in other_forms(item):
        assert verify(item, answer.removeprefix("x \\in ")), answer
        verdict = score(benchmark, item, answer)
        assert verdict.value == 1.0, (answer, verdict)
