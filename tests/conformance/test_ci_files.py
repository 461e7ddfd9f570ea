"""CI integrations: the GitHub action, the GitLab template, the container, the pytest plugin.

The steps of both CI files run in a shell, with the variables that the host sets.  An image is built if a builder is
available.
"""

import contextlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.conformance.adapter_builds import linked_checkout, skipped_if_missing
from tests.conformance.commands import REFERENCE, ROOT, altered, without_rule

from kraft_cli.cli import main
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.runner.output.results import suite_version
from kraft_kafka.jars import released
from kraft_kafka.releases import releases

FILES = ROOT / "conformance" / "ci"
WRONG = without_rule("prevote.follower.rejects-after-fetch")
FEW = "-k prevote.follower"


def shell(script: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a step as its host does: in bash, which stops at the first error."""
    result = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    environment = {**os.environ, "PATH": result, **variables}
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def _filled(text: str, pattern: str, inputs: Mapping[str, str]) -> str:
    """Return a text with the inputs of a job filled in."""
    return re.sub(pattern, lambda match: inputs[match[1]], text)


@pytest.mark.parametrize(("adapter", "code"), [(REFERENCE, 0), (WRONG, 1)], ids=["passes", "fails"])
def test_the_action_runs_the_vectors_and_leaves_reports(tmp_path: Path, adapter: str, code: int) -> None:
    programs = tmp_path / "kraft-spec" / "bin"
    programs.mkdir(parents=True)
    (programs / "kraft-spec").symlink_to(Path(sys.executable).parent / "kraft-spec")
    _check_reports_of_the_action(tmp_path, adapter, code)


def _check_reports_of_the_action(tmp_path: Path, adapter: str, code: int) -> None:
    """Run the step that runs the vectors, with the installation in the folder."""
    action = yaml.safe_load((FILES / "action.yml").read_text())
    step = action["runs"]["steps"][1]
    inputs = {"adapter": adapter, "suite": suite_version(), "arguments": FEW}
    variables = {name: _filled(text, r"\$\{\{ inputs\.(\w+) }}", inputs) for name, text in step["env"].items()}
    ends = {"RUNNER_TEMP": tmp_path, "GITHUB_OUTPUT": tmp_path / "out", "GITHUB_STEP_SUMMARY": tmp_path / "summary"}
    ended = shell(step["run"], tmp_path, **variables, **{name: str(path) for name, path in ends.items()})
    assert ended.returncode == code, ended.stderr
    outputs = dict(line.split("=", 1) for line in (tmp_path / "out").read_text().splitlines())
    assert set(outputs) == set(action["outputs"])
    assert all(Path(path).stat().st_size for path in outputs.values())
    assert f"suite {suite_version()}" in (tmp_path / "summary").read_text()


@pytest.mark.nightly
def test_the_action_installs_from_its_own_sources(tmp_path: Path) -> None:
    step = yaml.safe_load((FILES / "action.yml").read_text())["runs"]["steps"][0]
    installed = shell(step["run"], tmp_path, RUNNER_TEMP=str(tmp_path), PYTHON=sys.executable, SOURCES=f"{FILES}/../..")
    assert installed.returncode == 0, installed.stderr
    python = tmp_path / "kraft-spec" / "bin" / "python"
    _check_reports_of_the_action(tmp_path, f"{python} -m kraft_conformance.adapters.reference", 0)


@pytest.mark.nightly
@pytest.mark.parametrize(("adapter", "code"), [(REFERENCE, 0), (WRONG, 1)], ids=["passes", "fails"])
def test_the_job_of_gitlab_runs_the_vectors_and_leaves_reports(tmp_path: Path, adapter: str, code: int) -> None:
    head, job = yaml.safe_load_all((FILES / "gitlab.yml").read_text())
    inputs = head["spec"]["inputs"]
    values = {name: option.get("default") for name, option in inputs.items()} | {"adapter": adapter, "arguments": FEW}
    assert values["suite"] == suite_version()
    assert values["package"] == f"kraft-spec[conformance]=={suite_version()}.*"
    lines = job["kraft-conformance"]["script"]
    script = _filled("\n".join(lines), r"\$\[\[ inputs\.(\w+) ]]", values)
    ended = shell(script, tmp_path)
    assert ended.returncode == code, ended.stderr
    artifacts = job["kraft-conformance"]["artifacts"]
    assert all((tmp_path / name).stat().st_size for name in (*artifacts["paths"], artifacts["reports"]["junit"]))


@pytest.mark.nightly
def test_the_workflow_of_kafka_compares_with_the_last_night(tmp_path: Path) -> None:
    """Two nights on the jars of a release instead of a build of trunk."""
    jars = released(releases()["4.3.1"]).class_path
    for jar in jars:
        (tmp_path / jar.name).symlink_to(jar)
    workflow = yaml.safe_load((FILES / "kafka-nightly.yml").read_text())
    job = workflow["jobs"]["kraft-spec"]
    steps = {step["name"]: step["run"] for step in job["steps"] if "run" in step}
    variables = {"FINDINGS": job["env"]["FINDINGS"], "GITHUB_STEP_SUMMARY": str(tmp_path / "summary")}
    for night in ("first", "second"):
        (tmp_path / "results").mkdir()
        for name in ("Run the vectors", "Run the findings"):
            ended = shell(steps[name], tmp_path, **variables)
            assert ended.returncode == 0, (night, name, ended.stderr)
        assert (tmp_path / "results" / "report.html").stat().st_size
        # What the second night downloads.
        (tmp_path / "results").rename(tmp_path / ("last" if night == "first" else "second"))
    assert (tmp_path / "second" / "changes.md").stat().st_size
    assert "unread-voters: exit code 1" in (tmp_path / "summary").read_text()


@pytest.mark.nightly
@pytest.mark.parametrize(("pattern", "code"), [("testHandleBeginQuorumRequest$", 0), ("testNothing", 1)])
def test_the_workflow_of_kafka_judges_the_tests_of_a_checkout(tmp_path: Path, pattern: str, code: int) -> None:
    with skipped_if_missing():
        linked_checkout(tmp_path)
    steps = yaml.safe_load((FILES / "kafka-tests.yml").read_text())["jobs"]["kraft-spec"]["steps"]
    script = next(step["run"] for step in steps if step.get("name") == "Judge Kafka's tests")
    summary = tmp_path / "summary"
    ended = shell(script, tmp_path, ARGUMENTS=f"-k {pattern}", GITHUB_STEP_SUMMARY=str(summary))
    assert ended.returncode == code, ended.stderr
    assert ("2 tests of Kafka 4.3.1" in summary.read_text()) == (code == 0)


def test_the_image_is_built_and_runs() -> None:
    builders = [name for name in ("podman", "docker", "buildah") if shutil.which(name)]
    requested = {builder: subprocess.run([builder, "info"], capture_output=True, check=False) for builder in builders}
    answering = [option for option, ended in requested.items() if ended.returncode == 0]
    if not answering:
        pytest.skip(f"NO BUILDER OF IMAGES ANSWERS HERE ({', '.join(builders) or 'none installed'}): NOT BUILT")
    builder = answering[0]
    build = [builder, "build", "--quiet", "-f", str(FILES / "Containerfile"), str(ROOT)]
    image = subprocess.run(build, capture_output=True, text=True, check=True).stdout.strip()
    run = [builder, "run", "--rm", image, "--version"]
    assert subprocess.run(run, capture_output=True, text=True, check=True).stdout.startswith("kraft-spec ")


# -------------------------------------------------------------------------------------------------------------
# The plugin of pytest.
# -------------------------------------------------------------------------------------------------------------


def plugged(folder: Path, *words: str) -> tuple[int, str]:
    """Run pytest in a new folder."""
    (folder / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", "-p", "no:randomly", "-p", "no:cacheprovider", "-q", "-rs", *words]
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return ended.returncode, ended.stdout + ended.stderr


def test_each_vector_is_a_test_that_its_rule_selects(tmp_path: Path) -> None:
    rule = 'kraft_rule(id="prevote.follower.rejects-after-fetch")'
    code, printed = plugged(tmp_path, "--kraft-adapter", REFERENCE, "-m", rule, "-vv")
    assert code == 0, printed
    assert re.search(r"collected \d+ items / \d+ deselected / \d+ selected", printed)
    assert re.search(r"^kraft-spec::prevote\.follower-refuses PASSED", printed, re.MULTILINE), printed
    code, printed = plugged(tmp_path, "--kraft-adapter", WRONG, "-m", rule)
    assert code == 1
    assert "Send VoteResponse to 3.granted: expected false, actual true" in printed
    assert f"kraft-spec conformance replay prevote.follower-refuses --adapter {shlex.quote(WRONG)}" in printed


def test_what_an_adapter_does_not_show_is_skipped_with_the_reason(tmp_path: Path) -> None:
    code, printed = plugged(tmp_path, "--kraft-adapter", altered("wire"), "-k", "vote.granted")
    assert code == 0, printed
    assert "unobserved: needs observability effects, the adapter has wire" in printed


def test_without_the_option_there_are_no_vectors(tmp_path: Path) -> None:
    assert plugged(tmp_path)[0] == pytest.ExitCode.NO_TESTS_COLLECTED


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--kraft-adapter", "no-such-program"), "the adapter did not answer hello: "),
        (("--kraft-adapter", REFERENCE, "--kraft-suite", "9.9"), "--kraft-suite 9.9: this kraft-spec has the suite "),
        (("--kraft-adapter", REFERENCE, "--kraft-profile", "kafka-3"), "no vector is of the profile 'kafka-3'"),
    ],
)
def test_what_cannot_run_is_said_once(tmp_path: Path, words: tuple[str, ...], expected: str) -> None:
    code, printed = plugged(tmp_path, *words)
    assert code == pytest.ExitCode.USAGE_ERROR
    assert printed.count(expected) == 1, printed


# -------------------------------------------------------------------------------------------------------------
# SARIF.
# -------------------------------------------------------------------------------------------------------------


def test_sarif_has_a_result_for_each_failure_with_its_rule_and_a_place(tmp_path: Path) -> None:
    path = tmp_path / "r.sarif"
    words = ["conformance", "run", "--adapter", WRONG, *FEW.split(), "--sarif", str(path)]
    assert main(words) == ExitCode.VIOLATION
    document: dict[str, Any] = json.loads(path.read_bytes())
    assert document["version"] == "2.1.0"
    (run,) = document["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    first = run["results"][0]
    assert first["ruleId"] == rules[first["ruleIndex"]] == "prevote.follower.rejects-after-fetch"
    assert first["level"] == "error"
    assert first["message"]["text"].startswith("prevote.follower-refuses: ")
    assert first["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert len({result["partialFingerprints"]["vector/v1"] for result in run["results"]}) == len(run["results"])


@pytest.mark.parametrize(
    ("command", "place"),
    [
        ("./my-adapter --level wire", "my-adapter"),
        ("java -cp build Main", "java"),
        ("python 'my adapters/run me.py'", "my%20adapters/run%20me.py"),
        ("no shell's", "no"),
    ],
)
def test_the_place_is_the_first_file_of_the_command_as_a_uri(tmp_path: Path, command: str, place: str) -> None:
    kept, path = tmp_path / "r.jsonl", tmp_path / "r.sarif"
    with kept.open("w") as stream, contextlib.redirect_stdout(stream):
        main(["conformance", "run", "--adapter", WRONG, "-k", "prevote.follower-refuses", "--json"])
    first, *remaining = kept.read_text().splitlines()
    kept.write_text("\n".join([json.dumps(json.loads(first) | {"adapter": command}), *remaining]) + "\n")
    assert main(["conformance", "report", str(kept), "--sarif", str(path)]) == ExitCode.CONFORMANT
    (result,) = json.loads(path.read_bytes())["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == place
