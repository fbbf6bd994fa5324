"""Whole random cases, each held against the slow and obvious oracle: `make fuzz MINUTES=n SEED=s`.

- case: One case: events, names, batches, queries, plans; how it is evaluated, checked and written down.
- coverage: Which features the cases had, and which pairs of them have met.
"""
