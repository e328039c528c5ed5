# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""`_inherit_from: other`: an instance that starts as a copy of another one's block, with its own block merged over it.

`_copy: other` is the same. (NVIDIA's host takes the inherited instance away and keeps a copied one; here both stay.)
"""

from __future__ import annotations

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from gym_host.config.containers import clash, dotted
from gym_host.errors import ConfigError
from gym_host.wording import suggestion

_WORDS = ("_inherit_from", "_copy")


def expand_inheritance(tree: DictConfig) -> None:
    """Replace each top-level block that inherits by the whole block, in place.

    Args:
        tree: The merged configuration, unresolved. Interpolations stay as they are.

    Raises:
        ConfigError: The inherited instance does not exist, or instances inherit from each other in a circle.
    """
    for name in list(tree):
        _expand(tree, str(name), ())


def _expand(tree: DictConfig, name: str, inheriting: tuple[str, ...]) -> None:
    block = _blocks(tree).get(name)
    word = next((word for word in _WORDS if block is not None and word in block), None)
    if block is None or word is None:
        return
    if name in inheriting:
        circle = " -> ".join((*inheriting[inheriting.index(name) :], name))
        raise ConfigError("instances inherit from each other in a circle", where=circle)
    other = str(block[word])
    if other not in _blocks(tree):
        known = [known for known in _blocks(tree) if known != name]
        raise ConfigError(
            f"`{name}` inherits from `{other}`, which no file defines", where=f"{name}.{word}", mend=suggestion(other, known)
        )
    _expand(tree, other, (*inheriting, name))
    own = block.copy()
    del own[word]
    try:
        tree[name] = OmegaConf.merge(tree[other], own)
    except OmegaConfBaseException as error:
        place = dotted(clash(OmegaConf.to_container(tree[other]), OmegaConf.to_container(own)) or ())
        raise ConfigError(
            f"`{place}` is a list in one of `{name}` and `{other}` and a mapping in the other", where=name
        ) from error


def _blocks(tree: DictConfig) -> dict[str, DictConfig]:
    return {str(name): block for name, block in tree.items_ex(resolve=False) if isinstance(block, DictConfig)}
