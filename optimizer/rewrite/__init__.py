"""A plan as plain Spark SQL: the sharing without the engine.

- answer_types: What is known of the answers' types without Spark.
- answers: The user's statements over the slices of their trees.
- columns: The columns of any stream and their Spark types, those of streams by SQL derived from what they read.
- finals: From what a window's slices hold to the user's aggregate, null where Spark's own is null.
- partials: Partials in SQL: per component one column, how it is made from events and how columns of it are merged.
- same_slices: Trees that would only copy the slices that feed them are joined with their feeders.
- script: The whole script: the clock, the sources, the shared views, then one statement for each of the user's.
- slicing: In which slice an event or a finer slice is, as an expression that every plain Spark has.
- sources: Streams and tables as temporary views, each after what it reads from.
- views: Trees as temporary views: slices by (keys, slice_start), with the tree's measures as columns.
"""

from __future__ import annotations

from optimizer.rewrite.answer_types import answer_types
from optimizer.rewrite.script import Script, rewrite

__all__ = ["Script", "answer_types", "rewrite"]
