"""Work spread over tasks: the largest pieces first, so that the last to end is a small one."""

from typing import Any

from pyspark.sql import Window
from pyspark.sql import functions as sf

from kraft_traces.pipeline.session import parallelism

TASKS_PER_CORE = 8
"""More tasks than cores, so that a core which is done early finds another one."""

BUCKET = "bucket"


def buckets_for(session: Any, pieces: int) -> int:
    """Into how many tasks so many pieces are spread."""
    return max(1, min(pieces, parallelism(session) * TASKS_PER_CORE))


def spread(pieces: Any, weight: str, key: str, buckets: int) -> Any:
    """The pieces with a column `bucket`, from 0; which bucket holds what follows from the pieces alone.

    Args:
        pieces: a DataFrame of a size that one machine can sort.
        weight: column with the cost of a piece.
        key: column that tells the pieces apart, for those of the same cost.
        buckets: how many there should be; a piece larger than its share leaves some of them empty.
    """
    largest_first = Window.orderBy(sf.col(weight).desc(), sf.col(key))
    everything = Window.partitionBy()
    cost = sf.greatest(sf.col(weight), sf.lit(1))
    before = sf.sum(cost).over(largest_first.rowsBetween(Window.unboundedPreceding, Window.currentRow)) - cost
    share = sf.greatest(sf.sum(cost).over(everything) / sf.lit(buckets), sf.lit(1.0))
    return pieces.withColumn(BUCKET, sf.floor(before / share).cast("int"))


def in_chunks(pieces: Any, weight: str, key: str, chunk_weight: int) -> Any:
    """The pieces with a column `chunk`, from 0 without gaps, each of about `chunk_weight`, or of one large piece."""
    largest_first = Window.orderBy(sf.col(weight).desc(), sf.col(key))
    cost = sf.greatest(sf.col(weight), sf.lit(1))
    before = sf.sum(cost).over(largest_first.rowsBetween(Window.unboundedPreceding, Window.currentRow)) - cost
    numbered = pieces.withColumn("_before", sf.floor(before / sf.lit(chunk_weight)))
    dense = sf.dense_rank().over(Window.orderBy("_before")) - sf.lit(1)
    return numbered.withColumn("chunk", dense.cast("int")).drop("_before")
