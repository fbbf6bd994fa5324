"""What the page reads.

- answers: The newest published answers of every query of a stream, for the small charts.
- audits: The last audits: the record that each one leaves beside its page.
- batches: How far the stream is, its last batches, what is not published, and which events were late.
- catalogs: The catalog, read again only when its files have changed.
- history: What the tracking store remembers of a stream: registered plans, and the runs around them.
"""
