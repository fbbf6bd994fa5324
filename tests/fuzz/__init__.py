"""Whole random cases, each held against the slow and obvious oracle: `make fuzz MINUTES=n SEED=s`.

- case: One case: events, names, batches, queries, plans; how it is evaluated, checked and written down.
- odd_files: Files of events in the odd ways that writers have: dictionaries, row groups, kinds of text, narrower types.
- whole_case: A whole case as plain data: files of odd events, statements in SQL, and how they are evaluated.
- draw_case: Draws whole cases from a seed.
- against_spark: Holds a whole case against plain Spark: the user's own SQL over the same files.
- against_others: Holds cases against DuckDB and polars, where they mean what Spark means.
- shrink: Makes a wrong case small.
- coverage: Which features the cases had, and which pairs of them have met.
"""
