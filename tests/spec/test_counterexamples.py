"""TLC's counterexamples in words: parsed values, actions by their line, named changes."""

import pytest

from kraft_spec.counterexamples import in_words, text_of
from kraft_spec.counterexamples.state import value_words
from kraft_spec.mapping_forms import NO_KEY, ModelKey
from kraft_spec.tlc.model_report import ModelCheckReport, Outcome, Progress, TraceState
from kraft_spec.tlc.value_text import ValueTextError, parsed_value
from kraft_spec.tlc.values import Function, ModelValue, TlaValue

ACTIONS = {3: "ElectionTimeout", 4: "HandleVoteRequest"}
"""Actions on the lines of Next."""

KEYS = '{[directory_id |-> "A", id |-> 1], [directory_id |-> "B", id |-> 2]}'
VOTERS = f"<<[voters |-> {KEYS}, details |-> {{}}, offset |-> -1, target |-> {{}}]>>"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-1", -1),
        ("TRUE", True),
        ('"a \\"b\\" \\\\"', 'a "b" \\'),
        ("<< >>", ()),
        ('<<1,\n  <<2, "B">>>>', (1, (2, "B"))),
        ("{{}, {1}}", frozenset({frozenset(), frozenset({1})})),
        ("1..3", frozenset({1, 2, 3})),
        ("[a |-> 1, b |-> [c |-> {}]]", Function({"a": 1, "b": Function({"c": frozenset()})})),
        ('[directory_id |-> "B", id |-> 2]', ModelKey(2, "B")),
        ('(<<2, "B">> :> 2 @@ <<3, "C">> :> 1)', Function({(2, "B"): 2, (3, "C"): 1})),
        ("(1 :> 5 @@ 2 :> 6)", (5, 6)),
        ("none", ModelValue("none")),
    ],
)
def test_a_printed_value_is_read_back(text: str, value: TlaValue) -> None:
    read = parsed_value(text)
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'the end' in a value, expected the beginning of one"),
        ("{1, 2", "'the end' in a value, expected '}'"),
        ("1 2", "'2' in a value, expected 'the end'"),
        ("[a -> 1]", "' -> 1]' in a value, expected a token"),
        ("1..{", "'{' in a value, expected the end of an interval"),
        ("[a 1]", "expected '|->'"),
    ],
)
def test_a_text_that_is_no_value_is_an_error(text: str, message: str) -> None:
    with pytest.raises(ValueTextError) as caught:
        parsed_value(text)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (ModelKey(1, "A"), "1-A"),
        (ModelKey(1, ""), "1"),
        (NO_KEY, "nobody"),
        (("A", 0), "A-0"),
        ((), "[]"),
        (frozenset({10, 9}), "{9, 10}"),
        (Function({"kind": "none"}), "none"),
        (Function({"high_watermark": 1, "error": "NONE", "leader_id": -1}), "(high watermark 1)"),
        (False, "no"),
    ],
)
def test_values_take_few_words(value: TlaValue, words: str) -> None:
    assert value_words(value) == words


def traced(number: int, line: int, variables: tuple[tuple[str, str], ...]) -> TraceState:
    """Return a state reached by the part of `Next` in this line."""
    return TraceState(number, "Next", f"line {line}, col 6 to line {line}, col 9 of module KRaft", "", variables)


def variables(first: str, network: str, cuts: str = "{}") -> tuple[tuple[str, str], ...]:
    """Return a cluster of two whose second replica never changes."""
    return (
        ("config", "[off |-> {}]"),
        ("replicas", f"<<{first}, {replica(2, 'B')}>>"),
        ("network", network),
        ("cuts", cuts),
    )


def key(number: int, directory: str) -> str:
    """A replica key as TLC prints it."""
    return f'[directory_id |-> "{directory}", id |-> {number}]'


def replica(number: int, directory: str, role: str = "Unattached", **fields: str) -> str:
    """Return the state of a replica as TLC prints it."""
    texts = {
        "replica_key": key(number, directory),
        "role": f'"{role}"',
        "epoch": "0",
        "leader_id": "-1",
        "voted_key": key(-1, ""),
        "log": "<<>>",
        "base": "[end_offset |-> 0]",
        "high_watermark": "-1",
        "voters": VOTERS,
        "versions": "<<[kraft_version |-> 0, offset |-> -1]>>",
        "granted": "{}",
        "awaiting": "{}",
    }
    return f"[{', '.join(f'{name} |-> {text}' for name, text in {**texts, **fields}.items())}]"


def message(sender: int, to: int, corr: int) -> str:
    """Return a request for a vote."""
    return (
        f'[type |-> "VoteRequest", source |-> {sender}, destination |-> {to}, correlation_id |-> {corr}, '
        "epoch |-> 1, pre_vote |-> FALSE, "
        f"replica_key |-> {key(sender, 'AB'[sender - 1])}, voter_key |-> {key(to, 'other')}]"
    )


def record(epoch: int, kind: str, value: int) -> str:
    """Return a record of a log."""
    return f'[epoch |-> {epoch}, kind |-> "{kind}", value |-> {value}, voters |-> {{}}, details |-> {{}}]'


def test_a_counterexample_in_words() -> None:
    start = replica(1, "A", log=f"<<{record(1, 'Data', 0)}>>", epoch="1")
    campaigns = replica(1, "A", "Candidate", log=f"<<{record(1, 'Data', 0)}>>", epoch="2", voted_key=key(1, "A"))
    voted = replica(1, "A", log=f"<<{record(2, 'LeaderChange', 2)}, {record(2, 'Data', 7)}>>", epoch="2")
    trace = (
        TraceState(1, "Initial predicate", "", "", variables(start, f"{{{message(2, 1, 1)}}}")),
        traced(2, 3, variables(campaigns, f"{{{message(2, 1, 1)}, {message(1, 2, 1)}}}")),
        traced(3, 4, variables(voted, f"{{{message(1, 2, 0)}}}", "{<<1, 2>>}")),
    )
    report = ModelCheckReport(
        Outcome.VIOLATION, "TypeOk", "", trace, "Stuttering", Progress(), 0.0, (), (), None, 0, 12
    )
    words = text_of(in_words(report, ACTIONS))
    assert words == (
        "1. Init: 1-A: Unattached, epoch 1, log [Data of epoch 1], voters {1-A, 2-B}; "
        "2-B: Unattached, epoch 0, empty log, voters {1-A, 2-B}; "
        "on its way from 2: VoteRequest to 1 (epoch 1, voter key 1-other)\n"
        "2. ElectionTimeout (replica 1): Unattached -> Candidate; epoch 1 -> 2; voted key nobody -> 1-A; "
        "sends VoteRequest to 2 (epoch 1, voter key 2-other)\n"
        "3. HandleVoteRequest (replica 1, VoteRequest from 2, from 1 to 2): Candidate -> Unattached; "
        "voted key 1-A -> nobody; cuts its log at offset 0; appends at offset 0: LeaderChange, Data 7 of epoch 2; "
        "waits no more for an answer to its VoteRequest to 2; nothing gets from 1 to 2\n"
        "Stuttering\n"
        "violated: TypeOk\n"
    )
