"""A report as an HTML page: its form, its safety, and how it looks in a browser."""

from __future__ import annotations

import html
import importlib
import re
import shutil
import subprocess
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import importlib_resources
import pytest
import sample_report

from failure_kinds.cli.report_html import html_report

if TYPE_CHECKING:
    from pathlib import Path

    from failure_kinds.report_model import FailureReport

CHROMIUM = shutil.which("chromium")

VOID = {"link", "meta"}
REPORTS = {
    "full": sample_report.FULL,
    "without failures": sample_report.NO_FAILURES,
    "long": sample_report.many_labels(30),
    "hostile": sample_report.named(sample_report.HOSTILE),
    "wide": sample_report.named("W" * 300),
}

every_report = pytest.mark.parametrize("report", REPORTS.values(), ids=REPORTS.keys())


class Page(HTMLParser):
    """A page that was read: its elements, its text, and whether every element is closed in its turn."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.declarations: list[str] = []
        self._open: list[str] = []
        self.feed(source)
        self.close()
        assert self._open == []

    def handle_decl(self, decl: str) -> None:
        self.declarations.append(decl)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs)
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)
            self.texts.setdefault(tag, []).append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open:
            self.texts[self._open[-1]][-1] += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        """The attributes of every element of a tag, in order."""
        return [attributes for element, attributes in self.elements if element == tag]

    def values(self, attribute: str) -> list[str]:
        """Every value of an attribute, in order."""
        return [value for _, attributes in self.elements if (value := attributes.get(attribute)) is not None]


def changed(**parts: object) -> FailureReport:
    """The full report with other parts."""
    return sample_report.FULL.model_copy(update=parts)


@every_report
def test_a_page_is_well_formed(report: FailureReport) -> None:
    page = Page(html_report(report))
    assert page.declarations == ["DOCTYPE html"]
    assert page.all("html") == [{"lang": "en"}]
    assert page.texts["title"] == ["Failure report"]


@every_report
def test_every_id_is_unique_and_every_reference_leads_to_one(report: FailureReport) -> None:
    page = Page(html_report(report))
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    links = [href.removeprefix("#") for href in page.values("href") if href != "data:,"]
    fills = [fill.removeprefix("url(#").removesuffix(")") for fill in page.values("fill")]
    assert {*links, *fills, *page.values("aria-labelledby")} <= set(ids)


@every_report
def test_a_page_loads_nothing_and_runs_nothing(report: FailureReport) -> None:
    source = html_report(report)
    page = Page(source)
    assert not {tag for tag, _ in page.elements} & {"script", "iframe", "img", "object", "embed", "form", "base", "use"}
    assert not [name for _, attributes in page.elements for name in attributes if name.startswith("on")]
    assert page.values("src") == []
    assert [href for href in page.values("href") if not href.startswith("#")] == ["data:,"]
    assert not re.search(r"url\((?!#fill-)|@import|://", source)
    assert {
        "http-equiv": "Content-Security-Policy",
        "content": "default-src 'none'; style-src 'unsafe-inline'; img-src data:",
    } in page.all("meta")


def test_a_page_is_made_for_light_and_dark_and_for_phones() -> None:
    page = Page(html_report(sample_report.FULL))
    assert page.all("meta")[0] == {"charset": "utf-8"}
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in page.all("meta")
    assert {"name": "color-scheme", "content": "light dark"} in page.all("meta")


def test_the_keyboard_comes_everywhere() -> None:
    page = Page(html_report(sample_report.FULL))
    assert page.elements[[tag for tag, _ in page.elements].index("body") + 1] == (
        "a",
        {"class": "skip", "href": "#report"},
    )
    assert page.all("main") == [{"id": "report", "tabindex": "-1"}]
    regions = [attributes for attributes in page.all("div") if attributes["class"] == "region"]
    assert len(regions) == len(page.all("table")) == 16
    assert {(region["role"], region["tabindex"]) for region in regions} == {("region", "0")}
    assert [region["aria-label"] for region in regions] == page.texts["caption"]


@every_report
def test_headings_are_in_order_and_each_section_is_named_by_its_own(report: FailureReport) -> None:
    page = Page(html_report(report))
    headings = [tag for tag, _ in page.elements if re.fullmatch(r"h\d", tag)]
    assert headings == ["h1"] + ["h2"] * (len(headings) - 1)
    keys = [attributes["id"] for attributes in page.all("h2")]
    assert page.values("aria-labelledby") == keys
    assert [attributes["href"] for attributes in page.all("a")[1:]] == [f"#{key}" for key in keys]


def test_the_sections_stand_in_the_order_in_which_they_are_to_be_read() -> None:
    assert Page(html_report(sample_report.FULL)).texts["h2"] == [
        "Where every row went",
        "What it was read as",
        "On whose side",
        "Failures by label and stage",
        "Worth a look",
        "What these rules move against the bundled vocabulary",
        "Groups",
        "Two runs side by side",
        "Made with",
    ]


@every_report
def test_every_header_of_a_table_says_what_it_is_the_header_of(report: FailureReport) -> None:
    page = Page(html_report(report))
    assert {attributes.get("scope") for attributes in page.all("th")} == {"col", "row"}
    bodies = re.findall(r"<tbody>(.*?)</tbody>", html_report(report), re.DOTALL)
    rows = [row for body in bodies for row in body.split("</tr>")[:-1]]
    assert [row.count('<th scope="row"') for row in rows] == [1] * len(rows)


def test_a_report_without_failures_says_so_and_draws_nothing() -> None:
    page = Page(html_report(sample_report.NO_FAILURES))
    assert page.texts["p"][0] == "Good news: no failure in 1,200 rows."
    assert page.texts["h2"] == ["Where every row went", "Made with"]
    assert page.values("fill") == []


def test_the_classes_are_one_bar_that_is_described() -> None:
    page = Page(html_report(sample_report.BEFORE))
    position = page.elements.index(
        ("svg", {"class": "whole", "role": "img", "aria-label": "evaluation 75.0%, model 25.0%, unknown 0.0%"})
    )
    assert page.elements[position + 1 : position + 4] == [
        ("rect", {"fill": "url(#fill-evaluation)", "x": "0.000%", "width": "75.000%", "height": "100%"}),
        ("rect", {"fill": "url(#fill-model)", "x": "75.000%", "width": "25.000%", "height": "100%"}),
        ("div", {"class": "region", "role": "region", "tabindex": "0", "aria-label": "On whose side"}),
    ]


def test_each_label_has_a_bar_that_is_as_long_as_its_count() -> None:
    source = html_report(sample_report.BEFORE)
    labels = source[source.index('<h2 id="labels">') :]
    assert re.findall(
        r'class="bar" aria-hidden="true"><rect fill="url\(#fill-(\w+)\)" x="0.000%" width="(.+?)"', labels
    ) == [
        ("evaluation", "100.000%"),
        ("model", "33.333%"),
    ]


def test_two_runs_have_two_bars_each_and_it_is_said_which_is_which() -> None:
    source = html_report(changed(labels=sample_report.FULL.labels[:1]))
    compared = source[source.index('<h2 id="comparison">') :]
    note = '<p class="note">The upper bar is this run, the lower one the other.</p>'
    assert compared.count(note) == 2
    assert compared.count('class="bar"') == 2 * (3 + 2)
    assert "digest <code" in compared
    assert "the differences below may come from the rules." in compared


def test_a_class_is_said_in_words_beside_its_colour() -> None:
    page = Page(html_report(sample_report.FULL))
    assert len(page.texts["span"]) == len([value for value in page.values("class") if value == "swatch"]) > 20
    assert {text.strip() for text in page.texts["span"]} == {"evaluation", "model", "unknown"}


@pytest.mark.parametrize(("rows", "shown", "folded"), [(20, 20, 0), (21, 20, 1), (30, 20, 10)])
def test_the_tail_of_a_long_table_is_folded_away(rows: int, shown: int, folded: int) -> None:
    source = html_report(sample_report.many_labels(rows))
    before, _, after = source.partition("<details>")
    assert (before.count("my_env:kind_"), after.count("my_env:kind_")) == (shown, folded)
    assert (f"<summary>{folded} more</summary>" in after) is bool(folded)
    assert ('<caption class="said">Failures by label and stage, continued</caption>' in after) is bool(folded)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("session_lost & <b>", "session_lost & <b>"),
        ("\u202eabc\n\x00", r"\u202eabc\n\x00"),
        (sample_report.HOSTILE, r"</title><script>alert(1)</script>|`x`\n\u202eabc @all"),
        ("\"'`|", "\"'`|"),
        ("שלום", "שלום"),
        ("", '""'),
    ],
)
def test_a_name_is_text_wherever_it_stands(name: str, shown: str) -> None:
    source = html_report(sample_report.named(name))
    assert source.count(f'<code dir="auto">{html.escape(shown, quote=False)}</code>') == 43
    page, tame = Page(source), Page(html_report(sample_report.named("!")))
    assert page.elements == tame.elements
    assert page.texts["code"].count(shown) == 43


def test_every_name_is_there() -> None:
    names = set(Page(html_report(sample_report.FULL)).texts["code"])
    assert names >= {label.label for label in sample_report.FULL.labels} - {None, "DiskError"} | {"DiskError (harbor)"}
    assert names >= {"agent_timout", "Oops 7", "judge_invalid", "judge_unparseable", "verify", '"503"', "team.yaml:9"}
    assert names >= {
        "swe_agent",
        "_OTHER",
        "agent_ref",
        "NVIDIA NeMo Gym",
        "harbor",
        "run/config.json",
        "3f9a1c7e2b40",
        "77aa00bb11cc",
        "before/rollouts.jsonl",
    }


def test_the_same_report_is_the_same_page() -> None:
    assert html_report(sample_report.FULL) == html_report(sample_report.FULL.model_copy(deep=True))


def _luminance(colour: str) -> float:
    channels = (int(colour[position : position + 2], 16) / 255 for position in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one: str, other: str) -> float:
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_text_and_marks_stand_out(scheme: int) -> None:
    style = (importlib_resources.files("failure_kinds.cli") / "report.css").read_text(encoding="utf-8")
    colours = dict(re.findall(r"--(\w+): (#\w{6});", style.split(":root {")[scheme + 1]))
    page = colours["page"]
    assert {name for name, colour in colours.items() if _contrast(colour, page) >= 4.5} >= {"text", "quiet", "link"}
    assert {name for name, colour in colours.items() if _contrast(colour, page) >= 3} >= {
        *("evaluation", "model", "unknown", "edge")
    }


@pytest.mark.parametrize("module", ["comparison", "html", "markdown", "parts", "sections", "text"])
def test_a_module_offers_what_it_says(module: str) -> None:
    offered = importlib.import_module(f"failure_kinds.cli.report_{module}")
    assert dir(offered) == sorted(offered.__all__)


MEASURED = """<!DOCTYPE html>
<title>not measured</title>
<iframe src="report.html" style="border: 0; width: {width}px; height: 800px"></iframe>
<script>
onload = () => {{
  const page = document.querySelector("iframe").contentDocument;
  const root = page.scrollingElement;
  const regions = [...page.querySelectorAll(".region")];
  document.title = [
    root.scrollWidth <= root.clientWidth,
    regions.some(region => region.scrollWidth > region.clientWidth),
    page.defaultView.getComputedStyle(page.querySelector("h2")).fontWeight,
    [...page.querySelectorAll("rect")].every(rect => rect.getBoundingClientRect().width >= 0),
  ].join(" ");
}};
</script>
"""


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here")
@pytest.mark.parametrize(
    ("report", "width", "measured"),
    [
        ("full", 360, "true true 700 true"),
        ("hostile", 360, "true true 700 true"),
        ("wide", 360, "true true 700 true"),
        ("without failures", 360, "true false 700 true"),
        ("full", 1280, "true false 700 true"),
    ],
)
def test_in_a_browser_tables_scroll_and_the_page_does_not(
    report: str, width: int, measured: str, tmp_path: Path
) -> None:
    """Measured from outside, as the page runs no script; the style is in force, or headings wouldn't be as heavy."""
    (tmp_path / "report.html").write_text(html_report(REPORTS[report]), encoding="utf-8")
    (tmp_path / "measure.html").write_text(MEASURED.format(width=width), encoding="utf-8")
    dom, log = _browse(tmp_path / "measure.html", tmp_path, "--allow-file-access-from-files")
    assert re.findall("<title>(.*?)</title>", dom) == [measured]
    assert "Content Security Policy" not in log


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here")
def test_in_a_browser_nothing_of_a_page_is_blocked_and_nothing_hostile_runs(tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text(html_report(REPORTS["hostile"]), encoding="utf-8")
    dom, log = _browse(tmp_path / "report.html", tmp_path)
    assert Page(dom).elements == Page(html_report(REPORTS["hostile"])).elements
    assert "CONSOLE" not in log


def _browse(page: Path, profile: Path, *options: str) -> tuple[str, str]:
    """Open a page in Chromium: the document that it ends up with, and what the browser logs."""
    assert CHROMIUM is not None
    quiet = "no-sandbox disable-gpu disable-quic no-first-run disable-background-networking disable-component-update"
    done = subprocess.run(
        [
            *(CHROMIUM, "--headless", *(f"--{option}" for option in (*quiet.split(), "disable-sync"))),
            *("--enable-logging=stderr", f"--user-data-dir={profile / 'profile'}", "--virtual-time-budget=5000"),
            *(*options, "--dump-dom", page.as_uri()),
        ],
        capture_output=True,
        encoding="utf-8",
        check=True,
        timeout=120,
    )
    return done.stdout, done.stderr
