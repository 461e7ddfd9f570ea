"""Files that Kafka's controllers write, known by name alone, so that nothing of Kafka's codec is imported."""

import re
from pathlib import Path

_NAME = re.compile(r"quorum-state|meta\.properties|.*\.checkpoint|(?:server|controller)\.log.*|\d{20}\.log")


def is_of_kafka(path: Path) -> bool:
    """True if a file, or one in this folder, has a name that Kafka gives."""
    names = (one.name for one in path.iterdir()) if path.is_dir() else (path.name,)
    return any(_NAME.fullmatch(name) for name in names)
