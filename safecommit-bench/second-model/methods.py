"""The paper's five methods and the split-conformal threshold, by the plainest route.

A decision is a triple (kind, action or None, names of the probes made).
"""

import math
from fractions import Fraction

INFINITE = math.inf
TOLERANCE = 1e-12


def rank(n, alpha):
    """ceil((n + 1)(1 - alpha)), exactly; alpha is a decimal text."""
    return math.ceil((n + 1) * (1 - Fraction(alpha)))


def threshold(scores, alpha):
    """Split-conformal threshold in millionths: the score of that rank, infinite if there is none."""
    r = rank(len(scores), alpha)
    return sorted(scores)[r - 1] if r <= len(scores) else INFINITE


def in_order(worlds):
    """By score, ties by position."""
    return sorted(worlds, key=lambda world: (world.score, world.position))


def first_safe(episode, safe):
    """The first action, in the episode's order, of a set."""
    return next(action for action in episode.actions if action in safe)


def retained(episode, kappa):
    return [world for world in episode.proposed if world.score <= kappa]


def follow(episode, world, probes=()):
    """Act on one world."""
    if not world.safe:
        return "escalate", None, list(probes)
    return "commit", first_safe(episode, world.safe), list(probes)


def fall_back(episode, worlds, probes=()):
    hopeless = worlds and not any(world.safe for world in worlds)
    return "abstain" if hopeless else "escalate", None, list(probes)


def single_world(episode):
    if not episode.proposed:
        return fall_back(episode, [])
    return follow(episode, in_order(episode.proposed)[0])


def generic_one_probe(episode, kappa):
    worlds = retained(episode, kappa)
    worlds.sort(key=lambda world: world.position)
    if not worlds:
        return fall_back(episode, worlds)
    probed = worlds[episode.policy.restart().below(len(worlds))]
    probes = [episode.probes[probed.name][0]]
    if probed is episode.true_world:
        return follow(episode, probed, probes)
    rest = [world for world in worlds if world is not probed]
    if not rest:
        return fall_back(episode, rest, probes)
    return follow(episode, in_order(rest)[0], probes)


def conflict_gap(episode, kappa):
    """How far the best retained world of another action lies behind the best world; None without such a world."""
    if not episode.proposed:
        return None
    best = in_order(episode.proposed)[0]
    rivals = [world.score for world in retained(episode, kappa) if world.safe != best.safe]
    return min(rivals) - best.score if rivals else None


def conflict_abstention(episode, kappa, margin):
    gap = conflict_gap(episode, kappa)
    if gap is not None and gap <= margin:
        return fall_back(episode, retained(episode, kappa))
    return single_world(episode)


def tune_margin(episodes, kappa, alpha):
    """The margin of the highest success rate among those whose unsafe rate is at most alpha."""
    cases = []
    for episode in episodes:
        kind, action, probes = single_world(episode)
        cases.append((conflict_gap(episode, kappa), action in episode.true_world.safe))
    best_margin, best_successes = INFINITE, -1
    for margin in sorted({gap for gap, safe in cases if gap is not None} | {INFINITE}):
        committed = [safe for gap, safe in cases if gap is None or gap > margin]
        successes = sum(committed)
        unsafe = len(committed) - successes
        # Margins ascend, so that >= leaves the largest of those that tie.
        if Fraction(unsafe, len(episodes)) <= Fraction(alpha) and successes >= best_successes:
            best_margin, best_successes = margin, successes
    return best_margin


def certified(worlds):
    """The actions that are safe in every world; none if there is no world."""
    return set.intersection(*(world.safe for world in worlds)) if worlds else set()


def weights(worlds, temperature):
    raw = {world.name: math.exp(-(world.score / 1e6) / temperature) for world in worlds}
    total = sum(raw.values())
    return {name: weight / total for name, weight in raw.items()}


def least_blocked(episode, worlds, weight):
    """min over actions of the weight of the worlds in which the action is unsafe."""
    blocked = {action: 0.0 for action in episode.actions}
    for world in worlds:
        for action in episode.actions:
            if action not in world.safe:
                blocked[action] += weight[world.name]
    return min(blocked.values())


def shrinkage(episode, worlds, weight, asked):
    """Expected certificate shrinkage of asking whether one world is the true one (Eq. 12)."""
    outcomes = {"yes": [], "no": []}
    for world in worlds:
        outcomes["yes" if world is asked else "no"].append(world)
    after = sum(least_blocked(episode, part, weight) for part in outcomes.values())
    return least_blocked(episode, worlds, weight) - after


def safecommit(episode, kappa, max_probes, temperature=0.25):
    worlds = retained(episode, kappa)
    made = []
    while True:
        safe = certified(worlds)
        if safe:
            return "commit", first_safe(episode, safe), made
        if not worlds or len(made) == max_probes:
            return fall_back(episode, worlds, made)
        weight = weights(worlds, temperature)
        chosen, best = None, -INFINITE
        for world in in_order(worlds):
            if world.name in episode.probes:
                value = shrinkage(episode, worlds, weight, world) / episode.probes[world.name][1]
                if value > best + TOLERANCE:
                    chosen, best = world, value
        if chosen is None or best <= TOLERANCE:
            return fall_back(episode, worlds, made)
        made.append(episode.probes[chosen.name][0])
        if chosen is episode.true_world:
            worlds = [chosen]
        else:
            worlds = [world for world in worlds if world is not chosen]
