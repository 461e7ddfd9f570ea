"""Divergence of logs: the reference and the model agree on every small log."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.spec.own_process import TOYS, in_own_process

from kraft_reference.log import (
    append,
    end_of_epoch,
    flush,
    is_up_to_date,
    log_from,
    matches,
    needs_snapshot,
    snapshot_at,
    trim,
)
from kraft_reference.messages import Error, FetchResponse
from kraft_reference.profile import with_settings
from kraft_reference.records import Record, RecordKind
from kraft_reference.replication import _truncation_offset
from kraft_reference.state import new_replica
from kraft_simulation.scenarios.scenario import cluster
from kraft_spec.edits import package_folder
from kraft_spec.tlc.specification import Specification
from kraft_spec.tlc.values import decode

THREE = cluster(3)
CHECKPOINT = THREE.checkpoint(1)


def rows_of_the_model(folder: Path) -> frozenset[Any]:
    specification = Specification(folder, "DivergenceTable")
    tables: list[Any] = [decode(specification.evaluate("Table", state)) for state in specification.initial_states()]
    return frozenset().union(*tables)


def row(cut: Any, epochs: tuple[int, ...], start: int, epoch: int, offset: int) -> tuple[Any, ...]:
    """Return the row of the reference."""
    whole = flush(append(log_from(CHECKPOINT), [Record(record_epoch, RecordKind.DATA, 0) for record_epoch in epochs]))
    log = trim(whole, snapshot_at(whole, start)) if start else whole
    end = end_of_epoch(log, epoch)
    answer = FetchResponse(2, 1, 7, Error.NONE, 4, 2, None, -1, epoch, offset, ())
    there = (matches(log, offset, epoch), needs_snapshot(log, offset, epoch), is_up_to_date(epoch, offset, log))
    configuration = replace(THREE, profile=with_settings(THREE.profile, diverging_cut=cut))
    offset_cut = _truncation_offset(
        new_replica(THREE.replicas[1].key, CHECKPOINT)._replace(log=log), configuration, answer
    )
    return (cut, epochs, start, epoch, offset, end.epoch, end.offset, *there, offset_cut)


def test_the_reference_and_the_model_agree_on_every_small_log(tmp_path: Path) -> None:
    for path in (*(package_folder("kraft_spec") / "tla").glob("*.tla"), *TOYS.glob("DivergenceTable.*")):
        shutil.copy(path, tmp_path)
    rows = in_own_process(rows_of_the_model, tmp_path)
    assert len(rows) == 2 * 140 * 5 * 6
    assert {values: row(*values[:5]) for values in rows if values != row(*values[:5])} == {}
