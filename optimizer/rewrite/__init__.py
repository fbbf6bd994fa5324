"""A plan as plain Spark SQL: the sharing without the engine.

- answer_types: The types of a stream's columns and answers, as far as they are known without Spark.
- covers: Windows that read the results of others: the overlapping windows of the factor-windows paper, as views.
- partials: Slices and their partials in Spark SQL: made from events, merged, and finished. The frame lane's, too.
- script: The whole script: the clock, the sources, the shared views, then one statement for each of the user's.
- streaming: The plan as a program of chained Structured Streaming queries.
- views: Streams, tables and trees as temporary views.
"""

from __future__ import annotations

from optimizer.rewrite.answer_types import answer_types
from optimizer.rewrite.script import Script, rewrite
from optimizer.rewrite.streaming import StreamingScript, rewrite_streaming

__all__ = ["Script", "StreamingScript", "answer_types", "rewrite", "rewrite_streaming"]
