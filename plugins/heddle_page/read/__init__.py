"""What the page reads.

- answers: The newest published answers of every query of a stream, for the small charts.
- batches: How far the stream is, its last batches, what is not published, which events were late, the last audits.
- catalogs: The catalog, read again only when its files have changed.
- history: What the tracking store remembers of a stream: registered plans, and the runs around them.
"""
