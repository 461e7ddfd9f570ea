"""Files: whole or not there, the same bytes each time, plain, compressed, standard streams, folders."""

import gzip
import io
import os
import stat
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from tests.traces.strategies import GENERATOR, cluster, random_run

from kraft_traces.reader import open_trace, trace_of_bytes
from kraft_traces.streams import trace_paths
from kraft_traces.writer import TraceWriter, trace_bytes, write_trace

RUN = random_run(cluster(), seed=3, steps=300)
CONTENT = b"".join(trace_bytes(RUN, cluster(), GENERATOR))


def write(path: str | Path) -> None:
    with write_trace(path, cluster(), GENERATOR) as writer:
        writer.write_all(RUN)


def test_a_file_holds_the_lines_and_nothing_else_is_left(tmp_path: Path) -> None:
    write(tmp_path / "t.jsonl")
    assert [file.name for file in tmp_path.iterdir()] == ["t.jsonl"]
    assert (tmp_path / "t.jsonl").read_bytes() == CONTENT
    with open_trace(tmp_path / "t.jsonl") as trace:
        lines = list(trace)
    assert (len(lines), trace.complete, trace.header.generator) == (300, True, GENERATOR)
    assert trace.raw_header + b"".join(CONTENT.splitlines(keepends=True)[1:]) == CONTENT


def test_compressed_bytes_do_not_depend_on_time_or_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "a.jsonl.gz")
    monkeypatch.setattr("time.time", lambda: 1.0)
    write(tmp_path / "b.jsonl.gz")
    compressed = (tmp_path / "a.jsonl.gz").read_bytes()
    assert compressed == (tmp_path / "b.jsonl.gz").read_bytes()
    assert gzip.decompress(compressed) == CONTENT
    assert compressed[3:8] == bytes(5), "neither name nor time in the header"


@pytest.mark.parametrize("name", ["t.jsonl", "t.jsonl.gz"])
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_exception_leaves_no_file(tmp_path: Path, name: str, error: type[BaseException]) -> None:
    def fail() -> None:
        with write_trace(tmp_path / name, cluster(), GENERATOR) as writer:
            writer.write_all(RUN[:200])
            raise error

    with pytest.raises(error):
        fail()
    assert list(tmp_path.iterdir()) == []
    (tmp_path / name).write_bytes(b"before")
    with pytest.raises(error):
        fail()
    assert [file.read_bytes() for file in tmp_path.iterdir()] == [b"before"]


def test_while_it_is_written_a_folder_does_not_show_it(tmp_path: Path) -> None:
    write(tmp_path / "other.jsonl")
    with write_trace(tmp_path / "t.jsonl", cluster(), GENERATOR) as writer:
        writer.write(RUN[0])
        assert [Path(path).name for path in trace_paths(tmp_path)] == ["other.jsonl"]
    assert len(trace_paths(tmp_path)) == 2


def test_permissions_are_those_of_any_new_file(tmp_path: Path) -> None:
    write(tmp_path / "t.jsonl")
    (tmp_path / "plain").touch()
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("t.jsonl", "plain")}
    assert len(modes) == 1


def test_a_link_stays_and_a_device_is_written_to(tmp_path: Path) -> None:
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "t.jsonl")
    write(tmp_path / "link.jsonl")
    assert (tmp_path / "link.jsonl").is_symlink()
    assert (tmp_path / "t.jsonl").read_bytes() == CONTENT
    write(os.devnull)
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


def test_a_writer_takes_the_next_sequence_only() -> None:
    writer = TraceWriter(io.BytesIO(), trace_of_bytes(CONTENT).header)
    with pytest.raises(ValueError, match="expected sequence 1, got sequence 2"):
        writer.write(RUN[1])
    writer.write(RUN[0])
    writer.end(complete=False)
    with pytest.raises(ValueError, match="expected nothing after the end"):
        writer.write(RUN[1])
    with pytest.raises(ValueError, match="has ended"):
        writer.end()


def test_a_run_that_stops_early_says_so(tmp_path: Path) -> None:
    with write_trace(tmp_path / "t.jsonl", cluster(), GENERATOR, spec_hash="0" * 64) as writer:
        writer.write_all(RUN[:9])
        writer.end(complete=False)
    with open_trace(tmp_path / "t.jsonl") as trace:
        assert len(list(trace)) == 9
        assert not trace.complete
        assert trace.header.spec_hash == "0" * 64


def test_standard_streams(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    write("-")
    assert capfdbinary.readouterr().out == CONTENT
    for content in (CONTENT, gzip.compress(CONTENT)):
        stdin: Any = io.TextIOWrapper(io.BytesIO(content))
        monkeypatch.setattr(sys, "stdin", stdin)
        with open_trace("-") as trace:
            assert len(list(trace)) == 300
        assert trace.source == "-"


def test_standard_input_is_left_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t.jsonl").write_bytes(CONTENT)
    with (tmp_path / "t.jsonl").open() as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        with open_trace("-") as trace:
            assert len(list(trace)) == 300
        assert stdin.buffer.read() == b""


def test_folders_are_read_in_the_order_of_their_names(tmp_path: Path) -> None:
    for name in ("b.jsonl", "a/z.jsonl.gz", "a/y.jsonl", "c.jsonl.gz", "a.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        write(tmp_path / name)
    (tmp_path / "notes.txt").write_text("no trace")
    names = ["a/y.jsonl", "a/z.jsonl.gz", "a.jsonl", "b.jsonl", "c.jsonl.gz"]
    assert trace_paths(tmp_path) == [str(tmp_path / name) for name in names]
    for path in trace_paths(tmp_path):
        with open_trace(path) as trace:
            assert len(list(trace)) == 300


def test_memory_stays_flat(tmp_path: Path) -> None:
    # Nothing but timeouts that do nothing: no message is on its way, so no line may leave anything behind.
    lines = CONTENT.splitlines(keepends=True)[:1] + [
        b'{"kind":"event","sequence":%d,"replica":1,"event":"Poll","effects":[]}\n' % sequence
        for sequence in range(1, 40_001)
    ]
    (tmp_path / "t.jsonl.gz").write_bytes(gzip.compress(b"".join(lines), 1))
    del lines
    tracemalloc.start()
    try:
        with open_trace(tmp_path / "t.jsonl.gz") as trace:
            assert sum(1 for _ in trace) == 40_000
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2_000_000
