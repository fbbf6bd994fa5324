"""Pages of docs/ that are generated from tables.

- catalog: The generated parts of docs/catalog.md: what the tables of the code say, as a page.
- kernels: docs/kernels.md, from the techniques' cards and the operators' table: `python -m jobs.kernels.
- strategies: docs/strategies.md, from the strategies' cards: `python -m optimizer.strategies.docs` writes it out.
"""
