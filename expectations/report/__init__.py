"""What an audit reports.

- audit: An audit as data: what it looked at, and its checks.
- data_docs: Data Docs that need no network: a page per audit, and the record that the list of audits reads.
"""
