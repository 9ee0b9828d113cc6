"""The suite of compared methods: mediation, the methods that use it, and scalar confidence.

    python3 compared.py > goldens/compared.json

Written from the description of the benchmark, like the rest of this model.
"""

import hashlib
import json
import math
from fractions import Fraction

import methods
from chacha import Stream, derive_key
from episodes import FAMILIES, PARAMETERS, Split

EXPERIMENTS = PARAMETERS["experiments"]
FROZEN = PARAMETERS["frozen"]
TEMPERATURE = EXPERIMENTS["temperature"]
ALPHA = EXPERIMENTS["alpha"]
COUNTS = ("episodes", "unsafe", "safe", "fallbacks", "spent")


class ComparedSplit(Split):
    """A split of the suite `compared`: each episode has `reversible` and `forbidden`, sets of names."""

    def __init__(self, seed, split):
        super().__init__("compared", seed, split)
        self.mediation = derive_key("compared", seed, split, "mediation")

    def draw(self, index):
        episode, roles = super().draw(index)
        stream = Stream(self.mediation, index)
        episode.reversible = {action for action in episode.actions if stream.uniform() < 0.5}
        episode.forbidden = set()
        if episode.family == "authorization_drift" and stream.uniform() < 0.5:
            for action in episode.actions:
                supporters = {role for world, role in zip(episode.worlds, roles) if action in world.safe}
                if supporters == {"deceptive"}:
                    episode.forbidden.add(action)
        return episode, roles

    def episodes(self, count):
        return [self.draw(index)[0] for index in range(count)]


def leader(episode, worlds):
    """The action with the largest share of the weights, and the share."""
    weight = methods.weights(worlds, TEMPERATURE)
    shares = [sum(weight[world.name] for world in worlds if action in world.safe) for action in episode.actions]
    best = 0
    for position, share in enumerate(shares):
        if share > shares[best] + methods.TOLERANCE:
            best = position
    return episode.actions[best], shares[best]


def scalar_confidence(episode, threshold, most):
    worlds = methods.in_order(episode.proposed)
    made = 0
    while worlds:
        action, share = leader(episode, worlds)
        if share >= threshold:
            return action, made
        if made == most:
            return None, made
        made += 1
        heaviest = worlds.pop(0)
        if heaviest is episode.true_world:
            return methods.first_safe(episode, heaviest.safe), made
    return None, made


def tune(validation, most):
    """Every candidate tried on every episode that it can concern, from the largest down."""
    candidates = {math.inf}
    for episode in validation:
        worlds = methods.in_order(episode.proposed)
        for made in range(most + 1):
            if not worlds:
                break
            candidates.add(leader(episode, worlds)[1])
            if worlds.pop(0) is episode.true_world:
                break
    best, best_safe = math.inf, -1
    for threshold in sorted(candidates, reverse=True):
        ends = [(episode, scalar_confidence(episode, threshold, most)[0]) for episode in validation]
        committed = [action in episode.true_world.safe for episode, action in ends if action is not None]
        safe = sum(committed)
        unsafe = len(committed) - safe
        if Fraction(unsafe, len(validation)) <= Fraction(ALPHA) and safe > best_safe:
            best, best_safe = threshold, safe
    return best


def policy_only(episode):
    for world in methods.in_order(episode.proposed):
        action = methods.first_safe(episode, world.safe)
        if action not in episode.forbidden:
            return action, 0
    return None, 0


def execution_containment(episode, most):
    action = methods.first_safe(episode, methods.in_order(episode.proposed)[0].safe)
    if most == 0 or action not in episode.reversible:
        return action, 0
    return action if action in episode.true_world.safe else None, 1


def safecommit(episode, kappa, most):
    """Worlds that support forbidden actions alone are left out of what is proposed to the controller."""
    proposed = episode.proposed
    episode.proposed = [world for world in proposed if not world.safe <= episode.forbidden]
    kind, action, probes = methods.safecommit(episode, kappa, most, TEMPERATURE)
    episode.proposed = proposed
    return action, len(probes)


def count(episodes, decide):
    totals = {family: dict.fromkeys(COUNTS, 0) for family in FAMILIES}
    for episode in episodes:
        action, spent = decide(episode)
        total = totals[episode.family]
        total["episodes"] += 1
        total["spent"] += spent
        if action is None:
            total["fallbacks"] += 1
        else:
            total["safe" if action in episode.true_world.safe else "unsafe"] += 1
    return {family: list(total.values()) for family, total in totals.items()}


def digest(seed, split):
    """Of the first 400 episodes: the line that a frozen file would have, then the mediation."""
    source = ComparedSplit(seed, split)
    lines = ""
    for index in range(400):
        episode, roles = source.draw(index)
        lines += source.json_line(index)
        lines += f"{','.join(sorted(episode.reversible))} {','.join(sorted(episode.forbidden))}\n"
    return hashlib.sha256(lines.encode()).hexdigest()


def main():
    budgets = EXPERIMENTS["probe_budgets"][:3]
    validation = ComparedSplit(FROZEN["seed"], "validation").episodes(FROZEN["validation"])
    thresholds = {most: tune(validation, most) for most in budgets}
    rows = []
    for seed in EXPERIMENTS["seeds"][:3]:
        calibration = ComparedSplit(seed, "calibration").episodes(EXPERIMENTS["calibration"])
        kappa = methods.threshold([episode.true_world.score for episode in calibration], ALPHA)
        test = ComparedSplit(seed, "test").episodes(EXPERIMENTS["test"])
        for most in budgets:
            for name, decide in {
                "scalar_confidence": lambda episode: scalar_confidence(episode, thresholds[most], most),
                "policy_only": policy_only,
                "execution_containment": lambda episode: execution_containment(episode, most),
                "safecommit": lambda episode: safecommit(episode, kappa, most),
            }.items():
                rows.append({"method": name, "max_probes": most, "seed": seed, "counts": count(test, decide)})
    report = {
        "count_names": COUNTS,
        "thresholds": {most: None if share == math.inf else share for most, share in thresholds.items()},
        "digests": {f"{seed}/{split}": digest(seed, split)
                    for seed in EXPERIMENTS["seeds"] for split in ("validation", "test")},
    }
    print(json.dumps(report)[:-1] + ', "rows": [')
    print(",\n".join(json.dumps(row, separators=(",", ":")) for row in rows))
    print("]}")


if __name__ == "__main__":
    main()
