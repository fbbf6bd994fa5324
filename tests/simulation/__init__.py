"""The commit protocol under a deterministic scheduler: `make simulate MINUTES=n SEED=s`.

Runs, audits, deliveries, operators and readers are the product's own code over a storage in memory. Before and after
every storage operation any other of them may go on, or the process may die; a seed decides, and replays exactly.

- memory_storage: A storage in memory, every operation of which is a step at which processes change, die or repeat.
- plans: The plans of an episode's stream: few queries, woven in several ways.
- tasks: Tasks as simple as they get: events become slices, slices become windows.
- sinks: A sink in memory.
- episode: One stream from its first file to its last, all that happens to it on the way, and what must hold.
"""
