"""Plans of a stream: candidates, the champion, replans, queries that join and leave.

- champion: The plan in force of a stream: the champion, planned first where none fits the catalog.
- queries: Queries that join and leave a catalog while it runs: checked, written to its folder.
- replan: Replanning a stream: measure it, plan it by every strategy, compare with the champion, register and promote.
"""
