"""The nightly record: it is dated, and a stopped night resumes from it."""

import json
import re
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraft_cli.cli import main as user_main
from kraft_conformance.exit_codes import ExitCode
from kraft_dev.cli import main
from kraft_dev.mutants.searching import leaves_open
from kraft_dev.nightly import parts as nightly_parts
from kraft_dev.nightly.parts import HARMLESS_UNDER_KAFKA, OTHERWISE_UNDER_KAFKA, PARTS, Means, Part
from kraft_dev.nightly.record import Item, Night, RecordError, read_night, record_path, write_night
from kraft_dev.nightly.running import begin, run_item, run_night
from kraft_mutants import load_catalogue
from kraft_mutants.evidence import with_evidence
from kraft_reference.profile import KAFKA_PROFILES, Profile
from kraft_spec.models import CHECKS, takes_profile

DAY = date(2026, 11, 25)


MEANS = Means(DAY, Path("checkpoints"))


def item(name: str = "one", *problems: str, finished: bool = True) -> Item:
    return Item("part", name, "python -m it", "7 states", 1.5, problems, finished)


def night(*items: Item, complete: bool = True, sources: str = "s") -> Night:
    return Night("2026-01-01", "0.1.0", sources, complete, items)


class Recorder:
    """A part that records the items it runs."""

    def __init__(self, *names: str, finished: bool = True) -> None:
        self.ran: list[str] = []
        self.finished = finished
        self.part = Part("part", "counted", lambda: names, lambda name, means: ())

    def run(self, _part: Part, name: str) -> Item:
        if name == "broken":
            raise RuntimeError("the tool fails")
        self.ran.append(name)
        return item(name, finished=self.finished)


def run(folder: Path, begun: Night, recorder: Recorder, *, completes: bool = True) -> tuple[Night, list[str]]:
    taken_over: list[str] = []

    def on_item(ended: Item, is_reused: bool) -> None:
        if is_reused:
            taken_over.append(ended.name)

    due = [(recorder.part, name) for name in recorder.part.due(DAY)]
    ended = run_night(folder, begun, due, recorder.run, on_item, lambda part, name: None, completes=completes)
    return ended, taken_over


names = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=8)
problems = st.lists(names, max_size=2).map(tuple)
items = st.builds(Item, names, names, names, names, st.floats(0, 1e6), problems, st.booleans())


@given(st.lists(items, unique_by=lambda generated: generated.key, max_size=4), st.booleans())
def test_a_record_is_read_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, all_items: list[Item], complete: bool
) -> None:
    path = tmp_path_factory.mktemp("nights") / "2026-01-01.json"
    written = night(*all_items, complete=complete)
    write_night(path, written)
    assert read_night(path) == written


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"{", "2026-01-01.json: Input data was truncated"),
        (b'{"date": 1}', "2026-01-01.json: Expected `str`, got `int` - at `$.date`"),
        (
            json.dumps(
                {"date": "x", "version": "x", "sources": "x", "complete": True, "items": [], "schema": "other/1"}
            ).encode(),
            "2026-01-01.json: $.schema is 'other/1', expected 'kraft-nightly/3'",
        ),
    ],
)
def test_an_invalid_record_is_rejected_by_name(tmp_path: Path, text: bytes, expected: str) -> None:
    path = tmp_path / "2026-01-01.json"
    path.write_bytes(text)
    with pytest.raises(RecordError) as raised:
        read_night(path)
    assert str(raised.value) == f"{tmp_path}/{expected}"


@given(st.integers(1, 9), st.integers(0, 40))
def test_the_nights_that_share_a_part_run_each_item_once(nights: int, number: int) -> None:
    names = tuple(map(str, range(number)))
    part = Part("part", "shared", lambda: names, lambda name, means: (), nights)
    shares = [part.due(DAY + timedelta(days=day)) for day in range(nights)]
    assert sorted(name for share in shares for name in share) == sorted(names)
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


def test_a_stopped_night_goes_on_where_it_was(tmp_path: Path) -> None:
    broken = Recorder("first", "broken", "last")
    with pytest.raises(RuntimeError, match="the tool fails"):
        run(tmp_path, night(complete=False), broken)
    assert broken.ran == ["first"]
    stopped = read_night(record_path(tmp_path, "2026-01-01"))
    assert (stopped.items, stopped.complete) == ((item("first"),), False)

    whole = Recorder("first", "second", "last")
    ended, taken_over = run(tmp_path, begin(tmp_path, "2026-01-01", "0.1.0", "s", resume=True), whole)
    assert (whole.ran, taken_over) == (["second", "last"], ["first"])
    assert ended == night(item("first"), item("second"), item("last"))
    assert read_night(record_path(tmp_path, "2026-01-01")) == ended


def test_several_items_run_at_a_time_and_all_are_on_record(tmp_path: Path) -> None:
    together = Barrier(2)

    def wait(_part: Part, name: str) -> Item:
        together.wait(timeout=60)
        return item(name)

    part = Recorder().part
    due = [(part, name) for name in ("a", "b", "c", "d")]
    ended = run_night(
        tmp_path, night(complete=False), due, wait, lambda *_: None, lambda *_: None, completes=True, jobs=2
    )
    assert {ended_item.name for ended_item in ended.items} == {"a", "b", "c", "d"}
    assert read_night(record_path(tmp_path, "2026-01-01")) == ended


def test_an_item_that_its_time_limit_stopped_goes_on(tmp_path: Path) -> None:
    slow = Recorder("slow", finished=False)
    run(tmp_path, night(complete=False), slow)
    run(tmp_path, begin(tmp_path, "2026-01-01", "0.1.0", "s", resume=True), slow)
    assert slow.ran == ["slow", "slow"]


def test_nothing_is_reused_from_other_sources_or_without_resume(tmp_path: Path) -> None:
    write_night(record_path(tmp_path, "2026-01-01"), night(item()))
    empty = night(complete=False, sources="other")
    assert begin(tmp_path, "2026-01-01", "0.1.0", "other", resume=True) == empty
    assert begin(tmp_path, "2026-01-01", "0.1.0", "s", resume=False) == night(complete=False)
    assert begin(tmp_path, "2026-01-01", "0.1.0", "s", resume=True) == night(item())


def test_a_single_part_does_not_complete_a_night(tmp_path: Path) -> None:
    ended, _ = run(tmp_path, night(complete=False), Recorder("one"), completes=False)
    assert not ended.complete


def test_the_parts_cover_every_model_check_and_every_mutant_with_evidence() -> None:
    by_name = {part.name: set(part.items()) for part in PARTS}
    assert by_name["models"] | by_name["long-models"] == {check.name for check in CHECKS}
    with_evidence = {mutant.name for mutant in load_catalogue().mutants if mutant.evidence is not None}
    assert by_name["evidence"] == with_evidence
    assert {name.partition(".")[0] for name in by_name["kafka-models"]} == {
        check.name for check in CHECKS if takes_profile(check)
    }
    assert {name.partition(".")[2] for name in by_name["kafka-evidence"]} == {
        profile.name for profile in KAFKA_PROFILES
    }
    assert OTHERWISE_UNDER_KAFKA.keys() <= by_name["kafka-models"]


@pytest.mark.parametrize("profile", KAFKA_PROFILES, ids=lambda profile: profile.name)
def test_the_night_breaks_each_property_of_the_protocol_under_each_profile(profile: Profile) -> None:
    """A property that holds in all model checks of a profile may hold because none reaches the relevant states."""
    open_checks = [check for check in CHECKS if takes_profile(check)]
    checked = {
        name
        for check in open_checks
        if not check.violates
        for name in (*check.configuration.invariants, *check.configuration.properties)
    }
    harmless = {name for name in HARMLESS_UNDER_KAFKA if name.endswith(f".{profile.name}")}
    otherwise = {name.partition(".")[0] for name in OTHERWISE_UNDER_KAFKA if name.endswith(f".{profile.name}")}
    broken = {check.violates for check in open_checks if check.name not in otherwise}
    for mutant in with_evidence(load_catalogue()):
        if leaves_open(mutant) and f"{mutant.name}.{profile.name}" not in harmless:
            broken.add(getattr(mutant.evidence, "property", ""))
    of_slices = {"DeadStayDead", "DeadHaveNoEffect", "LocalImplies", "LocalVerdictsAgree"}  # about their reductions,
    of_scenes = {"KeptMajority", "MajorityStaysConnected", "CastIsWhole", "VersionsAreAsked"}  # and about their scenes
    assert checked - broken == of_slices | of_scenes


def test_the_page_of_kafka_says_which_checks_find_something_else_there() -> None:
    page = (Path(__file__).parents[2] / "docs/kafka.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([\w-]+)` \| ((?:`kafka-[\d.]+`(?:, )?)+) \| (\w+) \|", page, re.MULTILINE)
    assert {
        f"{check}.{profile}": "ok" if violated == "nothing" else f"violates {violated}"
        for check, profiles, violated in rows
        for profile in re.findall(r"kafka-[\d.]+", profiles)
    } == OTHERWISE_UNDER_KAFKA


def part_of(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str, **fields: Any) -> Part:
    """A part whose command is a module with this text."""
    (folder / "it.py").write_text(text, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(folder))
    return Part("part", "it", lambda: ("one",), lambda name, means: ("it", name), **fields)


@pytest.mark.parametrize(
    ("text", "otherwise", "reached", "problems", "finished"),
    [
        ("print('so much:')\nprint('7 states')", {}, "7 states", (), True),
        ("print('│ 1 │')\nprint('done')", {}, "done", (), True),
        ("", {}, "nothing", (), True),
        ("print('stopped by the time limit with 3 states'); exit(2)", {}, None, (), False),
        ("print('stopped by the time limit with 0 states')", {}, None, (), True),
        ("print('1 run'); exit(2)", {}, "1 run", ("exit code 2 of python -m it one", "1 run"), True),
        ("print('1 bug'); exit(1)", {}, "1 bug", ("exit code 1 of python -m it one", "1 bug"), True),
        ("exit('no Java')", {}, "nothing", ("exit code 1 of python -m it one", "no Java"), True),
        ("exit(69)", {}, "nothing", ("exit code 69 of python -m it one",), False),
        ("print('FAIL one: ok; 7 states'); exit(1)", {"one": "ok"}, "FAIL one: ok; 7 states", (), True),
        ("print('ok   one: ok; 7 states')", {"one": "ok"}, None, None, True),
        ("print('FAIL one: violates It; 7'); exit(1)", {"one": "ok"}, None, None, True),
    ],
)
def test_an_item_records_the_result_of_its_command(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    otherwise: dict[str, str],
    reached: str | None,
    problems: tuple[str, ...] | None,
    finished: bool,
) -> None:
    result = run_item(part_of(tmp_path, monkeypatch, text, otherwise=otherwise), "one", MEANS)
    assert result.command == "python -m it one"
    assert reached in (None, result.reached)
    assert bool(result.problems) if problems is None else result.problems == problems
    assert result.finished == finished


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
def test_the_command_of_each_item_exists(part: Part, capsys: pytest.CaptureFixture[str]) -> None:
    limited = replace(MEANS, time_limit_seconds=60)
    for name in part.items():
        module, *words = part.command(name, limited)
        if module == "kraft_dev.findings":
            assert words == [name]
            continue
        options = [word for word in words if word.startswith("--")]
        command = [word for word in words[:2] if not word.startswith("--")]
        commands = [command[:2], command[:1]] if command[0] == "prove" else [command[:1]]
        assert {"kraft_dev": main, "kraft_cli.cli": user_main}[module]([*commands[0], "--help"]) == 0
        output = capsys.readouterr().out
        assert [option for option in options if option not in output] == []
        break


def test_the_command_reports_unexpected_results_last(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ["nightly", "--folder", str(tmp_path / "nights"), "--part", "part"]
    monkeypatch.setattr(nightly_parts, "PARTS", (part_of(tmp_path, monkeypatch, "print('7 states')"),))
    assert main([*arguments, "--date", "2026-01-01"]) == ExitCode.CONFORMANT
    record = tmp_path / "nights" / "2026-01-01.json"
    output = capsys.readouterr().out
    assert re.fullmatch(rf"ok   part one: 7 states; \d+ s\n1 items, 0 not as expected; record: {record}\n", output)
    monkeypatch.setattr(nightly_parts, "PARTS", (part_of(tmp_path, monkeypatch, "exit('a rule is broken')"),))
    assert main([*arguments, "--date", "2026-01-02"]) == ExitCode.VIOLATION
    output = capsys.readouterr().out
    assert "FAIL part one: nothing; 0 s\n" in output
    assert "  a rule is broken\n1 items, 1 not as expected" in output


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--date", "yesterday"], ExitCode.USAGE, "'yesterday' is no date, expected YYYY-MM-DD"),
        (["--part", "nothing"], ExitCode.USAGE, "no part 'nothing' of a night; there are"),
        (["--folder", "/dev/null/nights"], ExitCode.CANNOT_WRITE, "cannot make the folder /dev/null/nights"),
    ],
)
def test_wrong_arguments_are_named(
    capsys: pytest.CaptureFixture[str], arguments: list[str], code: ExitCode, words: str
) -> None:
    assert main(["nightly", *arguments]) == code
    assert words in capsys.readouterr().err
