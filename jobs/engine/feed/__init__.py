"""The feed: events become partials.

- spark_partials: Partials by Spark's own groupBy: its passes over the events, and what our task makes of their rows.
- task: What one feed task does: read events, fold them into partials, write late events, address the partials.
"""
