"""Output of `kraft-spec conformance run`, `report` and `matrix` in each format, with harmful texts."""

import contextlib
import io
import json
import re
import shlex
import shutil
from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from junitparser import JUnitXml
from markdown_it import MarkdownIt
from msgspec.structs import replace
from tests.conformance.commands import DOCS, REFERENCE, Captured, altered, error, output

from kraft_cli.cli import main
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.protocol.messages import HelloReply, Software
from kraft_conformance.runner.comparison import EffectComparison
from kraft_conformance.runner.outcome import FAILING, Outcome, Status
from kraft_conformance.runner.output.junit import junit
from kraft_conformance.runner.output.lines import lines_of, read_results
from kraft_conformance.runner.output.markdown import BYTES_MAX, MARKS, escaped, markdown
from kraft_conformance.runner.output.page import GLYPHS, page
from kraft_conformance.runner.output.results import Results, results_of, suite_version
from kraft_conformance.runner.output.rule_table import Verdict, passes_of, rule_rows
from kraft_conformance.runner.output.sarif import sarif
from kraft_conformance.runner.output.sequence import Mark, sequence
from kraft_conformance.runner.output.wording import output_name
from kraft_conformance.runner.plain import plain
from kraft_spec.difference import Difference
from kraft_spec.rules import load_registry
from kraft_traces.alternatives.writes import Disk
from kraft_traces.effects import TracedPersistQuorumState
from kraft_vectors.catalogue import Catalogue
from kraft_vectors.manifest import MANIFEST, vector_folder

FORMATS = {"junit": "r.xml", "markdown": "r.md", "html": "r.html"}


def outputs(folder: Path) -> list[str]:
    folder.mkdir()
    return [word for option, name in FORMATS.items() for word in (f"--{option}", str(folder / name))]


def run_to(folder: Path, adapter: str, *words: str) -> tuple[int, Path]:
    """Run with every output, and return the exit code and the file of JSON lines."""
    with contextlib.redirect_stdout(io.StringIO()) as written:
        code = main(["conformance", "run", "--adapter", adapter, "--json", *words, *outputs(folder)])
    kept = folder / "r.jsonl"
    kept.write_text(written.getvalue())
    return code, kept


@pytest.fixture(scope="module")
def hostile_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a run on an adapter with all kinds of faults and harmful texts."""
    folder = tmp_path_factory.mktemp("hostile") / "now"
    return run_to(folder, altered("hostile"), "-k", "quorum")[1].parent


@pytest.fixture(scope="module")
def hostile_run_of_all(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_to(tmp_path_factory.mktemp("hostile-all") / "now", altered("hostile"))[1].parent


@pytest.fixture(scope="module")
def reference_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_to(tmp_path_factory.mktemp("reference") / "now", REFERENCE)[1].parent


@pytest.fixture(scope="module")
def wire_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_to(tmp_path_factory.mktemp("wire") / "now", altered("wire"))[1].parent


def results(path: Path) -> Results:
    return read_results(path, Catalogue())


# -------------------------------------------------------------------------------------------------------------
# Now or later.
# -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("adapter", "words"),
    [
        (altered("hostile"), ("-k", "resignation.")),
        (altered("wire"), ("-k", "vote", "--profile", "kafka-4")),
        (altered("grants-all"), ("-k", "vote.", "-x")),
        (altered("sends-first"), ("-k", "vote.granted", "--expected-failures", "expected.txt")),
        (REFERENCE, ("-k", "vote.granted", "--expected-failures", "expected.txt")),
    ],
)
def test_a_report_is_what_the_run_would_have_written(
    capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, adapter: str, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("expected.txt").write_text("vote.granted  # issue 12: later\n")
    _, kept = run_to(tmp_path / "now", adapter, *words)
    code, text = output(capsys, "conformance", "report", str(kept), "--json", *outputs(tmp_path / "later"))
    assert code == ExitCode.CONFORMANT
    (tmp_path / "later" / "r.jsonl").write_text(text)
    for name in (*FORMATS.values(), "r.jsonl"):
        assert (tmp_path / "later" / name).read_bytes() == (tmp_path / "now" / name).read_bytes(), name


def test_a_report_on_the_terminal_is_that_of_the_run(capsys: Captured, tmp_path: Path) -> None:
    words = ("-k", "vote.", "-k", "refuses")
    _, kept = run_to(tmp_path / "now", altered("grants-all"), *words)
    code, displayed = output(capsys, "conformance", "run", "--adapter", altered("grants-all"), *words)
    assert (code, "FAIL vote.candidate-refuses" in displayed) == (ExitCode.VIOLATION, True)
    assert output(capsys, "conformance", "report", str(kept)) == (ExitCode.CONFORMANT, displayed)


def test_the_first_line_says_what_was_run(tmp_path: Path) -> None:
    _, kept = run_to(tmp_path / "now", altered("unsupported"), "-k", "vote.granted", "--profile", "kip")
    first = json.loads(kept.read_text().splitlines()[0])
    assert first.pop("runner")["name"] == "kraft-spec"
    assert first.pop("implementation")["name"] == "kraft-reference"
    assert first.pop("kip_levels")["KIP-996"] == "full"
    assert first == {
        "kind": "run",
        "schema": "kraft-conformance-results/1",
        "suite": {
            "schema": "kraft-vector/1",
            "vectors": len(Catalogue().entries),
            "manifest_sha256": sha256((vector_folder() / MANIFEST).read_bytes()).hexdigest(),
            "version": suite_version(),
        },
        "adapter": altered("unsupported"),
        "asked_profile": "kip",
        "asked_vectors": None,
        "asked_timeout_s": None,
        "profile": "kip",
        "experimental": False,
        "note": "",
        "kraft_versions": [0, 1],
        "observability": "state",
        "state_injection": True,
        "unsupported": ["voter-changes", "observers"],
        "unobserved": [],
        "subjects": ["replica", "partitions"],
    }


HARM = "\x00\x1b\x1f\x7f\x85\ufffe\u2028 ]]> | ` \\ # [a](http://b) <script> \n"
TEXTS = st.text(max_size=40) | st.just(HARM)
HARMLESS_IDS = ("vote.granted", "vote.stale-epoch", "prevote.request", "scenario.s7-leader-removed.right.replica-2")


@st.composite
def any_results(draw: st.DrawFn) -> Results:
    """Outcomes of real vectors with arbitrary texts and steps, which may not exist."""
    outcomes = []
    for vector_id in draw(st.lists(st.sampled_from(HARMLESS_IDS), unique=True)):
        status = draw(st.sampled_from(Status))
        failed = status in (*FAILING, Status.EXPECTED_FAILURE) and draw(st.booleans())
        result = st.lists(st.builds(Difference, TEXTS, TEXTS, TEXTS), max_size=3)
        sent = {"kind": "Send", "message": {"type": "VoteResponse", "destination": 1, "leader_endpoint": draw(TEXTS)}}
        vector = Catalogue().of_replica(vector_id)
        step = draw(st.sampled_from((0, 1, 2, 9))) if failed else None
        outcomes.append(
            Outcome(
                vector_id,
                status,
                draw(TEXTS),
                step,
                vector.steps[step - 1].event if step and step <= len(vector.steps) else None,
                fault=draw(TEXTS) or None if status is Status.ERROR else None,
                stderr=draw(TEXTS) if status is Status.ERROR else "",
                provenance=draw(TEXTS),
                rules=vector.rules if failed else (),
                differences=tuple(draw(result)) if failed else (),
                left_out=tuple(draw(st.lists(TEXTS, max_size=2))),
                effects=(sent,) if failed and draw(st.booleans()) else None,
            )
        )
    hello = HelloReply(
        id=1,
        schema="kraft-adapter/1",
        implementation=Software(draw(TEXTS), draw(TEXTS)),
        kip_levels={draw(TEXTS): "full"},
        kraft_versions=(1,),
        profile=draw(st.sampled_from(("kip", "kafka-4", "<b>", HARM))),
        observability=draw(st.sampled_from(("wire", "effects", "state"))),
    )
    return results_of(hello, draw(TEXTS), draw(st.none() | st.just("kip")), Catalogue(), outcomes)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(made=any_results())
def test_any_texts_come_through_every_format(tmp_path: Path, made: Results) -> None:
    assert_every_format(tmp_path, made)


def assert_every_format(tmp_path: Path, made: Results) -> None:
    kept = tmp_path / "r.jsonl"
    kept.write_bytes("".join(f"{line}\n" for line in lines_of(made)).encode())
    assert results(kept) == made
    JUnitXml.fromstring(junit(made))
    assert_harmless_sarif(sarif(made), made)
    assert_harmless_markdown(markdown(made).decode())
    assert_harmless_page(page(made).decode())


LINK = re.compile(r"(?<!\\)\[[^\[\]]*\]\(")


def assert_harmless_sarif(document: bytes, made: Results) -> None:
    """Check SARIF: a result for each failure, with a URI, and texts without links and control characters."""
    text = document.decode()
    assert all(letter.isprintable() or letter == "\n" for letter in text)
    (run,) = json.loads(text)["runs"]
    assert [result["partialFingerprints"]["vector/v1"] for result in run["results"]] == [
        outcome.id for outcome in made.of_status(*FAILING)
    ]
    for result in run["results"]:
        assert not LINK.search(result["message"]["text"])
        place = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        assert re.fullmatch(r"[\w.~%/-]*", place, re.ASCII)


# -------------------------------------------------------------------------------------------------------------
# JUnit, and the count of passes.
# -------------------------------------------------------------------------------------------------------------


def test_junit_has_the_counts_and_nothing_that_changes(hostile_run: Path) -> None:
    text = (hostile_run / "r.xml").read_text()
    suite = next(iter(JUnitXml.fromstring(text.encode())))
    counts = results(hostile_run / "r.jsonl").counts
    assert (suite.tests, suite.failures, suite.errors) == (sum(counts.values()), counts["fail"], counts["error"])
    assert suite.skipped == counts["skipped"] + counts["unsupported"]
    assert not re.search(r'(time|timestamp|hostname)="(?!0")', text)
    named = {prop.name: prop.value for prop in suite.properties()}  # type: ignore[no-untyped-call]
    assert named["observability"] == "state"


def test_sarif_has_the_name_of_a_profile_and_junit_what_it_is_worth(tmp_path: Path) -> None:
    sarif, junit = tmp_path / "r.sarif", tmp_path / "r.xml"
    words = ("-k", "vote.granted", "--profile", "kafka-4", "--sarif", str(sarif), "--junit", str(junit))
    assert main(["conformance", "run", "--adapter", REFERENCE, *words]) == ExitCode.CONFORMANT
    assert json.loads(sarif.read_bytes())["runs"][0]["properties"]["profile"] == "kafka-4"
    assert '<property name="profile" value="kafka-4 (experimental)"' in junit.read_text()


@pytest.mark.parametrize(
    ("run", "text"),
    [
        ("reference_run", "{all} of {all}, state"),
        ("wire_run", "{passes} of {all}, wire"),
        ("hostile_run", "{failing} failing, {passes} of {all}, state"),
    ],
)
def test_passes_are_counted_of_all_vectors_of_the_profile(request: pytest.FixtureRequest, run: str, text: str) -> None:
    made, catalogue = results(request.getfixturevalue(run) / "r.jsonl"), Catalogue()
    requested = sum("kip" in catalogue.vector(name).requires.profiles for name in catalogue)
    failing = len(made.of_status(*FAILING))
    assert passes_of(made) == text.format(all=requested, passes=made.counts["pass"], failing=failing)


def test_a_part_of_the_suite_passes_no_more_than_it_has(tmp_path: Path) -> None:
    _, kept = run_to(tmp_path / "now", REFERENCE, "-k", "vote.granted")
    assert passes_of(results(kept)).startswith("1 of ")


# -------------------------------------------------------------------------------------------------------------
# Markdown.
# -------------------------------------------------------------------------------------------------------------


def tokens(text: str) -> Iterator[Any]:
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        yield token
        yield from token.children or ()


def assert_harmless_markdown(text: str) -> None:
    """Check Markdown: no HTML but `<code>`, no links and pictures, complete table rows."""
    findings = list(tokens(text))
    assert {finding.type for finding in findings} & {"link_open", "image", "html_block"} == set()
    assert {finding.content for finding in findings if finding.type == "html_inline"} <= {"<code>", "</code>"}
    for block in re.findall(r"^\| .*(?:\n\|.*)+", text, re.MULTILINE):
        head, _, *body = [line for line in block.split("\n") if line.startswith("|")]
        rows = [token for token in tokens(f"{head}\n{_}\n" + "\n".join(body)) if token.type == "td_open"]
        assert len(rows) == len(body) * (_.count("|") - 1)
        for line in body:
            bare = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", line)
            assert bare.count("|") == _.count("|"), line


def test_markdown_has_the_counts_by_group_and_what_a_failure_needs(tmp_path: Path) -> None:
    adapter = altered("grants-all")
    run_to(tmp_path / "now", adapter, "-k", "vote.stale-epoch")
    text = (tmp_path / "now" / "r.md").read_text()
    made = results(tmp_path / "now" / "r.jsonl")
    manifest, failed = made.about.suite.manifest_sha256, made.by_id["vote.stale-epoch"]
    registry = load_registry()
    assert "vote.request.stale-epoch" in failed.rules
    number = len(Catalogue().entries)
    assert text.startswith("# KRaft conformance: `kraft-reference ")
    assert f"\n1 vector of {number}; {made.about.suite}, manifest `{manifest[:12]}`.\n" in text
    table = ["| group | ❌ fail | vectors |", "|---|---:|---:|", "| `vote` | 1 | 1 |", "| **all** | **1** | **1** |"]
    assert "\n".join(["", *table, ""]) in text
    failure = text[text.index("### ❌ fail (MUST): `vote.stale-epoch`") :]
    repeat = f"kraft-spec conformance replay vote.stale-epoch --adapter {shlex.quote(adapter)}"
    assert failure.rstrip().splitlines() == [
        "### ❌ fail (MUST): `vote.stale-epoch`",
        "",
        "A Vote of an older epoch is fenced.",
        "",
        "`step 1 of 1, HandleVoteRequest`",
        "",
        *[f"- {registry[rule].level} `{rule}`: {escaped(registry[rule].title)}" for rule in failed.rules],
        "",
        "| field | expected | actual |",
        "|---|---|---|",
        "| `Send VoteResponse to 3.granted` | `false` | `true` |",
        "",
        "```sh",
        repeat,
        "```",
    ]
    document = (tmp_path / "now" / "r.xml").read_text()
    assert "Send VoteResponse to 3.granted: expected false, actual true" in document
    assert f"repeat: {repeat}" in document.replace("&#39;", "'").replace("&apos;", "'")


def test_markdown_of_a_flood_still_fits_a_job_summary(hostile_run: Path) -> None:
    made = results(hostile_run / "r.jsonl")
    flood = tuple([Difference(f"|{number}`" * 900, "<" * 9_000, "\n" * 9_000) for number in range(99)])
    flooded = Results(
        made.about,
        tuple([replace(outcome, differences=flood, reason=outcome.id * 999) for outcome in made.outcomes]),
        made.catalogue,
    )
    text = markdown(flooded).decode()
    assert len(text.encode()) < BYTES_MAX
    assert re.search(r"\n\d+ more failures; the report in HTML has all of them.\n", text)


def test_what_neither_passes_nor_fails_is_told_by_its_reason(tmp_path: Path) -> None:
    _, kept = run_to(tmp_path / "now", altered("wire"), "-k", "vote.")
    text = (tmp_path / "now" / "r.md").read_text()
    unobserved = Counter(outcome.reason for outcome in results(kept).of_status(Status.UNOBSERVED))
    assert unobserved
    for reason, number in unobserved.items():
        assert f"| 👁️ unobserved | `{reason}` | {number} | " in text


# -------------------------------------------------------------------------------------------------------------
# HTML.
# -------------------------------------------------------------------------------------------------------------

VOID = {"meta", "br", "link", "img", "input", "hr"}


class Page(HTMLParser):
    """Elements of a page, with a check of their nesting."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and data.strip():
            self.texts.append((self.open[-1], data.strip()))


def assert_harmless_page(text: str) -> Page:
    """Check HTML: correct nesting, no scripts, no external files, no handlers, unique ids."""
    read = Page(text)
    assert {tag for tag, _ in read.elements} & {"script", "link", "img", "iframe", "object", "base", "form"} == set()
    names = {name for _, attributes in read.elements for name in attributes}
    assert not any(name.startswith("on") or name in ("src", "srcset", "style") for name in names)
    links = [attributes["href"] for tag, attributes in read.elements if tag == "a"]
    ids = [attributes["id"] for _, attributes in read.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {str(link) for link in links} <= {f"#{id_}" for id_ in ids}
    style = text[text.index("<style>") : text.index("</style>")]
    assert not re.search(r"url\(|@import|@font-face", style)
    named = [attributes.get("aria-labelledby") for _, attributes in read.elements]
    assert {name for name in named if name} <= set(ids)
    return read


def test_the_texts_of_an_adapter_are_shown_and_do_nothing(hostile_run: Path) -> None:
    assert_harmless_markdown((hostile_run / "r.md").read_text())
    read = assert_harmless_page((hostile_run / "r.html").read_text())
    assert any("<script>alert(1)</script>" in text for _, text in read.texts)
    assert not any("\u202e" in text or "\x1b" in text for _, text in read.texts)
    failing = {outcome.id for outcome in results(hostile_run / "r.jsonl").of_status(*FAILING)}
    articles = {attributes["id"] for tag, attributes in read.elements if tag == "article"}
    assert articles == {f"v-{name}" for name in failing}


def test_a_failure_on_the_page_has_everything(tmp_path: Path) -> None:
    adapter = altered("sends-first")
    run_to(tmp_path / "now", adapter, "-k", "vote.granted")
    text = (tmp_path / "now" / "r.html").read_text()
    texts = [text for _, text in assert_harmless_page(text).texts]
    for wanted in (
        "vote.granted",
        "The vote is on disk before the answer leaves",
        "Step 1 of 1",
        "PersistQuorumState before Send VoteResponse to 1",
        "Send VoteResponse to 1 before PersistQuorumState",
        "vote.persist-before-reply",
        f"kraft-spec conformance replay vote.granted --adapter {shlex.quote(adapter)}",
        "≠ too late: expected PersistQuorumState before Send VoteResponse to 1",
        "Sequence diagram of vote.granted",
        "✗ step 1",
    ):
        assert wanted in texts, wanted
    assert any(
        text.startswith("Before answering a granted standard vote the receiver durably writes") for text in texts
    )


def test_the_sequence_shows_what_is_missing_and_what_nobody_expected(tmp_path: Path) -> None:
    _, kept = run_to(tmp_path / "now", altered("hostile=ours"), "-k", "candidate.asks")
    made = results(kept)
    drawn = sequence(Catalogue().of_replica("candidate.asks"), made.by_id["candidate.asks"], made.about)
    assert drawn is not None
    assert (drawn.replica, drawn.peers) == ("replica 1", ("replica 2", "replica 3", "replica 99"))
    failing = [(row.mark, row.source, row.destination) for row in drawn.rows if row.mark is not Mark.EARLIER]
    assert failing == [
        (Mark.FAILING, None, None),
        (Mark.PLAIN, "replica 1", "replica 3"),
        (Mark.UNEXPECTED, "replica 1", "replica 99"),
        (Mark.MISSING, "replica 1", "replica 2"),
    ]


def test_a_sequence_says_which_state_or_output_differs(tmp_path: Path) -> None:
    adapter = altered("history", "keeps-the-disk-it-voted-for=U9")
    _, kept = run_to(tmp_path / "now", adapter, "-k", "restart.voted-static")
    made = results(kept)
    outcome = made.by_id["restart.voted-static"]
    drawn = sequence(Catalogue().of_replica(outcome.id), outcome, made.about)
    assert drawn is not None
    assert drawn.rows[-2].text == "the state before the first step differs"
    assert drawn.rows[-2].comments == ('before.voted_key.directory_id: expected "U1", actual "U9"',)
    assert drawn.rows[-1].is_gap


def test_every_output_has_the_name_that_comparisons_give_it() -> None:
    """The diagram finds a difference by the output's name."""
    catalogue, observed = Catalogue(), 0
    # The log is synced, and the file holds what nobody writes.
    disk = Disk(TracedPersistQuorumState(-1, None, None), 10**6)
    for vector in catalogue.of_replicas():
        for step in vector.steps:
            optional = {latitude.path for latitude in step.latitude if latitude.absent}
            named = {
                output_name(plain(output))
                for index, output in enumerate(step.outputs)
                if f"outputs[{index}]" not in optional and plain(output)["kind"] != "FlushLog"
            }
            missing = EffectComparison(step, (), "state", ()).compared(disk, 10**6).differences
            assert {row.field for row in missing} == named
            observed += len(named)
    assert observed > 1_000


def luminance(colour: str) -> float:
    digits = colour.lstrip("#")
    wide = digits if len(digits) == 6 else "".join(digit * 2 for digit in digits)
    parts = [int(wide[place : place + 2], 16) / 255 for place in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_texts_can_be_read_on_every_ground_and_no_status_hangs_on_a_colour() -> None:
    style = (files("kraft_conformance.runner.output") / "style.css").read_text(encoding="utf-8")
    light, dark = re.findall(r":root \{(.*?)\}", style, re.DOTALL)
    for block in (light, dark):
        colours = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]+)", block))
        for ground in ("paper", "raised", "bad-paper", "mid-paper"):
            for ink in ("ink", "soft", "bad", "good", "mid", "quiet"):
                pair = sorted((luminance(colours[ink]), luminance(colours[ground])))
                assert (pair[1] + 0.05) / (pair[0] + 0.05) >= 4.5, (ink, ground)
    assert set(GLYPHS) == {*Status, Verdict.NOT_RUN, Verdict.NO_VECTOR}
    assert len({GLYPHS[status] for status in Status}) == len(Status) == len(set(MARKS.values()))


# -------------------------------------------------------------------------------------------------------------
# Rules, and implementations beside each other.
# -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("run", [pytest.param("hostile_run_of_all", marks=pytest.mark.nightly), "wire_run"])
def test_the_verdict_on_each_rule_is_that_of_its_vectors(request: pytest.FixtureRequest, run: str) -> None:
    made, catalogue = results(request.getfixturevalue(run) / "r.jsonl"), Catalogue()
    for row in rule_rows(made):
        about = [
            made.by_id[entry.id].status
            for entry in catalogue.manifest.vectors
            if row.rule.id in entry.rules and "kip" in catalogue.vector(entry.id).requires.profiles
        ]
        assert (row.vectors, row.statuses) == (len(about), Counter(about))
        expected = next(
            (
                verdict
                for verdict, statuses in {
                    Verdict.FAIL: {Status.FAIL, Status.ERROR},
                    Verdict.PASS: {Status.PASS},
                    Verdict.UNOBSERVED: {Status.UNOBSERVED},
                    Verdict.UNSUPPORTED: {Status.UNSUPPORTED},
                    Verdict.NOT_RUN: {Status.SKIPPED},
                }.items()
                if statuses & set(about)
            ),
            Verdict.NO_VECTOR,
        )
        assert row.verdict is expected, row.rule.id


@pytest.fixture
def three(tmp_path: Path, reference_run: Path, wire_run: Path) -> list[str]:
    """Results of several levels, one for a part of the suite."""
    part = run_to(tmp_path / "part", altered("unsupported"), "-k", "change.")[1]
    return [str(path) for path in (reference_run / "r.jsonl", wire_run / "r.jsonl", part)]


def test_a_matrix_puts_implementations_beside_each_other(capsys: Captured, tmp_path: Path, three: list[str]) -> None:
    assert main(["conformance", "matrix", *three, "--json"]) == ExitCode.CONFORMANT
    document = json.loads(capsys.readouterr().out)
    version = document["implementations"][0]["about"]["implementation"]["version"]
    assert [implementation["label"] for implementation in document["implementations"]] == [
        f"kraft-reference {version}, state ({three[0]})",
        f"kraft-reference {version}, wire",
        f"kraft-reference {version}, state ({three[2]})",
    ]
    rows = {row["rule"]: [cell["status"] for cell in row["cells"]] for row in document["rules"]}
    assert rows["vote.request.stale-epoch"] == ["pass", "pass", "not run"]
    assert rows["durable.write-before-act"][:2] == ["pass", "unobserved"]
    assert rows["cli.topics-describe"] == ["no vector"] * 3
    assert "unsupported" in {cells[2] for cells in rows.values()}
    html, written = tmp_path / "m.html", tmp_path / "m.md"
    assert main(["conformance", "matrix", *three, "--html", str(html), "--markdown", str(written)]) == 0
    assert_harmless_page(html.read_text())
    assert_harmless_markdown(written.read_text())
    assert "| `vote.request.stale-epoch` | MUST | ✅ pass | ✅ pass | ⏭️ not run |" in written.read_text()
    assert capsys.readouterr().out == ""
    assert main(["conformance", "matrix", *three]) == ExitCode.CONFORMANT
    displayed = capsys.readouterr().out
    assert re.search(r"│ vote.request.stale-epoch +│ pass +│ pass +│ not run", displayed)


def test_a_list_of_expected_failures_changes_no_verdict(tmp_path: Path) -> None:
    listed = tmp_path / "expected.txt"
    listed.write_text("vote.stale-epoch # issue 12\nvote.granted\n")
    words = (altered("grants-all"), "-k", "vote.request")
    _, plain_run = run_to(tmp_path / "plain", *words)
    code, listed_run = run_to(tmp_path / "listed", *words, "--expected-failures", str(listed))
    assert code == ExitCode.VIOLATION
    assert {"expected failure", "unexpected pass"} <= results(listed_run).counts.keys()
    before, after = (rule_rows(results(path)) for path in (plain_run, listed_run))
    assert [row.words for row in before] == [row.words for row in after]
    assert passes_of(results(plain_run)) == passes_of(results(listed_run))
    read = assert_harmless_page((tmp_path / "listed" / "r.html").read_text())
    headings = [text for tag, text in read.texts if tag == "h2"]
    assert headings == ["Failures", "Expected failures", "Neither passed nor failed", "Rules", "All vectors"]


def test_a_pass_of_some_vectors_is_no_pass_of_all(wire_run: Path) -> None:
    rows = rule_rows(results(wire_run / "r.jsonl"))
    partly = [row for row in rows if row.verdict is Verdict.PASS and not row.is_whole]
    assert partly
    for row in partly:
        assert row.words == f"pass {row.number} of {row.vectors}"
        assert row.number + row.statuses[Status.UNOBSERVED] + row.statuses[Status.UNSUPPORTED] == row.vectors


# -------------------------------------------------------------------------------------------------------------
# Files that are something else.
# -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    return run_to(tmp_path / "now", altered("grants-all"), "-k", "vote.stale-epoch")[1]


def changed(line: str, **fields: Any) -> str:
    return json.dumps(json.loads(line) | fields)


@pytest.mark.parametrize(
    ("number", "change", "text"),
    [
        (1, lambda lines: lines[1:], "kind: no line about the run"),
        (1, lambda lines: ["{}", *lines], "Object missing required field `kind`"),
        (1, lambda lines: ["hello"], "JSON is malformed"),
        (1, lambda lines: [changed(lines[0], schema="kraft-conformance-results/2")], "schema: Invalid enum value"),
        (1, lambda lines: [changed(lines[0], observability="all")], "observability: Invalid enum value 'all'"),
        (2, lambda lines: [lines[0], changed(lines[1], status="passed"), *lines[2:]], "status: Invalid enum value"),
        (2, lambda lines: [lines[0], changed(lines[1], step="1")], "step: Expected `int | null`, got `str`"),
        (2, lambda lines: [lines[0], changed(lines[1], id="vote.twice")], "id: no vector 'vote.twice' here: "),
        (3, lambda lines: [lines[0], lines[1], lines[1]], "id: "),
        (2, lambda lines: [lines[0], lines[0]], "kind: a second run"),
        (2, lambda lines: lines[:2], "kind: no summary after it: the file is incomplete"),
        (-1, lambda lines: [*lines[:-1], changed(lines[-1], counts={"pass": 9})], "counts: {'pass': 9}, but the "),
        (-1, lambda lines: [*lines[:-1], changed(lines[-1], exit_code=0)], "exit_code: 0, but the lines before "),
        (-2, lambda lines: [*lines, lines[-1]], "kind: a line after the summary"),
    ],
)
def test_what_is_no_result_is_told_by_file_line_and_field(
    capsys: Captured, tmp_path: Path, kept: Path, number: int, change: Any, text: str
) -> None:
    lines = kept.read_text().splitlines()
    number = {-1: len(lines), -2: len(lines) + 1}.get(number, number)
    bad, html = tmp_path / "bad.jsonl", tmp_path / "x.html"
    bad.write_text("".join(f"{line}\n" for line in change(lines)))
    assert main(["conformance", "report", str(bad), "--html", str(html)]) == ExitCode.BAD_INPUT
    assert f"{bad}:{number}: {text}" in capsys.readouterr().err
    assert not html.exists()
    assert main(["conformance", "matrix", str(kept), str(bad)]) == ExitCode.BAD_INPUT


def test_a_file_that_is_not_there_is_told(capsys: Captured, tmp_path: Path) -> None:
    code, text = error(capsys, "conformance", "report", str(tmp_path / "none.jsonl"))
    assert (code, "none.jsonl: cannot be read: No such file" in text) == (ExitCode.NO_INPUT, True)


def without(folder: Path, vector_id: str) -> None:
    """Return the manifest of a folder without a vector."""
    manifest = json.loads((vector_folder() / MANIFEST).read_text())
    manifest["vectors"] = [entry for entry in manifest["vectors"] if entry["id"] != vector_id]
    (folder / MANIFEST).write_text(json.dumps(manifest))


def test_a_result_of_another_suite_is_said_in_words_and_refused_without_its_vectors(
    capsys: Captured, tmp_path: Path, kept: Path
) -> None:
    folder = tmp_path / "vectors"
    shutil.copytree(vector_folder(), folder)
    without(folder, "prevote.lost")
    page_file, text_file = tmp_path / "r.html", tmp_path / "r.md"
    words = ["--vectors", str(folder), "--html", str(page_file), "--markdown", str(text_file)]
    assert main(["conformance", "report", str(kept), *words]) == ExitCode.CONFORMANT
    here = len(Catalogue().entries)
    text = f"This result is of other vectors: suite {suite_version()}, {here} vectors, manifest "
    assert f"\n{text}" in capsys.readouterr().err
    assert text in page_file.read_text()
    assert text in text_file.read_text()
    without(folder, "vote.stale-epoch")
    assert main(["conformance", "report", str(kept), "--vectors", str(folder)]) == ExitCode.BAD_INPUT
    assert "id: no vector 'vote.stale-epoch' here: the result is of suite " in capsys.readouterr().err


# -------------------------------------------------------------------------------------------------------------
# Files that cannot be written.
# -------------------------------------------------------------------------------------------------------------


def test_what_cannot_be_written_is_told_before_anything_runs(capsys: Captured, tmp_path: Path) -> None:
    started = tmp_path / "started"
    words = ["conformance", "run", "--adapter", f"touch {shlex.quote(str(started))}"]
    for target, why in ((tmp_path / "no" / "r.html", "there is no folder "), (tmp_path, "it is a folder")):
        assert main([*words, "--markdown", str(tmp_path / "r.md"), "--html", str(target)]) == ExitCode.CANNOT_WRITE
        assert f"{target}: cannot be written: {why}" in capsys.readouterr().err.replace("\n", "")
    assert main([*words, "--markdown", str(tmp_path / "r"), "--html", str(tmp_path / "r")]) == ExitCode.USAGE
    assert "--markdown and --html name the same file" in capsys.readouterr().err
    assert main([*words, "--json", "--html", "-"]) == ExitCode.USAGE
    assert "--html and --json cannot both go to standard output" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("option", "library"), [("html", "jinja2"), ("junit", "junitparser")])
def test_a_library_that_is_missing_is_told_before_anything_runs(
    capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str, library: str
) -> None:
    monkeypatch.setattr("kraft_conformance.failure.find_spec", lambda name: None if name == library else object())
    words = ["conformance", "run", "--adapter", "no-such-adapter", f"--{option}", str(tmp_path / "r")]
    assert main(words) == ExitCode.UNAVAILABLE
    assert f"needs the package {library}: pip install 'kraft-spec[conformance]'" in capsys.readouterr().err


def test_a_file_is_replaced_whole_or_not_at_all(
    capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: Path
) -> None:
    target = tmp_path / "r.md"
    target.write_text("what there was\n")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("kraft_traces.streams.os.fsync", full)
    before = sorted(tmp_path.iterdir())
    assert main(["conformance", "report", str(kept), "--markdown", str(target)]) == ExitCode.CANNOT_WRITE
    assert f"{target}: cannot be written: No space left on device" in capsys.readouterr().err.replace("\n", "")
    assert target.read_text() == "what there was\n"
    assert sorted(tmp_path.iterdir()) == before


def test_the_page_about_reports_names_every_option_and_status() -> None:
    text = (DOCS / "conformance.md").read_text()
    named = set(re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL)))
    assert {f"--{option} FILE" for option in FORMATS} <= named
    assert {str(verdict) for verdict in Verdict} <= named
    assert all(re.search(rf"\b{status}\b", text) for status in Status)
