"""The feed: events become partials.

- late: Late events: those that arrived after some of their windows were emitted.
- row_windows: Feed of windows in rows: every event becomes a partial of its own.
- spark_partials: Events that Spark has aggregated already: their partials, folded into the trees of the grouping.
- spark_pass: Aggregation: one pass of Spark's own groupBy over the events of a grouping.
- task: What one feed task does: read events, fold them into partials, set late events apart, address the partials.
- time_windows: Feed: events become partials, one per key and slice of every tree that reads raw events.
"""
