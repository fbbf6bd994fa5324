"""Texts of SQL: expressions, names, durations, what is allowed.

- allowed: The allow list: what an expression of a catalog may be made of. What is not here never reaches Spark.
- column_names: The name Spark itself gives a column that has no alias.
- durations: Durations, as Spark writes them ('1 minute 30 seconds', 'INTERVAL 5 MINUTES') and short ('90s').
- expressions: Expressions: parsed, checked against the allow list, and printed again from the tree.
- filters: FILTER as the arguments of aggregates have it: a CASE that is null for every other event.
- grammar: Spark's grammar of expressions: what binds tighter than what, and what a literal is.
"""
