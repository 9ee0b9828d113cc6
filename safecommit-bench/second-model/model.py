"""An independent second model of the controlled benchmark, on the standard library alone.

    python3 model.py                     counts of all experiments, as JSON
    python3 model.py --seeds 1 --episodes 400
    python3 model.py --digests           SHA-256 of what generator and methods give
    python3 model.py --decisions SPLIT METHOD ALPHA BUDGET
                                         one decision a line for a frozen split

Written from the description of the benchmark, not from the Rust code, and by other algorithms.
"""

import argparse
import hashlib
import json
import sys
import time

import methods
from episodes import FAMILIES, PARAMETERS, Split, compact, read_frozen

EXPERIMENTS = PARAMETERS["experiments"]
FROZEN = PARAMETERS["frozen"]
TEMPERATURE = EXPERIMENTS["temperature"]
METHODS = ("single_world", "generic_one_probe", "conflict_abstention", "safecommit_no_probe", "safecommit")
COUNTS = ("episodes", "unsafe", "safe", "fallbacks", "probes", "covered",
          "unsafe_unproposed", "unsafe_above_kappa", "unsafe_retained")


def settings():
    """Every (method, alpha, most probes, miss probability) that some experiment needs, and which need it."""
    alpha, budget = EXPERIMENTS["alpha"], EXPERIMENTS["max_probes"]
    probes = {"generic_one_probe": 1, "safecommit": budget}
    needed = {}

    def need(experiment, method, alpha, most, miss):
        needed.setdefault((method, alpha, most, miss), []).append(experiment)

    for method in METHODS:
        need("main", method, alpha, probes.get(method, 0), 0.0)
        need("family", method, alpha, probes.get(method, 0), 0.0)
        for miss in EXPERIMENTS["proposal_misses"]:
            need("proposal_miss", method, alpha, probes.get(method, 0), miss)
    for most in EXPERIMENTS["probe_budgets"]:
        need("probe_budget", "safecommit", alpha, most, 0.0)
    for level in EXPERIMENTS["alphas"]:
        need("alpha", "safecommit", level, budget, 0.0)
    return needed


def decide(method, episode, kappa, most, frozen):
    """`frozen` is the pair (kappa, margin) from the frozen splits."""
    if method == "single_world":
        return methods.single_world(episode)
    if method == "generic_one_probe":
        return methods.generic_one_probe(episode, kappa)
    if method == "conflict_abstention":
        return methods.conflict_abstention(episode, *frozen)
    if method == "safecommit_no_probe":
        return methods.safecommit(episode, kappa, 0, TEMPERATURE)
    return methods.safecommit(episode, kappa, most, TEMPERATURE)


def frozen_tuning(calibration, validation, alpha):
    kappa = methods.threshold([episode.true_world.score for episode in calibration], alpha)
    return kappa, methods.tune_margin(validation, kappa, alpha)


def drawn(suite, seed, split, count):
    source = Split(suite, seed, split)
    return [source.draw(index)[0] for index in range(count)]


def count_into(totals, episode, decision, kappa):
    kind, action, probes = decision
    true = episode.true_world
    totals["episodes"] += 1
    totals["probes"] += len(probes)
    totals["covered"] += true in episode.proposed and true.score <= kappa
    if kind != "commit":
        totals["fallbacks"] += 1
    elif action in true.safe:
        totals["safe"] += 1
    else:
        totals["unsafe"] += 1
        if true not in episode.proposed:
            totals["unsafe_unproposed"] += 1
        elif true.score > kappa:
            totals["unsafe_above_kappa"] += 1
        else:
            totals["unsafe_retained"] += 1


def run(seeds, calibration_size, test_size):
    times = {}

    def spent(stage, since):
        """Adds the wall and processor time since then to a stage."""
        wall, processor = times.get(stage, (0.0, 0.0))
        times[stage] = (wall + time.perf_counter() - since[0], processor + time.process_time() - since[1])

    started = now()
    calibration = drawn("frozen", FROZEN["seed"], "calibration", FROZEN["calibration"])
    validation = drawn("frozen", FROZEN["seed"], "validation", FROZEN["validation"])
    tunings = {alpha: frozen_tuning(calibration, validation, alpha) for alpha in EXPERIMENTS["alphas"]}
    spent("tuning", started)
    rows = []
    for seed in seeds:
        started = now()
        scores = [episode.true_world.score
                  for episode in drawn("experiment", seed, "calibration", calibration_size)]
        test = drawn("experiment", seed, "test", test_size)
        source = Split("experiment", seed, "test")
        uniforms = [source.proposal_uniform(index) for index in range(test_size)]
        spent("drawing", started)

        started = now()
        kappas = {alpha: methods.threshold(scores, alpha) for alpha in EXPERIMENTS["alphas"]}
        missed = [episode.without_true_world() for episode in test]
        for (method, alpha, most, miss), experiments in settings().items():
            kappa = kappas[alpha]
            totals = {family: dict.fromkeys(COUNTS, 0) for family in FAMILIES}
            for full, partial, uniform in zip(test, missed, uniforms):
                episode = partial if uniform < miss else full
                decision = decide(method, episode, kappa, most, tunings[alpha])
                count_into(totals[episode.family], episode, decision, kappa)
            rows.append({
                "experiments": experiments, "method": method, "alpha": alpha, "max_probes": most,
                "beta": miss, "seed": seed, "kappa": plain(kappa),
                "counts": {family: list(counts.values()) for family, counts in totals.items()},
            })
        spent("simulation", started)
    report = {
        "calibration_episodes": calibration_size, "test_episodes": test_size, "count_names": COUNTS,
        "frozen": {alpha: {"kappa": plain(kappa), "margin": plain(margin)}
                   for alpha, (kappa, margin) in tunings.items()},
        "rows": rows,
    }
    return report, times


def now():
    return time.perf_counter(), time.process_time()


def plain(millionths):
    """An infinite threshold or margin has no JSON number."""
    return None if millionths == methods.INFINITE else millionths


def digests():
    """SHA-256 of every frozen split, of the first 100 episodes of each experiment split, and of decisions."""
    episodes = {}
    for split in ("train", "validation", "calibration", "test"):
        source = Split("frozen", FROZEN["seed"], split)
        lines = "".join(source.json_line(index) for index in range(FROZEN[split]))
        episodes[f"frozen/{FROZEN['seed']}/{split}"] = sha256(lines)
    for seed in EXPERIMENTS["seeds"]:
        for split in ("calibration", "test"):
            source = Split("experiment", seed, split)
            lines = "".join(source.json_line(index) for index in range(100))
            episodes[f"experiment/{seed}/{split}"] = sha256(lines)
    decided = {}
    cases = [setting[:3] for setting in settings() if setting[3] == 0.0]
    # Beyond the experiments: a threshold that is unbounded, and the tuned method at the other levels.
    cases += [("safecommit", "0.0001", 2), ("conflict_abstention", "0.01", 0), ("conflict_abstention", "0.10", 0)]
    for method, alpha, most in cases:
        lines = "".join(decisions("test", method, alpha, most))
        decided[f"test {method} {alpha} {most}"] = sha256(lines)
    return {"episodes": episodes, "decisions": decided}


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


def decisions(split, method, alpha, budget):
    """One line an episode of a frozen split; the threshold and the margin come from frozen splits too."""
    calibration, validation = read_frozen("calibration"), read_frozen("validation")
    frozen = frozen_tuning(calibration, validation, alpha)
    kappa = frozen[0]
    for episode in read_frozen(split):
        kind, action, probes = decide(method, episode, kappa, budget, frozen)
        yield compact({
            "id": episode.name, "decision": kind, "action": action, "probes": probes,
            "kappa": None if kappa == methods.INFINITE else kappa / 1e6,
        }) + "\n"


def print_rows(report):
    """One row a line: a readable file, and a readable difference between two."""
    head = {name: value for name, value in report.items() if name != "rows"}
    print(json.dumps(head)[:-1] + ', "rows": [')
    print(",\n".join(json.dumps(row, separators=(",", ":")) for row in report["rows"]))
    print("]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=len(EXPERIMENTS["seeds"]), help="how many seeds")
    parser.add_argument("--episodes", type=int, default=EXPERIMENTS["test"],
                        help="test episodes a seed; half as many calibrate")
    parser.add_argument("--digests", action="store_true")
    parser.add_argument("--decisions", nargs=4, metavar=("SPLIT", "METHOD", "ALPHA", "BUDGET"))
    arguments = parser.parse_args()
    if arguments.digests:
        print(json.dumps(digests(), indent=1))
    elif arguments.decisions:
        split, method, alpha, budget = arguments.decisions
        if method not in METHODS:
            parser.error(f"unknown method `{method}`")
        sys.stdout.writelines(decisions(split, method, alpha, int(budget)))
    else:
        report, times = run(EXPERIMENTS["seeds"][:arguments.seeds], arguments.episodes // 2, arguments.episodes)
        print_rows(report)
        for stage, (wall, processor) in times.items():
            print(f"{stage}: {wall:.2f} s wall, {processor:.2f} s processor", file=sys.stderr)


if __name__ == "__main__":
    main()
