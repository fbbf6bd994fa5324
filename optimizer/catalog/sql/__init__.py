"""Texts of SQL: expressions, names, durations, what is allowed.

- column_names: The name Spark itself gives a column that has no alias.
- durations: Durations, as Spark writes them ('1 minute 30 seconds', 'INTERVAL 5 MINUTES') and short ('90s').
- expressions: Expressions: parsed, checked against the allow list, and printed again from the tree.
- filters: FILTER as the arguments of aggregates have it: a CASE that is null for every other event.
- grammar: Spark's grammar: what binds tighter, what a literal is; and the allow list: what is not there is refused.
"""
