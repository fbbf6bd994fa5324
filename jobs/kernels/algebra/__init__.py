"""Operators and how components become an answer.

- finish: Algebraic aggregates from the folds of their components, as Spark gives them: nulls and NaN included.
- operators: Partials as rows of four columns, and the one `combine` of all components.
- quotients: Quotients of whole numbers of 128 bits, rounded half away from zero, as averages of decimals are.
"""
