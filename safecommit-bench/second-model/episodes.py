"""Episodes: drawn from the generator's description, or read from frozen JSON lines."""

import json
import math
import pathlib
import tomllib
from decimal import Decimal

from chacha import Stream, derive_key

DATA = pathlib.Path(__file__).parent.parent / "data"
PARAMETERS = tomllib.loads((DATA / "parameters.toml").read_text())
FAMILIES = ["stale", "conflict", "poison", "authorization_drift"]


class World:
    """A world; `score` in millionths."""

    def __init__(self, name, position, score, safe):
        self.name = name
        self.position = position
        self.score = score
        self.safe = safe


class Episode:
    def __init__(self, name, family, actions, worlds, proposed, probes, true_world, policy):
        self.name = name
        self.family = family
        self.actions = actions          # names, in order
        self.worlds = worlds            # in order of position
        self.proposed = proposed        # worlds
        self.probes = probes            # name of the world asked about -> (probe name, cost)
        self.true_world = true_world    # a world
        self.policy = policy            # stream for a method's own choices

    def without_true_world(self):
        """The same episode, with a proposal that misses the true world."""
        return Episode(
            self.name, self.family, self.actions, self.worlds,
            [world for world in self.proposed if world is not self.true_world],
            {asked: probe for asked, probe in self.probes.items() if asked != self.true_world.name},
            self.true_world, self.policy)


def to_millionths(score):
    """Clip to [0, 1], then round; halves go up, which is away from zero."""
    millionths = min(max(score, 0.0), 1.0) * 1e6
    whole = math.floor(millionths)
    return whole + (1 if millionths - whole >= 0.5 else 0)


class Split:
    """The episodes of one split of one suite."""

    def __init__(self, suite, seed, split):
        self.split = split
        self.keys = {
            purpose: derive_key(suite, seed, split, purpose)
            for purpose in ("worlds", "components", "proposal", "policy")
        }

    def draw(self, index):
        """The episode at an index, with the role of each world."""
        law = PARAMETERS["generator"]
        family = FAMILIES[index % 4]
        f = law["family"][family]
        stream = Stream(self.keys["worlds"], index)
        least, most = law["worlds"]["min"], law["worlds"]["max"]
        count = least + stream.below(most - least + 1)
        right = stream.below(law["actions"])
        score = to_millionths(stream.normal(f["true_mean"], f["true_sd"]))
        drawn = [("true_world", score, right)]
        for distractor in range(1, count):
            if distractor == 1 or stream.uniform() < f["extra_deceptive"]:
                role, mean, sd = "deceptive", f["deceptive_mean"], f["deceptive_sd"]
                same = f["deceptive_same"]
            else:
                role, mean, sd = "background", law["background_mean"], law["background_sd"]
                same = f["background_same"]
            score = to_millionths(stream.normal(mean, sd))
            if stream.uniform() < same:
                action = right
            else:
                others = [(right + step) % law["actions"] for step in range(1, law["actions"])]
                action = others[stream.below(len(others))]
            drawn.append((role, score, action))
        for upper in range(count - 1, 0, -1):
            lower = stream.below(upper + 1)
            drawn[upper], drawn[lower] = drawn[lower], drawn[upper]

        worlds = [
            World(f"w{position}", position, score, {f"a{action}"})
            for position, (role, score, action) in enumerate(drawn)
        ]
        roles = [role for role, score, action in drawn]
        episode = Episode(
            f"{self.split}-{index:06}", family,
            [f"a{action}" for action in range(law["actions"])],
            worlds, list(worlds),
            {world.name: (f"p{world.position}", law["probe_cost"]) for world in worlds},
            worlds[roles.index("true_world")],
            Stream(self.keys["policy"], index))
        return episode, roles

    def proposal_uniform(self, index):
        """The proposal misses the true world if this is below the miss probability."""
        return Stream(self.keys["proposal"], index).uniform()

    def json_line(self, index):
        """The episode as a line of a frozen file."""
        episode, roles = self.draw(index)
        stream = Stream(self.keys["components"], index)
        weights = PARAMETERS["generator"]["components"]
        worlds = []
        for world, role in zip(episode.worlds, roles):
            shares = []
            for term in range(4):
                telling = term == FAMILIES.index(episode.family)
                m = weights[role]["telling" if telling else "other"]
                shares.append(m * (0.5 + stream.uniform()))
            total = shares[0] + shares[1] + shares[2] + shares[3]
            terms = [math.floor(world.score * share / total) for share in shares[:3]]
            terms.append(world.score - sum(terms))
            worlds.append(
                f'{{"id":"{world.name}","score":{world.score / 1e6:.6f},'
                f'"safe":{compact(sorted(world.safe))},'
                f'"components":[{",".join(f"{term / 1e6:.6f}" for term in terms)}]}}')
        probes = [
            {"id": probe, "cost": cost, "asks": asked}
            for asked, (probe, cost) in episode.probes.items()
        ]
        return (
            f'{{"id":"{episode.name}","family":"{episode.family}",'
            f'"actions":{compact(episode.actions)},"worlds":[{",".join(worlds)}],'
            f'"proposed":{compact([world.name for world in episode.proposed])},'
            f'"probes":{compact(probes)},"true_world":"{episode.true_world.name}"}}\n')


def compact(value):
    return json.dumps(value, separators=(",", ":"))


def read_frozen(split, directory=DATA / "controlled"):
    """The episodes of a frozen split, from its file."""
    seed = json.loads((directory / "manifest.json").read_text())["seed"]
    policy = derive_key("frozen", seed, split, "policy")
    episodes = []
    for index, line in enumerate((directory / f"{split}.jsonl").read_text().splitlines()):
        row = json.loads(line, parse_float=Decimal)
        worlds = {
            world["id"]: World(world["id"], at, int(world["score"] * 10**6), set(world["safe"]))
            for at, world in enumerate(row["worlds"])
        }
        episodes.append(Episode(
            row["id"], row["family"], row["actions"], list(worlds.values()),
            [worlds[name] for name in row["proposed"]],
            {probe["asks"]: (probe["id"], float(probe["cost"])) for probe in row["probes"]},
            worlds[row["true_world"]],
            Stream(policy, index)))
    return episodes
