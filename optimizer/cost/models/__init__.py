"""The cost models: what a set of trees costs per tick."""

from optimizer.cost.models import cascade, tri_weave, weave_share
from optimizer.cost.models.tree_cost import TreeCost

__all__ = ["TreeCost", "cascade", "tri_weave", "weave_share"]
