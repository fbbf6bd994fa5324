"""What a stream is like: rate, keys, recent events.

- machine_prices: The prices of this machine: what `heddle calibrate` measured.
- recent_events: What a stream's newest events say of its keys and predicates, for the planner.
- stream: What a stream is like: events per second, keys of a slice, disorder; its newest events, by Spark if need be.
"""
