"""Plans for sliding-window aggregates: windows and edges, costs, strategies, plans."""

from optimizer.plan import Plan, Tree
from optimizer.planning import optimize
from optimizer.windows import Window, composite_slide, edge_rate, weaveability

__all__ = ["Plan", "Tree", "Window", "composite_slide", "edge_rate", "optimize", "weaveability"]
