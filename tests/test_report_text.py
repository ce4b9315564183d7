"""A report as text, and what a report says in whatever format."""

from __future__ import annotations

import io

import pytest
import sample_report
from rich.console import Console

from failure_kinds.cli.report_text import print_report
from failure_kinds.report_model import ClassCounts, FailureReport

IN_A_PIPE = """\
Failure report

Where every row went

120 failures in 1,230 rows.

1,250 rows expected, 1,230 found: 20 unaccounted for.

rows                            count
rows that record a failure        120
rows that record none           1,080
unlabelled: no name, no status      7
omitted rollouts                   20
unreadable rows                     3
blank lines                        10
= rows and blank lines          1,240

The first 2 of 3 unreadable rows
file                            line or row  why
run/rollouts.jsonl                       17  it isn't valid JSON: unexpected end
run/rollouts_failures.jsonl.gz           41  the file can't be read on from here: it is cut short

What it was read as

tool             source    files   rows  failures
NVIDIA NeMo Gym  nemo_gym      2  1,200       119
Harbor           harbor        1     30         1

The first 2 of 3 files passed over
file             why
run/config.json  no source fits; its rows have the fields lr, seed
run/result.json  these are a job's totals

On whose side

class       count  share  of all
evaluation     66  55.0%  ###########.........
model          38  31.7%  ######..............
unknown        16  13.3%  ###.................

Failures by label and stage

label                       stage         count  share  class       rule           rule's origin
session_lost                none             40  33.3%  evaluation  kind           failure_kinds.yaml:210
agent_timeout               agent            25  20.8%  model       stage_kind     failure_kinds.yaml:402
model_server_error          agent            18  15.0%  evaluation  http_evidence  failure_kinds.yaml:141
agent_run_error             agent            13  10.8%  unknown     kind           failure_kinds.yaml:118
provider_oom_killed         agent            13  10.8%  model       stage_kind     failure_kinds.yaml:404
judge_failed                verification      5   4.2%  evaluation  kind           failure_kinds.yaml:260
non_policy_model_rejection  verification      3   2.5%  evaluation  http_evidence  failure_kinds.yaml:149
agent_timout                rollout           1   0.8%  unknown     default        failure_kinds.yaml:390
DiskError (harbor)          agent             1   0.8%  unknown     default        failure_kinds.yaml:390
no name                     none              1   0.8%  unknown     default        none

Worth a look

Values that no source maps to a kind
source  value      count
harbor  DiskError      1

Names that nobody knows
name          count  nearest known name
agent_timout      1  agent_timeout
Oops 7            1  none

Retired names
name           count  read as
judge_invalid      2  judge_unparseable

Stages that nobody knows
stage   count  nearest known stage
verify      3  verification

HTTP statuses that are no evidence
status  count
"503"       4
200         1

9 rows with both a failure and a score.

1 failure would be classed or called otherwise in another model's request; nobody recorded whose it was.

What these rules move against the bundled vocabulary

name           stage  HTTP status  count  class before  class now  label before        label now      rule's origin
agent_timeout  agent  none            25  evaluation    model      agent_timeout       agent_timeout  team.yaml:5
no name        none   503              1  evaluation    unknown    model_server_error  no name        team.yaml:9

Groups

Split by agent_ref.

value      rows  failures  evaluation  model  unknown
swe_agent   800        84          50     30        4
none        330        36          16      8       12
_OTHER      100         0           0      0        0

Two runs side by side

The two were made with different rules (digest 3f9a1c7e2b40 against 77aa00bb11cc): \
the differences below may come from the rules.

The two runs
run         rows  failures  files
this run   1,230       120  run/rollouts.jsonl, run/rollouts_failures.jsonl.gz
other run  1,200        40  before/rollouts.jsonl

Classes side by side
class       this run  share  other run  share  difference  in points
evaluation        66  55.0%         30  75.0%         +36      -20.0
model             38  31.7%         10  25.0%         +28       +6.7
unknown           16  13.3%          0   0.0%         +16      +13.3

Labels side by side, the largest change of share first
label                       class       this run  share  other run  share  difference  in points
session_lost                evaluation        40  33.3%         30  75.0%         +10      -41.7
model_server_error          evaluation        18  15.0%          0   0.0%         +18      +15.0
agent_run_error             unknown           13  10.8%          0   0.0%         +13      +10.8
provider_oom_killed         model             13  10.8%          0   0.0%         +13      +10.8
agent_timeout               model             25  20.8%         10  25.0%         +15       -4.2
judge_failed                evaluation         5   4.2%          0   0.0%          +5       +4.2
non_policy_model_rejection  evaluation         3   2.5%          0   0.0%          +3       +2.5
DiskError (harbor)          unknown            1   0.8%          0   0.0%          +1       +0.8
agent_timout                unknown            1   0.8%          0   0.0%          +1       +0.8
no name                     unknown            1   0.8%          0   0.0%          +1       +0.8

Made with

Sources: nemo_gym 0123456789ab, harbor ba9876543210.

Vocabulary 1.0.0, digest 3f9a1c7e2b40.

Files: run/rollouts.jsonl, run/rollouts_failures.jsonl.gz.
"""

ON_80_COLUMNS = """\
On whose side

class       count  share  of all
evaluation     30  75.0%  ███████████████░░░░░
model          10  25.0%  █████░░░░░░░░░░░░░░░
unknown         0   0.0%  ░░░░░░░░░░░░░░░░░░░░

Failures by label and stage

label          stage  count  share  class       rule
session_lost   none      30  75.0%  evaluation  kind
    rule's origin failure_kinds.yaml:210
agent_timeout  agent     10  25.0%  model       stage_kind
    rule's origin failure_kinds.yaml:402
"""

ON_40_COLUMNS = """\
On whose side

class       count  share
evaluation     30  75.0%
    of all ███████████████░░░░░
model          10  25.0%
    of all █████░░░░░░░░░░░░░░░
unknown         0   0.0%
    of all ░░░░░░░░░░░░░░░░░░░░

Failures by label and stage

label          stage  count  share
session_lost   none      30  75.0%
    class evaluation, rule kind, rule's
    origin failure_kinds.yaml:210
agent_timeout  agent     10  25.0%
    class model, rule stage_kind, rule's
    origin failure_kinds.yaml:402
"""


def printed(report: FailureReport, *, columns: int | None = None, encoding: str = "utf-8", colour: bool = False) -> str:
    """What is printed: in a pipe, or on a terminal of a number of columns."""
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="")
    console = Console(
        file=file,
        width=columns or 20,
        force_terminal=columns is not None,
        color_system="standard" if colour else None,
        legacy_windows=False,
        _environ={},
    )
    print_report(report, console)
    file.seek(0)
    return "".join(line.rstrip(" \n") + "\n" for line in file)


def part(text: str, heading: str, next_heading: str) -> str:
    """The part of a text from one heading to another."""
    return text[text.index(heading) : text.index(f"\n{next_heading}")]


def changed(**parts: object) -> FailureReport:
    """The full report with other parts."""
    return sample_report.FULL.model_copy(update=parts)


def test_in_a_pipe_each_row_is_one_line_whatever_the_width() -> None:
    assert printed(sample_report.FULL) == IN_A_PIPE


@pytest.mark.parametrize(("columns", "expected"), [(80, ON_80_COLUMNS), (40, ON_40_COLUMNS)])
def test_on_a_terminal_what_does_not_fit_stands_below_its_row(columns: int, expected: str) -> None:
    assert part(printed(sample_report.BEFORE, columns=columns), "On whose side", "Made with") == expected


def test_on_a_wide_terminal_it_is_what_it_is_in_a_pipe_but_for_the_bars() -> None:
    bars = str.maketrans("█░", "#.")
    assert printed(sample_report.FULL, columns=200).translate(bars) == IN_A_PIPE


@pytest.mark.parametrize("columns", [10, 40, 80])
def test_no_line_is_wider_than_the_terminal_and_nothing_is_lost(columns: int) -> None:
    text = printed(sample_report.named("x" * 100), columns=columns)
    assert max(map(len, text.splitlines())) <= columns
    in_a_pipe = printed(sample_report.named("x" * 100))
    assert text.count("x") == in_a_pipe.count("x") > 3000


def test_colours_only_repeat_what_is_said() -> None:
    text = printed(sample_report.BEFORE, columns=80, colour=True)
    assert "\x1b[36mevaluation\x1b[0m" in text
    assert "\x1b[35mmodel     \x1b[0m" in text
    assert "\x1b" not in printed(sample_report.BEFORE, columns=80)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_an_encoding_without_blocks_gets_ascii(encoding: str) -> None:
    text = printed(sample_report.BEFORE, columns=80, encoding=encoding)
    assert "\nevaluation     30  75.0%  ###############.....\n" in text


def test_a_name_that_the_encoding_cannot_carry_is_its_escape() -> None:
    text = printed(sample_report.named("タイム"), encoding="ascii")
    assert "Vocabulary \\u30bf\\u30a4\\u30e0, digest" in text
    assert "Vocabulary タイム, digest" in printed(sample_report.named("タイム"))


def test_a_wide_name_keeps_the_columns_straight() -> None:
    unknown = part(printed(sample_report.named("タイム")), "Names that nobody knows", "Retired names")
    assert unknown.splitlines() == [
        "Names that nobody knows",
        "name    count  nearest known name",
        "タイム      1  タイム",
    ]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (sample_report.HOSTILE, r"</title><script>alert(1)</script>|`x`\n\u202eabc @all"),
        ("\x1b[2J\r\x07", r"\x1b[2J\r\x07"),
        ("[bold]:boom:[/bold]", "[bold]:boom:[/bold]"),
        ("\ud800", r"\ud800"),
        ("", '""'),
    ],
)
def test_a_hostile_name_is_shown_as_what_it_is(name: str, shown: str) -> None:
    for columns in (None, 1000):
        assert printed(sample_report.named(name), columns=columns).endswith(
            f"\nVocabulary {shown}, digest {shown}.\n\nFiles: {shown}.\n"
        )


def test_a_report_without_failures_is_short_and_says_so() -> None:
    assert printed(sample_report.NO_FAILURES) == (
        "Failure report\n\n"
        "Where every row went\n\n"
        "Good news: no failure in 1,200 rows.\n\n"
        "rows                            count\n"
        "rows that record a failure          0\n"
        "rows that record none           1,200\n"
        "unlabelled: no name, no status      0\n"
        "omitted rollouts                    0\n"
        "unreadable rows                     0\n"
        "blank lines                         0\n"
        "= rows and blank lines          1,200\n\n"
        "Made with\n\n"
        "Vocabulary 1.0.0, digest 3f9a1c7e2b40.\n\n"
        "Files: run/rollouts.jsonl.\n"
    )


@pytest.mark.parametrize(
    ("counts", "outcome"),
    [
        ({}, "Nothing to report: there are no rows."),
        ({"without_failure": 1}, "Good news: no failure in 1 row."),
        (
            {"without_failure": 4, "unlabelled": 1},
            "No failure with a name or a status in 5 rows; what is unlabelled or unreadable may still be one.",
        ),
        (
            {"unreadable": 2},
            "No failure with a name or a status in 2 rows; what is unlabelled or unreadable may still be one.",
        ),
        ({"failures": 1}, "1 failure in 1 row."),
        ({"failures": 2, "blank": 1000}, "2 failures in 2 rows."),
    ],
)
def test_the_outcome_comes_first(counts: dict[str, int], outcome: str) -> None:
    assert printed(sample_report.empty(**counts)).splitlines()[4] == outcome


@pytest.mark.parametrize(
    ("expected", "unaccounted", "sentence"),
    [
        (1230, 0, "1,230 rows expected, 1,230 found: all accounted for."),
        (1233, 3, "1,233 rows expected, 1,230 found: 3 unaccounted for."),
        (1, -1229, "1 row expected, 1,230 found: 1,229 more than expected."),
    ],
)
def test_what_is_unaccounted_for_is_what_was_expected_less_what_is_there(
    expected: int, unaccounted: int, sentence: str
) -> None:
    account = sample_report.FULL.account.model_copy(update={"expected": expected, "unaccounted": unaccounted})
    assert printed(changed(account=account)).splitlines()[6] == sentence


def test_all_files_passed_over_are_not_the_first_of_more() -> None:
    account = sample_report.FULL.account.model_copy(update={"passed_over": 2})
    assert "\nFiles passed over\nfile" in printed(changed(account=account))


def test_a_value_that_no_source_maps_is_told_apart_from_a_name_in_a_comparison() -> None:
    unmapped = sample_report.label("x", None, sample_report.UNKNOWN, "default", 390, 1, 2)
    labels = unmapped, unmapped.model_copy(update={"unmapped_by": "harbor"})
    report = sample_report.BEFORE.model_copy(
        update={"labels": labels, "other": sample_report.NO_FAILURES, "comparable": True}
    )
    compared = part(printed(report), "Labels side", "Made with").splitlines()[2:]
    assert [line.split("unknown")[0].strip() for line in compared] == ["x", "x (harbor)"]


def test_all_unreadable_rows_are_not_the_first_of_more() -> None:
    account = sample_report.FULL.account.model_copy(update={"unreadable": 2})
    assert "\nUnreadable rows\nfile" in printed(changed(account=account))


@pytest.mark.parametrize(
    ("count", "of", "share"),
    [
        (1, 3000, "<0.1%"),
        (1, 2000, "0.1%"),
        (1, 3, "33.3%"),
        (1998, 2000, "99.9%"),
        (2999, 3000, ">99.9%"),
        (3000, 3000, "100.0%"),
    ],
)
def test_a_share_is_never_rounded_to_nothing_or_all(count: int, of: int, share: str) -> None:
    text = printed(changed(classes=ClassCounts(evaluation=count, model=of - count), other=None))
    evaluation = part(text, "On whose side", "Failures").splitlines()[3]
    assert evaluation.split()[:3] == ["evaluation", f"{count:,}", share]


def test_the_smallest_bar_is_still_to_be_seen() -> None:
    text = printed(changed(classes=ClassCounts(evaluation=1, model=2999), other=None))
    assert [line[-20:] for line in part(text, "On whose side", "Failures").splitlines()[3:]] == [
        "#...................",
        "####################",
        "....................",
    ]


def test_rules_that_move_nothing_say_so() -> None:
    text = printed(changed(moves=()))
    assert "\n\nNothing moved: the bundled vocabulary says the same of every failure.\n" in text


def test_a_report_that_is_not_split_has_no_groups() -> None:
    text = printed(changed(by=None, groups=()))
    assert "Groups" not in text
    assert "Split by" not in text


def test_a_split_without_rows_has_no_table() -> None:
    text = printed(changed(groups=()))
    assert "\n\nGroups\n\nSplit by agent_ref.\n\nTwo runs side by side\n" in text


def test_two_runs_of_the_same_rules_are_said_to_be_comparable() -> None:
    text = printed(changed(comparable=True))
    assert "\n\nTwo runs side by side\n\nThe two were made with the same rules.\n" in text


def test_two_runs_without_failures_have_no_empty_tables() -> None:
    report = sample_report.NO_FAILURES.model_copy(update={"other": sample_report.NO_FAILURES, "comparable": True})
    assert part(printed(report), "Two runs", "Made with") == (
        "Two runs side by side\n\n"
        "The two were made with the same rules.\n\n"
        "The two runs\n"
        "run         rows  failures  files\n"
        "this run   1,200         0  run/rollouts.jsonl\n"
        "other run  1,200         0  run/rollouts.jsonl\n"
    )


def test_a_run_without_failures_is_compared_with_one_that_has_some() -> None:
    report = sample_report.NO_FAILURES.model_copy(update={"other": sample_report.BEFORE, "comparable": True})
    assert part(printed(report), "Labels side", "Made with") == (
        "Labels side by side, the largest change of share first\n"
        "label          class       this run  share  other run  share  difference  in points\n"
        "session_lost   evaluation         0   0.0%         30  75.0%         -30      -75.0\n"
        "agent_timeout  model              0   0.0%         10  25.0%         -10      -25.0\n"
    )


def test_a_label_in_several_stages_is_compared_as_one() -> None:
    labels = tuple(
        sample_report.label("judge_failed", stage, sample_report.EVALUATION, "kind", 260, 20, 40)
        for stage in ("verification", None)
    )
    report = sample_report.BEFORE.model_copy(
        update={"labels": labels, "other": sample_report.NO_FAILURES, "comparable": True}
    )
    assert part(printed(report), "Labels side", "Made with").splitlines()[2:] == [
        "judge_failed  evaluation        40  100.0%          0   0.0%         +40     +100.0"
    ]


def test_of_many_files_only_the_first_are_named() -> None:
    files = tuple(f"part-{number}.jsonl" for number in range(1005))
    assert printed(changed(files=files)).endswith(
        "\nFiles: part-0.jsonl, part-1.jsonl, part-2.jsonl, part-3.jsonl, part-4.jsonl and 1,000 more.\n"
    )
