"""What an audit reports.

- audit: An audit and its checks, as data.
- data_docs: Data Docs that need no network: one page per audit, with every check and the rows that failed it.
- records: The record that an audit leaves beside its page, for whoever lists audits.
"""
