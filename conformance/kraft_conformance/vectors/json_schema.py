"""The JSON Schemas of the vectors, one for each subject, generated from the types and kept in the package.

`python -m kraft_conformance.vectors.json_schema FOLDER` writes them anew, and a test holds them to the types.
"""

from functools import partial

from kraft_conformance.protocol.features import Subject
from kraft_conformance.vectors.format import SCHEMA, Vector
from kraft_conformance.vectors.partitions.format import PARTITION_SCHEMA, PartitionVector
from kraft_traces.committed_schema import CommittedSchema, body_of, write_schemas


def _schema(name: str, kind: type) -> CommittedSchema:
    return CommittedSchema(name, f"A {name}", "kraft_conformance", "vectors/schema", partial(body_of, kind))


VECTOR_SCHEMAS: dict[Subject, CommittedSchema] = {
    "replica": _schema(SCHEMA, Vector),
    "partitions": _schema(PARTITION_SCHEMA, PartitionVector),
}
"""The schema of a vector, by the subject."""


if __name__ == "__main__":
    write_schemas(*VECTOR_SCHEMAS.values())
