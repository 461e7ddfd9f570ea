"""The tables as a page of the documentation shows them: `python -m kraft_dev.pipeline_tables`."""

from kraft_traces.pipeline.schemas import RUNS, TABLES, TALLIES


def documented() -> str:
    """The tables as Markdown, for docs/pipeline.md."""
    parts: list[str] = []
    for table in (*TABLES, TALLIES, RUNS):
        parts += [f"### {table.name}", "", f"A row is {table.row}.", "", "| column | type | holds |", "|---|---|---|"]
        for column in table.columns:
            null = "; may be null" if column.nullable else ""
            kind = table.spark[column.name].dataType.simpleString()
            parts.append(f"| `{column.name}` | {kind} | {column.meaning}{null} |")
        parts.append("")
    return "\n".join(parts).rstrip("\n")


if __name__ == "__main__":
    print(documented())
