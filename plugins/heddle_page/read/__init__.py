"""What the page reads.

- audits: The last audits: the record that each one leaves beside its page.
- batches: What the manifests and the ledger say: how far the stream is, its last batches.
- catalogs: The catalog, read again only when its files have changed.
- history: What the tracking store remembers of a stream: registered plans.
- late_events: Late events: how many there were, and the last of them.
- links: Where MLflow's pages are: HEDDLE_MLFLOW_UI, an address that browsers reach, or the tracking server's own.
- measured: Estimated against measured: the last evaluations, each with its two normalised throughputs.
"""
