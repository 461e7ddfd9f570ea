"""Names of the files that Kafka's controllers write; importing this loads nothing of Kafka's codec."""

import re
from pathlib import Path

_NAME = re.compile(r"quorum-state|meta\.properties|.*\.checkpoint|(?:server|controller)\.log.*|\d{20}\.log")


def is_of_kafka(path: Path) -> bool:
    """True if a file, or a file in this folder, has a name that Kafka gives."""
    names = (child.name for child in path.iterdir()) if path.is_dir() else (path.name,)
    return any(_NAME.fullmatch(name) for name in names)
