"""Steps and rollouts as differentiable functions of PyTorch tensors or JAX arrays.

Each bridge needs its framework, and nothing else of robosim does: `pip install 'robosim[torch]'` or
`pip install 'robosim[jax]'`.
"""
