"""Steps and rollouts as functions of frameworks that differentiate: `robosim.bridges.torch` and
`robosim.bridges.jax`.

Each needs its framework, and nothing else of robosim does: `pip install 'robosim[torch]'` or
`pip install 'robosim[jax]'`.
"""
