"""What a stream is like: rate, keys, recent events.

- machine_prices: The prices of this machine: what `heddle calibrate` measured.
- recent_events: What a stream's newest events say of its keys and predicates, for the planner.
- recent_on_spark: The newest events of a stream, read as fits it: by this process.
- stream: What a stream is like: events per second, keys active in a slice, how far events are out of order.
"""
