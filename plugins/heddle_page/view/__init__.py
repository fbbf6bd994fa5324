"""What the page shows.

- charts: The two charts, as places for their marks: savings over the versions, and estimated beside measured.
- picture: Where everything of a plan's picture stands: boxes in columns, left to right from the events.
- plan: A plan, arranged for reading: the figures, the picture, and every tree with its queries.
- run: What a run of a DAG left behind: the MLflow runs that carry its key, each with its plan.
"""
