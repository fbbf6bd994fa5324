"""`make evidence`: the papers' experiments and the peers, rerun and written to docs/evidence.md.

- figure: Figure, Reading and Claim: what a part measures, and what a paper reports beside it.
- page: The sections of docs/evidence.md.
- parts: PARTS, in the order of the page, and where a finished part is kept.
- plots: A figure as an SVG file.
- readme: The figures of README.md.
- summary: The table on top of it: which of the papers' numbers hold.
"""
