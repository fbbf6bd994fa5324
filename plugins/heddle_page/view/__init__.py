"""What the page shows.

- charts: The two charts, as places for their marks: savings over the versions, and estimated beside measured.
- plan: A plan, arranged for reading: the figures, the picture as SVG, and every tree with its queries.
- run: What a run of a DAG left behind: the MLflow runs that carry its key, each with its plan.
"""
