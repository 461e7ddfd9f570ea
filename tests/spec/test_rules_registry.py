"""The registry reads its catalogues, looks up rules, and rejects every kind of faulty catalogue."""

import json
from pathlib import Path

import pytest

from kraft_spec.rules import PROPERTIES, RuleFileError, UnknownRuleError, load_registry, read_registry

VALID: dict[str, object] = {
    "id": "zoo.first-rule",
    "title": "A title",
    "statement": "A statement.",
    "source": ["KIP-595, somewhere"],
    "level": "MUST",
    "states": ["Leader", "Observer"],
    "safety": True,
    "breaks": "ElectionSafety (if counted); HwMonotonic",
    "kafka": "",
    "open": "",
    "example": "v(1>2)",
}


def write_catalogue(folder: Path, *rules: dict[str, object], name: str = "zoo.toml") -> Path:
    """Write rules as [[rule]] tables; JSON's strings, lists and booleans are valid TOML."""
    file = folder / name
    tables = ["\n".join(f"{key} = {json.dumps(rule[key])}" for key in rule) for rule in rules]
    file.write_text("".join(f"[[rule]]\n{table}\n\n" for table in tables), encoding="utf-8")
    return file


def refusal(folder: Path, *rules: dict[str, object]) -> RuleFileError:
    """Return the error with which these rules are rejected."""
    with pytest.raises(RuleFileError) as caught:
        read_registry([write_catalogue(folder, *rules)])
    return caught.value


def test_a_rule_is_found_by_its_id_with_all_its_fields() -> None:
    rule = load_registry()["vote.log-check"]
    assert rule.title == "Log condition for a standard vote"
    assert rule.statement.startswith("A standard vote may be granted only to a requester")
    assert (rule.level, rule.safety, rule.status) == ("MUST", True, "active")
    assert rule.states == ("Unattached", "Prospective", "Observer")
    assert rule.breaks == ("LeaderCompleteness", "CommittedNeverLost")
    assert (rule.group, rule.catalogue) == ("vote", "election")


def test_a_decision_is_in_the_statement_and_a_fact_about_kafka_was_read() -> None:
    unsettled = {rule.id for rule in load_registry() if "ecommended:" in rule.statement + rule.open}
    unread = {rule.id for rule in load_registry() if "(memory)" in rule.kafka or "memory)." in rule.kafka}
    assert unsettled | unread == set()


def test_breaks_keeps_the_free_text_beside_the_property_names() -> None:
    rule = load_registry()["state.leader.outside-voters-set"]
    assert rule.breaks == ("CommittedNeverLost", "CommitProgress")
    assert rule.breaks_text == "CommittedNeverLost (if counted); CommitProgress (if it stops early)"


def test_words_of_the_protocol_in_breaks_are_not_properties(tmp_path: Path) -> None:
    written = {**VALID, "breaks": "ConfigFollowsLog: a voter that cannot decode VotersRecord"}
    registry = read_registry([write_catalogue(tmp_path, written)])
    assert registry["zoo.first-rule"].breaks == ("ConfigFollowsLog",)


def test_a_group_spans_the_catalogues() -> None:
    registry = load_registry()
    assert {rule.catalogue for rule in registry.group("wire")} == {"election", "membership"}
    assert "end-quorum" in registry.groups
    assert sum(len(registry.group(group)) for group in registry.groups) == len(registry)


def test_a_pattern_matches_an_id_or_all_ids_under_a_prefix() -> None:
    registry = load_registry()
    assert [rule.id for rule in registry.matching("fetch.timer")] == ["fetch.timer"]
    assert [rule.id for rule in registry.matching("fetch.snapshot.*")] == [
        "fetch.snapshot.install",
        "fetch.snapshot.accepted",
        "fetch.snapshot.bootstrap-not-served",
    ]
    assert registry.matching("zoo.*") == ()


@pytest.mark.parametrize(
    ("query", "suggested"),
    [
        ("vote.log-chek", "vote.log-check"),
        ("begin-quorum.acept", "begin-quorum.accept"),
        ("state.resigned", "state.resigned.timeout"),
    ],
)
def test_an_unknown_id_is_answered_with_near_matches(query: str, suggested: str) -> None:
    with pytest.raises(UnknownRuleError) as caught:
        load_registry()[query]
    assert suggested in caught.value.suggestions
    assert query in str(caught.value)
    assert suggested in str(caught.value)


def test_an_id_like_no_other_gets_no_suggestion() -> None:
    with pytest.raises(UnknownRuleError, match=r"^no rule has the id 'xyzzy'; `kraft-spec rules` lists them$"):
        load_registry()["xyzzy"]


def test_states_may_be_left_out(tmp_path: Path) -> None:
    without = {key: VALID[key] for key in VALID if key != "states"}
    assert read_registry([write_catalogue(tmp_path, without)])["zoo.first-rule"].states == ()


@pytest.mark.parametrize("key", [key for key in VALID if key != "states"])
def test_a_missing_key_is_refused(tmp_path: Path, key: str) -> None:
    error = refusal(tmp_path, {each: VALID[each] for each in VALID if each != key})
    assert (error.file, error.field, error.problem) == ("zoo.toml", key, "missing")
    assert error.rule_id == ("number 1" if key == "id" else "zoo.first-rule")


@pytest.mark.parametrize(
    ("field", "written", "problem"),
    [
        ("titel", "A title", "unknown key, did you mean title?"),
        ("id", "zoo", "two or more segments"),
        ("id", "Zoo.First", "lower-case"),
        ("id", 7, "must be a string"),
        ("title", " ", "must not be empty"),
        ("statement", "", "must not be empty"),
        ("example", "", "must not be empty"),
        ("source", [], "at least one passage"),
        ("source", "KIP-595", "must be a list"),
        ("source", [""], "non-empty strings"),
        ("level", "MUST NOT", "'MUST NOT' is not one of MUST, SHOULD, MAY"),
        ("level", 1, "must be a string"),
        ("states", ["Voted"], "'Voted' is not one of Unattached"),
        ("safety", "yes", "must be true or false"),
        ("safety", 1, "must be true or false"),
        ("breaks", "ElectionSaftey", "unknown property ElectionSaftey, did you mean ElectionSafety?"),
        ("breaks", "Electionsafety", "unknown property Electionsafety, did you mean ElectionSafety?"),
        ("breaks", "SomethingElse", "unknown property SomethingElse"),
        ("status", "dead", "'dead' is not one of active, superseded, retired"),
        ("status", "superseded", ""),
        ("by", "zoo.other", "an active rule has no successor"),
        ("statement", "See zoo.second-rule.", "names zoo.second-rule, which is no rule"),
        ("open", "See zoo.frist-rule.", "did you mean zoo.first-rule?"),
        ("open", "See zoos.first-rule.", "did you mean zoo.first-rule?"),
        ("open", "See zoo.other.", "names zoo.other, which is no rule"),
        ("kafka", "See zoo.other.", "names zoo.other"),
        ("breaks", "ElectionSafety, see zoo.other", "names zoo.other"),
    ],
)
def test_a_wrong_field_is_refused_by_name(tmp_path: Path, field: str, written: object, problem: str) -> None:
    error = refusal(tmp_path, {**VALID, field: written})
    assert error.file == "zoo.toml"
    assert error.field == ("by" if written == "superseded" else field)
    assert problem in error.problem
    for part in ("zoo.toml", f"field {error.field}", str(error.rule_id)):
        assert part in str(error)
    if field != "id":
        assert error.rule_id == "zoo.first-rule"


def test_a_successor_must_exist(tmp_path: Path) -> None:
    error = refusal(tmp_path, {**VALID, "status": "superseded", "by": "zoo.first-ruel"})
    assert (error.rule_id, error.field) == ("zoo.first-rule", "by")
    assert "did you mean zoo.first-rule?" in error.problem


def test_a_rule_does_not_succeed_itself(tmp_path: Path) -> None:
    error = refusal(tmp_path, {**VALID, "status": "retired", "by": "zoo.first-rule"})
    assert (error.field, error.problem) == ("by", "a rule cannot take its own place")


def test_a_retired_rule_needs_no_successor(tmp_path: Path) -> None:
    registry = read_registry([write_catalogue(tmp_path, {**VALID, "status": "retired"})])
    assert not registry["zoo.first-rule"].is_active


def test_a_duplicate_id_is_refused(tmp_path: Path) -> None:
    error = refusal(tmp_path, VALID, VALID)
    assert (error.rule_id, error.field) == ("zoo.first-rule", "id")
    assert "duplicate" in error.problem


def test_a_duplicate_id_across_files_names_both(tmp_path: Path) -> None:
    files = [write_catalogue(tmp_path, VALID), write_catalogue(tmp_path, VALID, name="park.toml")]
    with pytest.raises(RuleFileError, match=r"park\.toml: rule zoo\.first-rule: .* taken in zoo\.toml"):
        read_registry(files)


def test_rules_may_name_rules_of_other_files(tmp_path: Path) -> None:
    citing = {**VALID, "id": "park.rule", "open": "See zoo.first-rule and kraft.version."}
    files = [write_catalogue(tmp_path, VALID), write_catalogue(tmp_path, citing, name="park.toml")]
    assert len(read_registry(files)) == 2


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[[rule]\n", "not TOML"),
        ("rule = 3\n", "must be written as [[rule]] tables"),
        ("[[rules]]\nid = 'zoo.first'\n", "unknown key"),
    ],
)
def test_a_file_that_is_no_catalogue_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    file = tmp_path / "zoo.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(RuleFileError, match=r"^zoo\.toml: ") as caught:
        read_registry([file])
    assert problem in caught.value.problem


def test_every_property_has_a_description_and_is_named_by_a_rule() -> None:
    named = {name for rule in load_registry() for name in rule.breaks}
    assert set(PROPERTIES) == named
    assert all(each.description.endswith(".") and each.name == name for name, each in PROPERTIES.items())
