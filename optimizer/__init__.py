"""Plans for sliding-window aggregates: windows and edges, costs, strategies, plans.

- errors: What is wrong with one field, before anyone knows which file and line it stands on.
- algebra: What aggregates and techniques are, as data.
- catalog: What the user wrote (YAML, Spark SQL, bulk files), understood: typed streams and queries.
- cost: What a plan costs: Omega of every technique, the cost models, calibration.
- plan: A plan as data, and what reads it.
- planning: From windows or a stream's catalog to a plan.
- rewrite: A plan as plain Spark SQL: the sharing without the engine.
- strategies: The strategies: one file each, and one line here.
- windows: Windows, their edges, and how edges are counted.
- workloads: The workloads of the papers, deterministic by seed: as windows in memory, or as catalogs.
"""

from optimizer.plan.definition import Plan, Tree
from optimizer.planning.windows import optimize
from optimizer.windows import Window, composite_slide, edge_rate, weaveability

__all__ = ["Plan", "Tree", "Window", "composite_slide", "edge_rate", "optimize", "weaveability"]
