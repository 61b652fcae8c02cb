import re
from html.parser import HTMLParser

import pytest

from sero.reporting.formats import Format, md_escape, render_report, tex_escape
from sero.reporting.results import Point, Report, Section
from sero.reporting.statistics import Estimate
from sero.reporting.table import Table

HOSTILE = "<script>|x|</script> $a_b$ \\input{x} 100% & `y` *z* [u](v)\n\u202e\x1b[31m"

POINT = Point(number=1, calls=10.0, score=Estimate(mean=0.5, low=None, high=None, n=1))


def report(name="reference", *, unusable=None):
    table = Table(
        title="Held-out score · SIMULATED",
        columns=("row", "score", "difference"),
        rows=((name, "0.500", "-0.125"), ("b", "0.25", "–")),
        notes=(f"A note on {name}.",),
    )
    section = Section(
        title=f"quickstart · {name} · SIMULATED",
        simulated=True,
        tables=(table,),
        points=(POINT,),
        warnings=(f"one seed only ({name})",),
    )
    return Report(overviews=(), sections=(section,), notes=(f"Apart: {name}.",), unusable=unusable)


def failed(reason):
    return Table(
        title="Failed: 1",
        columns=("run", "state", "reason"),
        rows=(("runs/x", "failed", reason),),
        numeric=False,
    )


def test_text_is_aligned():
    text = render_report(report(), Format.TEXT)
    assert text == (
        "quickstart · reference · SIMULATED\n"
        "==================================\n"
        "\n"
        "Held-out score · SIMULATED\n"
        "row        score  difference\n"
        "----------------------------\n"
        "reference  0.500      -0.125\n"
        "b           0.25           –\n"
        "A note on reference.\n"
        "\n"
        "Warning: one seed only (reference).\n"
        "\n"
        "Apart: reference.\n"
    )


def test_wide_characters_take_two_columns():
    line = render_report(report("計画"), Format.TEXT).splitlines()[6]
    assert line == "計画  0.500      -0.125"


def test_text_columns_of_words_are_set_left():
    text = render_report(report(unusable=failed("no server")), Format.TEXT)
    assert text.endswith(
        "run     state   reason\n-------------------------\nruns/x  failed  no server\n"
    )


def test_markdown():
    text = render_report(report(), Format.MD)
    assert "## quickstart · reference · SIMULATED\n" in text
    assert (
        "| row | score | difference |\n| :--- | ---: | ---: |\n| reference | 0.500 | -0.125 |\n"
        "| b | 0.25 | – |\n"
    ) in text


def test_latex():
    text = render_report(report("gate_8"), Format.TEX)
    assert r"\caption{Held-{}out score $\cdot$ SIMULATED}" in text
    assert (
        "\\begin{tabular}{lrr}\n\\toprule\nrow & score & difference \\\\\n\\midrule\n"
        "gate\\_8 & 0.500 & $-$0.125 \\\\\nb & 0.25 & -- \\\\\n\\bottomrule\n\\end{tabular}"
    ) in text
    assert text.isascii()
    for name in ("table", "tabular"):
        assert text.count(f"\\begin{{{name}}}") == text.count(f"\\end{{{name}}}") == 1


@pytest.mark.parametrize(
    ("raw", "escaped"),
    [
        ("a_b & 5% #1 $x$", r"a\_b \& 5\% \#1 \$x\$"),
        ("\\input{x}", r"\textbackslash{}input\{x\}"),
        ("[2pt]*", "{[}2pt{]}{*}"),  # after a line's \\ these would be its arguments
        ("~^<>|", r"\textasciitilde{}\textasciicircum{}\textless{}\textgreater{}\textbar{}"),
        ("--", "-{}-{}"),
        ("計", "{[}U+8A08{]}"),
        ("a\n\x1b", r"a\textbackslash{}n\textbackslash{}x1b"),
    ],
)
def test_latex_escapes(raw, escaped):
    assert tex_escape(raw) == escaped


@pytest.mark.parametrize(
    ("raw", "escaped"),
    [
        ("a|b", r"a\|b"),
        ("<img>", r"\<img\>"),
        ("[u](http://v)", r"\[u\](http\://v)"),
        ("`c` *d* $e$ \\ &amp;", r"\`c\` \*d\* \$e\$ \\ \&amp;"),
        ("-0.125 (x)", "-0.125 (x)"),
        ("a\nb", r"a\\nb"),
    ],
)
def test_markdown_escapes(raw, escaped):
    assert md_escape(raw) == escaped


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)

    def handle_data(self, data):
        self.text += data


def test_html_is_one_page_with_the_figure():
    page = render_report(report(), Format.HTML)
    found = Tags()
    found.feed(page)
    assert found.tags.count("table") == 1
    assert found.tags.count("svg") == 1
    assert "Results · quickstart · reference · SIMULATED" in page
    assert not re.search(r"(src|href)=\"https?:", page)


def test_several_simulated_blocks_are_named_in_the_title():
    one = report().sections[0]
    page = render_report(
        Report(overviews=(), sections=(one, one), notes=(), unusable=None), Format.HTML
    )
    assert "<title>Results · with SIMULATED runs</title>" in page


@pytest.mark.parametrize("kind", list(Format))
def test_foreign_text_stays_text(kind):
    text = render_report(report(HOSTILE, unusable=failed(HOSTILE)), kind)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert text == render_report(report(HOSTILE, unusable=failed(HOSTILE)), kind)
    if kind is Format.HTML:
        found = Tags()
        found.feed(text)
        assert "script" not in found.tags
        assert "<script>|x|</script>" in found.text
    if kind is Format.TEX:
        assert not re.search(r"\\input\{", text.replace(r"\textbackslash{}", ""))
    if kind is Format.MD:
        rows = [line for line in text.splitlines() if line.startswith("| \\<script")]
        assert [len(re.findall(r"(?<!\\)\|", line)) for line in rows] == [4]


@pytest.mark.parametrize("kind", list(Format))
def test_nothing_finished_says_so(kind):
    empty = Report(overviews=(), sections=(), notes=(), unusable=failed("no server"))
    text = render_report(empty, kind)
    assert "No run is finished." in text
    assert "no server" in text
    assert text.endswith("\n")


def test_a_second_column_of_words_is_set_left():
    table = Table(
        title="t", columns=("row", "minus", "p"), rows=(("a", "bb", "1"),), notes=(), words=2
    )
    report = Report(overviews=(table,), sections=(), notes=(), unusable=None)
    text = {kind: render_report(report, kind) for kind in Format}
    assert "a    bb     1" in text[Format.TEXT]
    assert "| :--- | :--- | ---: |" in text[Format.MD]
    assert r"\begin{tabular}{llr}" in text[Format.TEX]
    assert '<td>bb</td><td class="n">1</td>' in text[Format.HTML]
