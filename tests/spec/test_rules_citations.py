"""Rule ids are recognised where they are cited, as whole words, and nowhere else."""

from pathlib import Path

import pytest

from kraft_spec.rules import load_registry
from kraft_spec.rules.citations import CitationReport, check_citations, citations_of, find_citations
from kraft_spec.rules.scope import Scope, read_scope
from kraft_spec.rules.sources import Source, package_sources, reference_tests

NO_SCOPE = Scope(outside={}, exemptions=(), unread={})


def named(folder: Path, file_name: str, text: str) -> list[tuple[int, str]]:
    """Return (line, id) of every rule that one file names, in order of the lines."""
    (folder / file_name).parent.mkdir(exist_ok=True)
    (folder / file_name).write_text(text, encoding="utf-8")
    source = Source("reference", "place", folder)
    citations = find_citations(source, load_registry().ids)
    return sorted((citation.line, citation.rule_id) for citation in citations)


def report(folder: Path, scope: Scope = NO_SCOPE, **layers: str) -> CitationReport:
    """Return the report on one Python or TLA+ file per layer."""
    sources = []
    for layer, text in layers.items():
        ending = "tla" if layer == "model" else "py"
        (folder / layer).mkdir()
        (folder / layer / f"text.{ending}").write_text(text, encoding="utf-8")
        sources.append(Source(layer, layer, folder / layer))
    return check_citations(load_registry(), sources, scope)


PYTHON = '''"""About votes.

Rules: vote.log-check, vote.once-per-epoch.
"""
enforced = "hw.majority"  # why: fetch.timer
message = f"{enforced} by state.roles"
print(state.roles, fetch.timer, f'{hw.majority}')
'''
TLA = r"""---- MODULE place ----
\* Rules: vote.log-check, vote.once-per-epoch
(* fetch.timer (* hw.majority *) state.roles *) x == state.epoch
y == "observer.states" \* hw.follower
z == "a \" b" \o hw.monotonic
(* first
fetch.timer
*)
====
"""
LISTS = r"""\* Why.  Rules: vote.log-check,
\*        state.rolls, state.roles
\* state.neither is a field
(* Rules: hw.majority,    *)
(*        hw.minority     *)
"""


@pytest.mark.parametrize(
    ("file_name", "text", "expected"),
    [
        (
            "place.py",
            PYTHON,
            "3 vote.log-check, 3 vote.once-per-epoch, 5 fetch.timer, 5 hw.majority, 6 state.roles",
        ),
        (
            "place.tla",
            TLA,
            "2 vote.log-check, 2 vote.once-per-epoch, 3 fetch.timer, 3 hw.majority, 3 state.roles, 4 hw.follower, "
            "4 observer.states, 7 fetch.timer",
        ),
        ("place.tla", LISTS, "1 vote.log-check, 2 state.roles, 2 state.rolls, 4 hw.majority, 5 hw.minority"),
        ("page.md", "The rule `vote.log-check` says\n", "1 vote.log-check"),
        (
            "page.md",
            "Rules: vote.log-check (equal logs), fetch.timer and hw.majority. Reads kraft.version.\n",
            "1 fetch.timer, 1 hw.majority, 1 vote.log-check",
        ),
        ("MC.cfg", "INVARIANT Foo \\* vote.log-check\n", "1 vote.log-check"),
        ("data.json", '"vote.log-check"', ""),
        ("__pycache__/page.md", "vote.log-check", ""),
        (".hidden/page.md", "vote.log-check", ""),
        ("_build/page.md", "vote.log-check", ""),
    ],
)
def test_rules_are_found_in_comments_strings_and_pages(
    tmp_path: Path, file_name: str, text: str, expected: str
) -> None:
    names = named(tmp_path, file_name, text)
    assert ", ".join(f"{line} {rule_id}" for line, rule_id in names) == expected


def test_a_python_file_that_cannot_be_parsed_is_named(tmp_path: Path) -> None:
    with pytest.raises(SyntaxError) as caught:
        named(tmp_path, "place.py", "def :\n")
    assert caught.value.filename == "place/place.py"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("prevote.unsupported-version", ["prevote.unsupported-version"]),
        ("prevote.unsupported-version.after-majority", ["prevote.unsupported-version.after-majority"]),
        ("discovery.bootstrap-fallback", ["discovery.bootstrap-fallback"]),
        ("state.leader.resigns-on-own-removal", ["state.leader.resigns-on-own-removal"]),
        ("This is fetch.timer.", ["fetch.timer"]),
        ("(fetch.timer), `fetch.timer`: 'fetch.timer'", ["fetch.timer"]),
        ("after fetch.timer...", ["fetch.timer"]),
        ("fetch.timer_ms fetch.timers fetch.timer.reset fetch.timer-ms.md", []),
        ("fetch.timer.* prevote.unsupported-version.*", []),
        ("kraft_spec.rules.citations the.fetch.timer docs/fetch.timer xfetch.timer", []),
        ("state.role vote.granted self.state.roles hw.majority()", ["hw.majority"]),
        ("controller.quorum.bootstrap.servers kraft.version check-quorum.svg", []),
    ],
)
def test_only_whole_ids_count_in_running_text(tmp_path: Path, text: str, expected: list[str]) -> None:
    assert [rule_id for _, rule_id in named(tmp_path, "page.md", text)] == expected


@pytest.mark.parametrize(
    "misspelt",
    ["vote.log-chekc", "begin-quorum.acept", "prevotes.request.higher-epoch", "check-quorum.perod"],
)
def test_a_misspelt_id_with_a_hyphen_is_found_in_running_text(tmp_path: Path, misspelt: str) -> None:
    result = report(tmp_path, tests=f"# see {misspelt} there\n")
    assert [each.rule_id for each in result.unknown] == [misspelt]
    assert result.suggestions[misspelt]
    assert result.problems()[0].startswith(f"tests/text.py:1: {misspelt}: no rule has this id, did you mean")


@pytest.mark.parametrize("misspelt", ["vote.counting", "state.role", "votes.log", "vote.log_check", "Vote.log-check"])
def test_after_the_label_every_dotted_word_is_meant_as_an_id(tmp_path: Path, misspelt: str) -> None:
    result = report(tmp_path, reference=f"# Rules: vote.log-check, {misspelt}.\n", model=f"\\* Rules: {misspelt}\n")
    assert [each.rule_id for each in result.unknown] == [misspelt, misspelt]
    assert [each.path for each in result.unknown] == ["model/text.tla", "reference/text.py"]


def test_a_rule_is_missing_from_each_layer_that_does_not_name_it(tmp_path: Path) -> None:
    result = report(
        tmp_path, reference="# Rules: hw.majority\n", model="\\* Rules: hw.follower\n", tests="# hw.own-epoch"
    )
    assert "hw.majority" not in result.missing_in_reference
    assert "hw.majority" in result.missing_in_model
    assert "hw.follower" in result.missing_in_reference
    assert "hw.follower" not in result.missing_in_model
    assert "hw.own-epoch" in result.missing_in_reference
    assert "hw.majority: not named in the model" in result.problems()


def test_superseded_rules_and_rules_outside_are_not_required() -> None:
    registry = load_registry()
    required = NO_SCOPE.required(registry, "model")
    assert "identity.replica-key" in required
    assert "bootstrap.kip642-first-record" not in required
    scope = Scope(outside={"identity.replica-key": "outside"}, exemptions=(), unread={})
    assert set(required) - set(scope.required(registry, "model")) == {"identity.replica-key"}


def test_a_rule_outside_that_is_named_has_begun(tmp_path: Path) -> None:
    scope = Scope(outside={"hw.majority": "outside"}, exemptions=(), unread={})
    result = report(tmp_path, scope, model="\\* hw.majority\n", tests="# hw.majority\n")
    assert [str(place) for place in result.begun] == ["model/text.tla:1: hw.majority"]
    assert "model/text.tla:1: hw.majority: is named in the model, so it is not outside" in result.problems()


def test_a_rule_may_have_to_be_named_in_another_layer(tmp_path: Path) -> None:
    scope = Scope(outside={}, exemptions=(), unread={}, instead={"hw.majority": "conformance", "hw.follower": "traces"})
    assert {"hw.majority", "hw.follower"}.isdisjoint(scope.required(load_registry(), "reference"))
    result = report(tmp_path, scope, reference="# hw.majority\n", conformance="# hw.monotonic\n")
    # The layer `traces` is not read, as if the package were not installed.
    assert result.missing_elsewhere == (("hw.majority", "conformance"),)
    assert "hw.majority: not named in the layer conformance" in result.problems()
    (tmp_path / "again").mkdir()
    assert report(tmp_path / "again", scope, conformance="# hw.majority\n").missing_elsewhere == ()


def scope_with(folder: Path, exemption: str) -> Scope:
    """Return a scope with one exemption, written as TOML."""
    file = folder / "scope.toml"
    file.write_text(f"[[exempt]]\n{exemption}\nreason = 'Because.'\n", encoding="utf-8")
    return read_scope(file, load_registry())


def test_an_exempted_rule_is_not_missing(tmp_path: Path) -> None:
    scope = scope_with(tmp_path, "rules = 'hw.majority'\nlayers = ['model']")
    result = report(tmp_path, scope, reference="", model="")
    assert "hw.majority" in result.missing_in_reference
    assert "hw.majority" not in result.missing_in_model
    assert result.stale == ()


def test_an_exemption_of_a_named_rule_is_stale(tmp_path: Path) -> None:
    scope = scope_with(tmp_path, "rules = 'hw.majority'\nlayers = ['model']")
    result = report(tmp_path, scope, reference="# hw.majority\n", model="\\* hw.majority\n\\* hw.majority\n")
    assert [str(each) for each in result.stale] == [
        "model/text.tla:1: hw.majority: is named in the model, remove hw.majority"
    ]
    assert str(result.stale[0]) in result.problems()


def test_a_prefix_is_stale_for_the_rules_named_under_it(tmp_path: Path) -> None:
    scope = scope_with(tmp_path, "rules = 'hw.*'\nlayers = ['reference']")
    result = report(tmp_path, scope, reference="# hw.majority\n")
    assert [each.citation.rule_id for each in result.stale] == ["hw.majority"]
    assert "list it under `without` of hw.*" in str(result.stale[0])


def test_a_rule_without_the_prefix_must_be_named(tmp_path: Path) -> None:
    scope = scope_with(tmp_path, "rules = 'hw.*'\nwithout = ['hw.majority']\nlayers = ['reference']")
    result = report(tmp_path, scope, reference="")
    assert [each for each in result.missing_in_reference if each.startswith("hw.")] == ["hw.majority"]


def test_unread_files_are_passed_over(tmp_path: Path) -> None:
    scope = Scope(outside={}, exemptions=(), unread={"tests/text.py": "plants ids"})
    assert report(tmp_path, scope, tests="# vote.log-chekc\n").unknown == ()


def test_the_installed_packages_are_read_without_a_checkout() -> None:
    paths: dict[str, set[str]] = {}
    for source in package_sources():
        paths.setdefault(source.layer, set()).update(path for path, _ in source.files())
    assert {"kraft_reference/__init__.py", "kraft_simulation/__init__.py"} <= paths["reference"]
    assert any(path.endswith(".tla") for path in paths["model"])
    assert not any(path.endswith(".tla") for path in paths["spec"])
    assert check_citations(load_registry()).citations


def test_the_search_for_one_rule_equals_the_search_for_all() -> None:
    """The search for one rule reads only files that contain its id literally, so no string may split the id."""
    sources = [*package_sources(), *filter(None, [reference_tests()])]
    texts = {path: file.read_text(encoding="utf-8") for source in sources for path, file in source.files()}
    citations = check_citations(load_registry(), sources).citations
    assert [str(each) for each in citations if each.rule_id not in texts[each.path]] == []
    for rule_id in ("hw.majority", "vote.log-check"):
        assert citations_of(rule_id, load_registry(), sources) == tuple(
            each for each in citations if each.rule_id == rule_id
        )
