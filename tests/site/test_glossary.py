"""Words that the glossary attributes to the model occur in the model."""

import re
from pathlib import Path

GLOSSARY = Path("docs/glossary.md")
MODEL = Path("spec/kraft_spec/tla")


def words_of_the_model() -> set[str]:
    glossary = GLOSSARY.read_text(encoding="utf-8").partition("\n## Kafka, Raft and the model\n")[2]
    rows = [line.split("|") for line in glossary.splitlines() if line.startswith("|")]
    assert rows[0][3].strip() == "in the model"
    return {word for row in rows[2:] for word in re.findall(r"`([^`]+)`", row[3])}


def test_the_model_has_them() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in sorted(MODEL.glob("*.tla")))
    words = words_of_the_model()
    assert len(words) > 25
    missing = {word for word in words if not re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) and word not in FILES}
    assert missing == set()


FILES = {path.stem for path in MODEL.glob("*.tla")}
