"""The feed: events become partials.

- partials: Events become partials: one per key and slice, or one per event where windows are in rows.
- spark_partials: Partials by Spark's own groupBy: its passes over the events, and what our task makes of their rows.
- task: What one feed task does: read events, fold them into partials, write late events, address the partials.
"""
