"""Plans of a stream: candidates, the champion, replans, queries that join and leave.

- queries: Queries that join and leave a catalog while it runs: checked, written to its folder.
- replan: Replanning a stream: measure, plan by every strategy, compare, promote; and the champion that a run takes.
"""
