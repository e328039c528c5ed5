# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Overrides of the command line, in Hydra's grammar: `key=value`, `+key=value`, `++key=value`, `~key`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from omegaconf import DictConfig, ListConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from gym_host.config.containers import children, dotted, leaves
from gym_host.config.masking import MASK, is_secret_name, mask_text, masked
from gym_host.config.unread import meant, unread
from gym_host.errors import ConfigError
from gym_host.wording import nearest

_REFERENCE = re.compile(r"\$\{([A-Za-z_][\w.]*)\}")


@dataclass(frozen=True, slots=True)
class Override:
    """One override.

    Args:
        key: Dotted path of what is changed.
        value: The new value; of a removal the value that must be there, or None for any.
        adds: The key need not exist (`+key=value`, `++key=value`).
        removes: The key is taken away (`~key`).
    """

    key: str
    value: Any
    adds: bool = False
    removes: bool = False


def parse_overrides(texts: Iterable[str]) -> tuple[Override, ...]:
    """The overrides that the words of the command line stand for.

    Raises:
        ConfigError: A word is not an override, or stands for several values at once.
    """
    return tuple(_parsed(list(texts)))


def check_overrides(tree: DictConfig, overrides: Iterable[Override]) -> None:
    """Apply the overrides, and insist that each key is there that is changed or removed.

    A key that an interpolation refers to counts as there, since to give it is the purpose of the interpolation.

    Args:
        tree: The configuration with all inherited blocks, which is changed.
        overrides: What to apply, in order.

    Raises:
        ConfigError: A key does not exist.
    """
    for override in overrides:
        if not override.adds:
            _insist(OmegaConf.to_container(tree), override)
        apply_override(tree, override)


def apply_override(tree: DictConfig, override: Override) -> bool:
    """Apply one override, whether or not its key is there.

    Returns:
        Whether to apply it a second time does no harm: false if an item was taken out of a list, whose place has a new item now.

    Raises:
        ConfigError: The key leads through something that has no keys, or the value is malformed.
    """
    try:
        if override.removes:
            return not _remove(tree, override.key)
        OmegaConf.update(tree, override.key, override.value, force_add=True)
    except OmegaConfBaseException as error:
        raise ConfigError(f"`{override.key}` cannot be set: {str(error).splitlines()[0]}", where="command line") from None
    return True


def shown_override(text: str) -> str:
    """An override as it may be kept: if its value is a secret or holds one, by the rules of `masking`, only the key.

    Raises:
        ConfigError: It is no override.
    """
    (override,) = parse_overrides([text])
    tree: Any = override.value
    for part in reversed(override.key.split(".")):
        tree = {part: tree}
    return text if masked(tree) == tree and mask_text(text) == text else f"{text.partition('=')[0]}={MASK}"


def _parsed(texts: list[str]) -> Iterator[Override]:
    if not texts:
        return
    # Imported here since it costs 50 ms, and most commands have no overrides.
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import HydraException

    parser = OverridesParser.create()
    for text in texts:
        try:
            parsed = parser.parse_override(text)
        except HydraException:
            raise _not_an_override(text) from None  # Hydra's message shows the value, which may be secret.
        if not parsed.key_or_group or parsed.package is not None:
            raise _not_an_override(text)
        if parsed.is_sweep_override():
            raise ConfigError(f"`{_shown(text)}` stands for several values", mend=f"quote it: {_quoted(text)}")
        yield Override(parsed.key_or_group, parsed.value(), parsed.is_add() or parsed.is_force_add(), parsed.is_delete())


def _not_an_override(text: str) -> ConfigError:
    if re.fullmatch(r"[+~]{0,2}[\w.$-]+=.*", text, re.DOTALL):
        return ConfigError(f"the value in `{_shown(text)}` cannot be read", mend=f"quote it: {_quoted(text)}")
    return ConfigError(f"`{_shown(text)}` is neither a flag nor a `key=value`", mend="see `gym --help`")


def _shown(text: str) -> str:
    key, equals, value = text.partition("=")
    return f"{key}={MASK}" if equals and is_secret_name(key) else mask_text(text)


def _quoted(text: str) -> str:
    key, _, value = text.partition("=")
    value = MASK if is_secret_name(key) else mask_text(value).replace("'", r"\'")
    return f"""\"{key}='{value}'\""""


def _insist(plain: Any, override: Override) -> None:
    found, there = _look_up(plain, override.key)
    if override.removes and found and override.value not in (None, there):
        raise ConfigError(f"`{override.key}` has another value", where=f"~{override.key}=...", mend=f"write ~{override.key}")
    values = {dotted(path): leaf for path, leaf in leaves(plain)}
    if found or (not override.removes and override.key in _referred(values.values())):
        return
    close = nearest(override.key, values) or _same_ending(override.key, values) or meant(override.key, plain)
    ways = [f"did you mean `{close}`?"] if close else []
    if not override.removes and _is_read(override.key, plain):
        ways.append(f"write +{override.key}=... to add a new key")
    raise ConfigError(f"there is no key `{override.key}` in the configuration", mend=" ".join(ways) or None)


def _look_up(node: Any, key: str) -> tuple[bool, Any]:
    for part in key.split("."):
        values = {str(name): value for name, value in children(node)}
        if part not in values:
            return False, None
        node = values[part]
    return True, node


def _referred(leaves: Iterable[Any]) -> set[str]:
    return {name for leaf in leaves if isinstance(leaf, str) for name in _REFERENCE.findall(leaf)}


def _is_read(key: str, plain: Any) -> bool:
    """Whether something would read the key if it were added."""
    name = key.partition(".")[0]
    return name not in unread({**plain, name: plain.get(name, key)})


def _same_ending(key: str, leaves: Iterable[str]) -> str | None:
    last = key.rpartition(".")[2]
    endings = {leaf.rpartition(".")[2]: leaf for leaf in leaves}
    return endings.get(nearest(last, endings) or "")


def _remove(tree: DictConfig, key: str) -> bool:
    """Take a key away if it is there; whether it was an item of a list."""
    parent, _, last = key.rpartition(".")
    node = OmegaConf.select(tree, parent) if parent else tree
    if isinstance(node, DictConfig):
        for name in [name for name in node if str(name) == last]:
            del node[name]
    elif isinstance(node, ListConfig) and last.isdecimal() and int(last) < len(node):
        del node[int(last)]
        return True
    return False
