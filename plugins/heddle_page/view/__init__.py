"""What the page shows.

- changes: What changed from one plan to the next: queries that joined, left or moved, trees, and the cost.
- charts: The two charts, as places for their marks: savings over the versions, and estimated beside measured.
- plan: A plan, arranged for reading: the figures, the picture as boxes in boxes, and every tree with its queries.
- queries: Every query of a stream with its newest answers, its tree, its share of the cost, its last audit.
- run: What a run of a DAG left behind: the MLflow runs that carry its key, each with its plan.
"""
