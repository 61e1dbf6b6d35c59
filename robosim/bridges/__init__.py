"""Steps and rollouts as differentiable functions of PyTorch (`robosim.bridges.torch`) and JAX
(`robosim.bridges.jax`).

Each bridge needs its framework, and nothing else of robosim does: `pip install 'robosim[torch]'` or
`pip install 'robosim[jax]'`.
"""
