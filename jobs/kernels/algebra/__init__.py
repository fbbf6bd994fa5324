"""Operators and how components become an answer.

- finish: Algebraic aggregates from the folds of their components, as Spark gives them; quotients of 128 bits.
- operators: Partials as rows of four columns, and the one `combine` of all components.
"""
