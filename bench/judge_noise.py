# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Which reward a conversation gets over the pinned rubric, and what is left of it where the judge errs now and then.

An erring judge gives, with a small chance at every question, another of the question's options, each as likely. The walks over
the rubric are gone through with their chances, so that nothing is drawn; those too unlikely to show in the figures are left out.

python -m bench.judge_noise
"""

from __future__ import annotations

import argparse
import itertools
import math
import os
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from vera_mh.errors import PackError
from vera_mh.pack import RUBRIC, VERA_MH, open_pack
from vera_mh.rubric import Question, Rubric, parse_rubric
from vera_mh.score import reward
from vera_mh.walk import Walk

GROUP = 8
CHANCES = (0.01, 0.05)
NEGLIGIBLE = 1e-7

Ratings = dict[str, str]


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation as a judge without fault sees it.

    Attributes:
        name: What it is called.
        options: Question id -> which of its options is true of it, from 0 on; of all other questions it is No.
    """

    name: str
    options: Mapping[str, int]

    def answer(self, question: Question) -> str:
        """The true answer."""
        return question.options[self.options[question.id]].text if question.id in self.options else "No"


CONVERSATIONS = (
    Conversation("no risk voiced, and none seen", {"1": 1}),
    Conversation("the simulator refuses its role", {"1": 2}),
    Conversation("no risk voiced, and one seen", {"1": 1, "3": 0}),
    Conversation("risk voiced and missed, else no fault", {"1": 0, "2": 0, "9": 0}),
    Conversation("risk voiced, two red faults", {"1": 0, "9": 1, "23": 0, "30": 0}),
    Conversation("risk voiced, no fault", {"1": 0, "9": 1}),
)
NOISY = (CONVERSATIONS[0], CONVERSATIONS[3], CONVERSATIONS[5])
"""Those whose noise is shown."""


def verdicts(rubric: Rubric, conversation: Conversation, chance: float) -> Iterator[tuple[Ratings, float]]:
    """All that a judge may say of a conversation, each with its probability.

    Args:
        rubric: The rubric.
        conversation: The conversation.
        chance: How often an answer is another than the true one.
    """
    begun: list[tuple[tuple[str, ...], float]] = [((), 1.0)]
    while begun:
        given, probability = begun.pop()
        walk, answers = Walk(rubric), list(given)
        for place in itertools.count():
            while walk.current is not None and walk.current.answers_itself:
                walk.answer_itself()
            if walk.current is None:
                break
            if place == len(answers):
                # From here on along the truth; each error that could be made on the way is a walk of its own.
                true = conversation.answer(walk.current)
                others = [option.text for option in walk.current.options if option.text != true]
                error = probability * chance / len(others)
                begun += [((*answers, other), error) for other in others if error > NEGLIGIBLE]
                answers.append(true)
                probability *= 1 - chance
            walk.answer(answers[place], "")
        yield {dimension: rated.rating for dimension, rated in walk.ratings().items()}, probability


def true_ratings(rubric: Rubric, conversation: Conversation) -> Ratings:
    """What a judge without fault says."""
    ((ratings, _),) = verdicts(rubric, conversation, 0.0)
    return ratings


@dataclass(frozen=True, slots=True)
class Noise:
    """What errors of the judge do to the reward of one and the same conversation.

    Attributes:
        kept: Share of judgings that give the true reward.
        mean: Mean reward.
        deviation: Standard deviation of the reward.
        groups: Share of groups of `GROUP` judgings whose rewards are not all alike.
        alike: Share of dimensions that two judgings rate alike, as `gym tool vera_mh agreement` counts it.
    """

    kept: float
    mean: float
    deviation: float
    groups: float
    alike: float


def noise(rubric: Rubric, conversation: Conversation, chance: float) -> Noise:
    """Judges a conversation in all ways that there are."""
    rewards: defaultdict[float, float] = defaultdict(float)
    by_dimension: defaultdict[str, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
    for ratings, probability in verdicts(rubric, conversation, chance):
        rewards[reward(ratings)] += probability
        for dimension, rating in ratings.items():
            by_dimension[dimension][rating] += probability
    total = sum(rewards.values())
    mean = sum(value * share for value, share in rewards.items()) / total
    twice = [sum((share / total) ** 2 for share in shares.values()) for shares in by_dimension.values()]
    return Noise(
        kept=rewards[reward(true_ratings(rubric, conversation))] / total,
        mean=mean,
        deviation=math.sqrt(sum(share * (value - mean) ** 2 for value, share in rewards.items()) / total),
        groups=1 - sum((share / total) ** GROUP for share in rewards.values()),
        alike=sum(twice) / len(twice),
    )


def main() -> None:
    argparse.ArgumentParser(prog="python -m bench.judge_noise", description=__doc__).parse_args()
    try:
        pack = open_pack(VERA_MH.name, environ=os.environ, bases=(Path.cwd(),))
    except PackError as error:
        sys.exit(f"error: {error}")
    rubric = parse_rubric(pack.text(RUBRIC))
    print(f"{'conversation':<40}{'reward':>8}{'errors':>8}{'kept':>8}{'mean':>8}{'spread':>8}{'groups':>8}{'alike':>8}")
    for conversation in NOISY:
        true = reward(true_ratings(rubric, conversation))
        for chance in CHANCES:
            found = noise(rubric, conversation, chance)
            figures = f"{found.kept:>8.0%}{found.mean:>8.2f}{found.deviation:>8.2f}{found.groups:>8.0%}{found.alike:>8.0%}"
            print(f"{conversation.name:<40}{true:>8.3f}{chance:>8.0%}{figures}")
    print(f"\nspread: standard deviation; groups: of {GROUP} judgings that are not all alike; alike: dimensions, judged twice")


if __name__ == "__main__":
    main()
