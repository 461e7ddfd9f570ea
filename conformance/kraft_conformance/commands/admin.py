"""`kraft-spec admin`: Kafka's own tools, on simulated clusters in a folder."""

import typer

from kraft_conformance.commands import features, quorum, reassign, storage, topics

app = typer.Typer(help="Kafka's own tools, on a simulated cluster in a folder.", no_args_is_help=True)
app.add_typer(storage.app, name="storage")
app.add_typer(quorum.app, name="quorum")
app.add_typer(features.app, name="features")
app.add_typer(topics.app, name="topics")
app.add_typer(reassign.app, name="reassign")
