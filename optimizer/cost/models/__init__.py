"""The cost models: what a set of trees costs per tick.

- cascade: Cascade: a tree reads the raw events or the partials of a tree whose edges strictly contain its own.
- tree_cost: What a cost model reads of a tree.
- tri_weave: TriWeave: one sub-aggregation at the union of all edges, whose partials every tree folds into its own.
- weave_share: WeaveShare: every tree reads the raw events (CIKM 2011). C = m * lambda + sum of E_i * Omega_i.
"""

from optimizer.cost.models import cascade, tri_weave, weave_share
from optimizer.cost.models.tree_cost import TreeCost

__all__ = ["TreeCost", "cascade", "tri_weave", "weave_share"]
