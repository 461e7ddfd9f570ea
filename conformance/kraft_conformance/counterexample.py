"""A counterexample of TLC in words: each action, and what it changed."""

from kraft_spec.tlc.model_report import ModelCheckReport

_NEVER_CHANGES = "config"


def counterexample_lines(found: ModelCheckReport) -> list[tuple[str, list[str]]]:
    """One entry for each state: the action that led there, and the variables that it changed, `name = value`."""
    before: dict[str, str] = {}
    steps: list[tuple[str, list[str]]] = []
    for state in found.trace:
        changed = [
            f"{variable} = {text}"
            for variable, text in state.variables
            if before.get(variable) != text and variable != _NEVER_CHANGES
        ]
        steps.append((f"{state.number}. {state.action}", changed))
        before = dict(state.variables)
    return steps


def counterexample_text(found: ModelCheckReport) -> str:
    """The whole counterexample as text."""
    lines = [f"violated: {found.violated}"]
    for action, changed in counterexample_lines(found):
        lines.append(action)
        lines += [f"     {change}" for change in changed]
    if found.loop:
        lines.append(found.loop)
    return "\n".join(lines) + "\n"
