"""A report as Markdown."""

from __future__ import annotations

import pytest
import sample_report
from markdown_it import MarkdownIt

from failure_kinds.cli.report_markdown import markdown_report

BEFORE = """\
## Failure report

### Where every row went

40 failures in 1,200 rows.

| rows | count |
| :--- | ---: |
| rows that record a failure | 40 |
| rows that record none | 1,160 |
| unlabelled: no name, no status | 0 |
| omitted rollouts | 0 |
| unreadable rows | 0 |
| blank lines | 0 |
| **= rows and blank lines** | **1,200** |

### On whose side

| class | count | share | of all |
| :--- | ---: | ---: | :--- |
| evaluation | 30 | 75.0% | `███████████████░░░░░` |
| model | 10 | 25.0% | `█████░░░░░░░░░░░░░░░` |
| unknown | 0 | 0.0% | `░░░░░░░░░░░░░░░░░░░░` |

### Failures by label and stage

| label | stage | count | share | class | rule | rule's origin |
| :--- | :--- | ---: | ---: | :--- | :--- | :--- |
| `session_lost` | none | 30 | 75.0% | evaluation | `kind` | `failure_kinds.yaml:210` |
| `agent_timeout` | `agent` | 10 | 25.0% | model | `stage_kind` | `failure_kinds.yaml:402` |

### Made with

Vocabulary `1.0.0`, digest `77aa00bb11cc`.

Files: `before/rollouts.jsonl`.
"""


def rendered(markdown: str) -> str:
    """The page that a reader of GitHub's Markdown makes of it, HTML let through."""
    return str(MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown))


def test_a_report_is_headings_sentences_and_tables() -> None:
    assert markdown_report(sample_report.BEFORE) == BEFORE


def test_a_report_without_failures_says_so_and_has_no_empty_tables() -> None:
    text = markdown_report(sample_report.NO_FAILURES)
    assert "\n\nGood news: no failure in 1,200 rows.\n\n" in text
    assert text.count("| :--- |") == 1


def test_a_second_table_of_a_section_has_its_caption_above_it() -> None:
    text = markdown_report(sample_report.FULL)
    assert (
        "### Worth a look\n\n"
        "**Values that no source maps to a kind**\n\n"
        "| source | value | count |\n"
        "| :--- | :--- | ---: |\n"
        "| `harbor` | `DiskError` | 1 |\n\n"
        "**Names that nobody knows**\n\n"
        "| name | count | nearest known name |\n"
        "| :--- | ---: | :--- |\n"
        "| `agent_timout` | 1 | `agent_timeout` |\n"
        "| `Oops 7` | 1 | none |\n\n"
        "**Retired names**\n\n"
    ) in text
    assert (
        "### What it was read as\n\n"
        "| tool | source | files | rows | failures |\n"
        "| :--- | :--- | ---: | ---: | ---: |\n"
        "| `NVIDIA NeMo Gym` | `nemo_gym` | 2 | 1,200 | 119 |\n"
        "| `Harbor` | `harbor` | 1 | 30 | 1 |\n\n"
        "**The first 2 of 3 files passed over**\n\n"
        "| file | why |\n"
        "| :--- | :--- |\n"
        "| `run/config.json` | `no source fits; its rows have the fields lr, seed` |\n"
    ) in text
    assert "| `DiskError (harbor)` | `agent` | 1 |" in text
    assert "| `run/rollouts.jsonl` | 17 | `it isn't valid JSON: unexpected end` |" in text


def test_different_rules_are_said_before_the_numbers() -> None:
    assert (
        "### Two runs side by side\n\n"
        "The two were made with different rules (digest `3f9a1c7e2b40` against `77aa00bb11cc`): "
        "the differences below may come from the rules.\n\n"
        "**The two runs**\n\n"
    ) in markdown_report(sample_report.FULL)


def test_a_share_is_no_tag() -> None:
    report = sample_report.many_labels(3000)
    assert "| `my_env:kind_000` | `agent` | 1 | &lt;0.1% | unknown |" in markdown_report(report)


@pytest.mark.parametrize(("rows", "is_folded"), [(20, False), (21, True)])
def test_a_long_table_is_folded_away(rows: int, is_folded: bool) -> None:
    text = markdown_report(sample_report.many_labels(rows))
    opening = "<details>\n<summary>Failures by label and stage: 21 rows</summary>\n\n| label |"
    assert (opening in text) is is_folded
    assert text.count("</details>") == int(is_folded)
    assert text.count("| `my_env:kind_") == rows


def test_a_long_table_with_a_caption_is_folded_away_under_it() -> None:
    names = sample_report.FULL.unknown_names * 11
    text = markdown_report(sample_report.FULL.model_copy(update={"unknown_names": names}))
    assert "<details>\n<summary>Names that nobody knows: 22 rows</summary>\n\n| name |" in text


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("session_lost", "`session_lost`"),
        ("*a* _b_ [c](d) #1 @all https://x.org", "`*a* _b_ [c](d) #1 @all https://x.org`"),
        ("タイム", "`タイム`"),
        ("a|b", "<code>a&#124;b</code>"),
        ("a`b", "<code>a&#96;b</code>"),
        ("a\nb", "<code>a&#92;nb</code>"),
        ("\u202eb", "<code>&#92;u202eb</code>"),
        (" a ", "<code> a </code>"),
        ("<b>@all</b>", "<code>&#60;b&#62;&#64;all&#60;&#47;b&#62;</code>"),
        ("&lt;", "<code>&#38;lt&#59;</code>"),
        ("", '`""`'),
    ],
)
def test_a_name_is_code_that_nothing_can_end(name: str, code: str) -> None:
    assert markdown_report(sample_report.named(name)).endswith(
        f"\nVocabulary {code}, digest {code}.\n\nFiles: {code}.\n"
    )


@pytest.mark.parametrize(
    ("name", "as_html"),
    [
        (
            sample_report.HOSTILE,
            "&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;|`x`\\n\\u202eabc @all",
        ),
        ("\\|`` ` ``|\\`", "\\|`` ` ``|\\`"),
        ("**</code>**|", "**&lt;/code&gt;**|"),
        ("[x](javascript:alert(1))", "[x](javascript:alert(1))"),
    ],
)
def test_a_hostile_name_changes_nothing_around_it(name: str, as_html: str) -> None:
    hostile = rendered(markdown_report(sample_report.named(name)))
    tame = rendered(markdown_report(sample_report.named("tame")))
    assert hostile.replace(f"<code>{as_html}</code>", "<code>tame</code>") == tame
