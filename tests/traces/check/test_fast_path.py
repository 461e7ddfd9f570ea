"""The fast path: it says of every trace what the ordinary checker says, and accepts no line that that one refuses."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from io import BytesIO
from pathlib import Path
from random import Random

import pytest
from hypothesis import settings
from tests.traces.checkpointed import with_another_value

from kraft_dev.other_software import of_other_software
from kraft_simulation.plan import RunPlan
from kraft_simulation.workload import WORKLOADS as WORKLOAD_NAMES
from kraft_spec.compiled import building, expressions
from kraft_traces.check import Rejection, TraceChecker, Verdict, VerdictKind, check_reader
from kraft_traces.check.fast_path import BOTH, INTERPRETED, CompiledModelError, Sample, Way
from kraft_traces.check.model import TraceModel, trace_model
from kraft_traces.errors import LineTooLongError, TraceError
from kraft_traces.lines import EventLine, Generator
from kraft_traces.reader import TraceReader, trace_of_bytes
from kraft_traces.writer import trace_bytes

SAMPLES = Path(__file__).parents[3] / "traces" / "kraft_traces" / "samples"
OWN = ("chaos", "checkpoints", "partitioned-follower", "ping-pong", "quorum-reassignment", "resumed-too-early")
ALTERED_LINES = max(6, settings().max_examples // 5)
"""Of each workload; 100 at night."""
WORKLOADS = ("chaos", "voter-changes", "reassignments", "auto-join", "mixed-versions", "upgrade", "crashes")
MORE_AT_NIGHT = [*WORKLOADS[:3], *[pytest.param(name, marks=pytest.mark.nightly) for name in WORKLOADS[3:]]]


@pytest.fixture(scope="module", autouse=True)
def compiled() -> TraceModel:
    model = trace_model()
    assert model.compiled_lines(make=True) is not None
    return model


@cache
def simulated(workload: str) -> bytes:
    plan = RunPlan(3, replicas=4, steps=250, workload=workload)
    simulation = plan.simulation()
    generator = Generator("kraft-reference", "0", 3, workload)
    return b"".join(trace_bytes(simulation.run(), simulation.configuration, generator))


def one_in(lines: int) -> Way:
    """Way in which TLC checks one in so many lines."""
    return Way(Sample(lines, lines))


def said(content: bytes, *, way: Way) -> Verdict | str:
    """Return the verdict without the numbers of lines of each checker."""
    try:
        verdict = check_reader(trace_of_bytes(content), way=way)
        return replace(verdict, compiled=0, both=0)
    except TraceError as error:
        return str(error)


@pytest.mark.parametrize("name", OWN)
def test_a_recorded_trace_has_the_same_verdict(name: str) -> None:
    content = (SAMPLES / f"{name}.jsonl").read_bytes()
    assert said(content, way=one_in(20)) == said(content, way=INTERPRETED)


def test_a_compiled_model_is_made_for_many_short_traces_as_it_is_for_a_long_one(
    compiled: TraceModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[bool] = []
    monkeypatch.setattr(TraceModel, "compiled_lines", lambda self, *, make: made.append(make))
    monkeypatch.setattr(compiled, "lines_alone", 0)
    short = b"".join(simulated("chaos").splitlines(keepends=True)[:50])
    for _ in range(4):
        said(short, way=Way(Sample(1_000, 1_000), 200))
    assert made == [False, False, True, True]


@pytest.mark.nightly
@pytest.mark.parametrize("workload", sorted(WORKLOAD_NAMES))
def test_tlc_takes_every_line_to_the_same_state(workload: str) -> None:
    assert said(simulated(workload), way=BOTH) == said(simulated(workload), way=INTERPRETED)


@pytest.mark.parametrize("workload", WORKLOADS)
def test_every_line_of_a_right_trace_is_accepted(workload: str, monkeypatch: pytest.MonkeyPatch) -> None:
    content = simulated(workload)
    fed: list[int] = []

    def feed(self: TraceChecker, number: int, line: EventLine) -> Rejection | None:
        fed.append(number)
        return slow(self, number, line)

    slow = TraceChecker.feed
    monkeypatch.setattr(TraceChecker, "feed", feed)
    verdict = said(content, way=one_in(10_000))
    assert isinstance(verdict, Verdict)
    assert verdict.events == content.count(b'"kind":"event"')
    assert fed == []


@pytest.mark.parametrize("workload", MORE_AT_NIGHT)
def test_a_trace_of_other_software_is_taken_as_well(workload: str) -> None:
    for seed in range(4):
        content = b"".join(of_other_software(simulated(workload).splitlines(keepends=True), Random(seed)))
        verdict = check_reader(trace_of_bytes(content), way=one_in(100))
        assert replace(verdict, compiled=0, both=0) == said(content, way=INTERPRETED)
        assert verdict.compiled == verdict.events


@pytest.mark.parametrize("is_own", [True, pytest.param(False, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("workload", MORE_AT_NIGHT)
def test_an_altered_line_has_the_same_verdict(workload: str, is_own: bool) -> None:
    random, lines = Random(workload), simulated(workload).splitlines(keepends=True)
    if not is_own:
        lines = list(of_other_software(lines, random))
    for _ in range(ALTERED_LINES):
        place = random.randrange(1, len(lines) - 1)
        content = b"".join((*lines[:place], with_another_value(lines[place], random), *lines[place + 1 :]))
        assert said(content, way=one_in(500)) == said(content, way=INTERPRETED), lines[place]


@pytest.mark.parametrize(
    "rewritten",
    [
        lambda line: json.dumps(json.loads(line)).encode() + b"\n",
        lambda line: json.dumps(json.loads(line), sort_keys=True).encode() + b"\n",
        lambda line: b"\t" + line.replace(b":", b" : ").replace(b" : //", b"://"),
    ],
)
def test_spaces_and_the_order_of_fields_make_no_difference(rewritten: Callable[[bytes], bytes]) -> None:
    content = b"".join(map(rewritten, simulated("elections").splitlines(keepends=True)))
    assert said(content, way=one_in(100)) == said(content, way=INTERPRETED)


def test_a_line_beyond_the_limit_is_told_among_right_ones() -> None:
    lines = simulated("elections").splitlines(keepends=True)
    limit = max(map(len, lines))
    content = b"".join((*lines[:20], lines[20][:-1].ljust(limit) + b"\n", *lines[21:]))
    with (
        TraceReader(BytesIO(content), "-", line_bytes_max=limit) as reader,
        pytest.raises(LineTooLongError, match="-:21: the line is longer than"),
    ):
        check_reader(reader, way=one_in(100))


@pytest.mark.nightly
def test_the_jar_has_the_same_bytes_each_time(tmp_path: Path) -> None:
    jars = [tmp_path / name for name in ("one.jar", "other.jar")]
    for jar in jars:
        building.write_jar(trace_model().specification, building.TRACE, jar)
    assert jars[0].read_bytes() == jars[1].read_bytes()


def test_a_fault_of_the_compiler_is_found_by_tlc(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The history of a run is in no line: with unions that forget a part all lines look right."""
    model = trace_model()
    for name in ("\\cup", "\\union"):
        kind, _ = expressions._BUILT_IN[name]
        faulty = (kind, lambda x, arguments, scope, node: x.term(arguments[0], scope).as_value())
        monkeypatch.setitem(expressions._BUILT_IN, name, faulty)
    building.write_jar(model.specification, building.TRACE, tmp_path / "faulty.jar")
    monkeypatch.setattr(model, "_lines", building.load(tmp_path / "faulty.jar", "Lines"))
    with pytest.raises(CompiledModelError, match="the compiled model and TLC disagree on this line"):
        said(simulated("chaos"), way=BOTH)


def test_the_verdict_says_which_way_it_came_about() -> None:
    content = simulated("elections")
    events = content.count(b'"kind":"event"')
    ways = [check_reader(trace_of_bytes(content), way=way) for way in (one_in(100), BOTH, INTERPRETED)]
    assert [(way.compiled, way.both) for way in ways] == [(events, events // 100), (events, events), (0, 0)]


def test_without_a_compiler_of_java_tlc_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_model(), "_lines", None)
    monkeypatch.setattr(building, "found", lambda _: None)
    monkeypatch.setattr(building, "is_available", lambda: False)
    verdict = check_reader(trace_of_bytes(simulated("elections")), way=one_in(100))
    assert (verdict.kind, verdict.compiled) == (VerdictKind.ACCEPTED, 0)


def test_what_is_not_compiled_is_named_with_module_and_line(tmp_path: Path) -> None:
    """In a process of its own: TLC keeps one specification in each."""
    (tmp_path / "Odd.tla").write_text(ODD, encoding="utf-8")
    (tmp_path / "Odd.cfg").write_text("INIT Init\nNEXT Next\n", encoding="utf-8")
    done = subprocess.run([sys.executable, "-c", COMPILES, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.stdout == "Odd.tla:5:33: operator ENABLED is not compiled\n", done.stderr


ODD = """\
---- MODULE Odd ----
EXTENDS Naturals
VARIABLE x
Init == x = 0
Next == x' = CHOOSE y \\in {1} : ENABLED (x' = y)
====
"""
COMPILES = """\
import sys
from pathlib import Path
from kraft_spec.compiled.compiler import Compiler
from kraft_spec.compiled.terms import UnsupportedError
from kraft_spec.tlc.specification import Specification

try:
    Compiler(Specification(Path(sys.argv[1]), "Odd")).java("Model", ["Next"], [], [])
except UnsupportedError as error:
    print(error)
"""


def damages(content: bytes) -> dict[str, bytes]:
    """Content of a jar after damage, by what was done to it."""
    flipped = [content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :] for at in (0, 30, len(content) // 2, -40)]
    return {
        "empty": b"",
        "cut short": content[: len(content) // 2],
        "longer": content + b"\0",
        **{f"bit {number}": line for number, line in enumerate(flipped)},
    }


def test_damage_of_a_compiled_model_is_seen(compiled: TraceModel, tmp_path: Path) -> None:
    jar = building.found(compiled.stamp)
    assert jar is not None
    copy = tmp_path / jar.name
    for damage, content in damages(jar.read_bytes()).items():
        copy.write_bytes(content)
        assert not building.is_whole(copy), damage
    copy.write_bytes(jar.read_bytes())
    assert building.is_whole(copy)


CHECKS_WITHOUT_SHIPPED_JAR = """
import sys
from pathlib import Path

from kraft_cli.cli import main
from kraft_spec.compiled import building

building.shipped_folder = lambda: Path("nowhere")
sys.exit(main(["validate", sys.argv[1]]))
"""
"""The package of a clean checkout carries the jar, so that no cache is asked for it."""


def test_a_damaged_compiled_model_is_made_again(compiled: TraceModel, tmp_path: Path) -> None:
    jar = building.found(compiled.stamp)
    assert jar is not None
    damaged = tmp_path / "kraft-spec" / "compiled" / jar.name
    damaged.parent.mkdir(parents=True)
    damaged.write_bytes(damages(jar.read_bytes())["cut short"])
    command = [sys.executable, "-c", CHECKS_WITHOUT_SHIPPED_JAR, str(SAMPLES / "ping-pong.jsonl")]
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stderr.count("is damaged")) == (0, 1), done.stderr
    assert "accepted" in done.stdout
    assert damaged.read_bytes() == jar.read_bytes()


MAKES = """
from kraft_traces.check.model import trace_model
assert trace_model().compiled_lines(make=True) is not None
"""


def making(cache: Path) -> subprocess.Popen[str]:
    """A process that compiles the model unless the cache has it."""
    environment = os.environ | {"XDG_CACHE_HOME": str(cache)}
    return subprocess.Popen([sys.executable, "-c", MAKES], stderr=subprocess.PIPE, text=True, env=environment)


def cached(cache: Path) -> list[bytes]:
    """Content of the jars in a cache, each of them whole."""
    jars = sorted((cache / "kraft-spec" / "compiled").glob("*.jar"))
    assert all(map(building.is_whole, jars))
    return [jar.read_bytes() for jar in jars]


@pytest.mark.nightly
def test_two_processes_fill_one_cache(compiled: TraceModel, tmp_path: Path) -> None:
    jar = building.found(compiled.stamp)
    assert jar is not None
    both = [making(tmp_path), making(tmp_path)]
    assert [process.communicate()[1] for process in both] == ["", ""]
    assert [process.returncode for process in both] == [0, 0]
    assert cached(tmp_path) == [jar.read_bytes()]


@pytest.mark.nightly
@pytest.mark.parametrize("waits", ["for the start", "for the folder", "a while"])
def test_a_process_that_is_killed_while_it_fills_the_cache_leaves_it_usable(waits: str, tmp_path: Path) -> None:
    process = making(tmp_path)
    folder = tmp_path / "kraft-spec" / "compiled"
    end = time.monotonic() + {"for the start": 0, "for the folder": 600, "a while": 5}[waits]
    while time.monotonic() < end and process.poll() is None and not (waits == "for the folder" and folder.exists()):
        time.sleep(0.001)
    process.kill()
    process.communicate()
    assert len(cached(tmp_path)) <= 1
    again = making(tmp_path)
    assert (again.communicate()[1], again.returncode) == ("", 0)
    assert len(cached(tmp_path)) == 1


_ANSWERED_WITH = ("role", "epoch", "log_end_offset", "high_watermark")
"""Fields of a state that an answer to a Fetch depends on."""


def answered_late(lines: Sequence[bytes]) -> tuple[list[bytes], int]:
    """Return a trace in which the leader's next line answers a Fetch that it has nothing for, and the number of these.

    Only where nothing that the answer says has changed until then, and the answer has not arrived.
    """
    documents = [json.loads(line) for line in lines]
    documents[0]["generator"]["name"] = "somebody-else"
    moved: dict[str, str] = {}
    for place, line in enumerate(documents):
        effects, answer = line.get("effects"), line.get("effects", [{}])[-1:]
        message = answer[0].get("message", {}) if answer else {}
        if line.get("event") != "HandleFetchRequest" or message.get("records") != [] or message["error"] != "NONE":
            continue
        end, watermark = line["state"]["log_end_offset"], line["state"]["high_watermark"]
        if (line["message"]["fetch_offset"], message["high_watermark"]) != (end, watermark):
            continue
        for later in documents[place + 1 : -1]:
            if later.get("input", {}).get("message_id", later.get("message", {}).get("id")) == message["id"]:
                break
            if later.get("replica") != line["replica"] or later["event"] == "HandleFetchRequest":
                continue
            others = [it["message"]["id"] for it in later["effects"] if it["kind"] == "Send"]
            if any(later["state"][name] != line["state"][name] for name in _ANSWERED_WITH) or "crash" in later:
                break
            plain = f"{later['sequence']}.{message['destination']}"
            identifier = f"{plain}.fetch" if plain in others else plain
            if identifier not in others:
                moved[message["id"]] = message["id"] = identifier
                later["effects"].append(effects.pop())
            break
    for line in documents:
        for part, name in (("message", "id"), ("cause", "message_id"), ("input", "message_id")):
            if line.get(part, {}).get(name) in moved:
                line[part][name] = moved[line[part][name]]
    return [json.dumps(line).encode() + b"\n" for line in documents], len(moved)


def test_late_answers_to_fetches_take_the_compiled_path() -> None:
    count = 0
    for workload in ("chaos", "static-voters", "observers", "old-voters"):
        lines, late = answered_late(simulated(workload).splitlines(keepends=True))
        verdict = check_reader(trace_of_bytes(b"".join(lines)), way=one_in(20))
        assert replace(verdict, compiled=0, both=0) == said(b"".join(lines), way=INTERPRETED)
        assert verdict.kind is VerdictKind.ACCEPTED, verdict.rejection
        assert verdict.compiled == verdict.events
        count += late
    assert count > 5
