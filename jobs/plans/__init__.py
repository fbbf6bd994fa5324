"""Plans of a stream: candidates, the champion, replans, queries that join and leave.

- candidates: The plans that a replan chooses from, priced in seconds where past runs tell what operations take.
- champion: The plan in force of a stream: the champion, planned first where none fits the catalog.
- queries: Queries that join and leave a catalog while it runs: checked, written to its folder.
- replan: Replanning a stream: measure it, plan it, compare with the champion, register and promote.
"""
