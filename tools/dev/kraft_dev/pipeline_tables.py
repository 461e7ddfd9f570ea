"""Tables of the pipeline for the documentation: `python -m kraft_dev.pipeline_tables`."""

from kraft_dev.markdown import code, table
from kraft_pipeline.schemas import RUNS, TABLES, TALLIES


def tables_markdown() -> str:
    """Return the tables as Markdown, for docs/pipeline.md."""
    parts: list[str] = []
    for of in (*TABLES, TALLIES, RUNS):
        rows = [
            (
                code(column.name),
                of.spark[column.name].dataType.simpleString(),
                f"{column.meaning}{'; may be null' if column.nullable else ''}",
            )
            for column in of.columns
        ]
        parts += [f"### {of.name}", "", f"A row is {of.row}.", "", *table(("column", "type", "holds"), rows), ""]
    return "\n".join(parts).rstrip("\n")


if __name__ == "__main__":
    print(tables_markdown())
