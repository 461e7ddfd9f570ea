"""The stage `report`: the tables in figures, as JSON and as one page that needs nothing else to be looked at."""

from typing import Any

FORMAT = "kraft-pipeline-report/1"

Document = dict[str, Any]
"""The figures of a report."""
