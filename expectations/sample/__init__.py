"""What an audit looks at: statements, windows, late events.

- late_events: Which windows missed which late events, so that plain Spark can leave them out, too.
- statements: What is audited: the statements of a stream, with what tells their answers apart.
- windows: Which windows an audit looks at: a seeded sample of those emitted, and a few that should be there.
"""
