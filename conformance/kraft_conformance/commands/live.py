"""`kraft-spec live`: running implementations."""

import typer

from kraft_conformance.commands import live_record

app = typer.Typer(help="Running implementations: record what passes between them, and judge it.", no_args_is_help=True)
app.command()(live_record.record)
app.command()(live_record.infer)
