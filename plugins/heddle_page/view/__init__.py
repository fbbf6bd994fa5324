"""What the page shows.

- history: The plans of a stream over time: what changed from one to the next, and two charts.
- plan: A plan, arranged for reading: the figures, the picture as boxes in boxes, and every tree with its queries.
- queries: Every query of a stream with its newest answers, its tree, its share of the cost, its last audit.
- run: What a run of a DAG left behind: the MLflow runs that carry its key, each with its plan.
"""
