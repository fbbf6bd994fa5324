"""What strategies search with.

- feeds: What trees cost when each reads the raw events or the partials of another, whichever is cheaper.
- greedy: The greedy loop of WeaveShare: merge the two trees whose merge saves most, until none saves anything.
- incremental: Incremental weaving: units join and leave a forest, which is woven anew when it has drifted.
- moves: Local search: move a unit to another tree or to one of its own, or merge two trees, while the cost falls.
- subset_dp: The cheapest cascade of up to 16 units, exactly, by dynamic programming over subsets.
"""
