"""The first run: events, a peer to compare with, and the screen at its end.

- world: What the first run works on: a catalog, two streams of generated events, and a reserve that arrives later.
- plain_spark: Plain Spark on a few of the queries, over a slice of the events: a process of its own, which is measured.
- outcome: What the first run has done, and the screen that shows it.
"""
