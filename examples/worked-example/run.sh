#!/usr/bin/env bash
# The deletion of temporary outputs, decided on a real directory: once as memory has it, once after the path has become
# a link to the results of others. Everything happens in a temporary directory.
#
# SAFECOMMIT names the command; without it, it is built and run by cargo.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
base=$(cd "$(mktemp -d)" && pwd -P)
trap 'rm -rf "$base"' EXIT

safecommit() {
    if [[ -n ${SAFECOMMIT:-} ]]; then
        "$SAFECOMMIT" "$@"
    else
        cargo run -q --manifest-path "$here/../../Cargo.toml" -p safecommit-cli -- "$@"
    fi
}

say() { printf '\n== %s\n' "$*"; }

# Runs a command, shows it, and shows its exit code if that is not 0. Paths of the run become `$base`.
run() {
    printf '$ safecommit %s\n' "${*//"$base"/'$base'}"
    local code=0
    safecommit "$@" >"$base/out" 2>&1 || code=$?
    sed "s|$base|\$base|g" "$base/out" | "${show[@]}"
    if ((code != 0)); then printf '(exit code %s)\n' "$code"; fi
}

# Of a decision: the verdict with what it is about, what stands in the way, what the probes found. The tables of worlds
# and scores, the bound and the digests are left out, and so are the names of worlds that say something of every path.
decision() {
    awk -v RS= -v ORS='\n' 'NR == 1 || /^what stands/ || /^observed:/ { print }' |
        sed -E '/^request: /d; s/^  [^:]{60,}: /  ...: /'
}

gate() {
    show=(decision)
    run gate --config "$base/gate/safecommit.toml" "$@"
}

# Times and digests differ from run to run.
other() {
    show=(sed -E 's/[0-9a-f]{64}/DIGEST/; s/[0-9-]{10}T[0-9:.]+Z +/TIME   /; s/ at +decision/ at     decision/')
    run "$@" --config "$base/gate/safecommit.toml"
}

# The request of the agent. All that it has is a memory; it names the target, and says that it is disposable.
request() { # NAME, CANDIDATES
    cat >"$base/$1.json" <<END
{
  "decision": "$1",
  "tool": "cleanup",
  "actions": [$2],
  "uses": ["m1"],
  "evidence": [
    {"id": "m1", "entity": "run/latest", "attribute": "disposable", "value": "yes",
     "source": "memory", "name": "notes.md", "recorded": "$(date -u +%Y-%m-%dT%H:%M:%SZ)"}
  ]
}
END
}

delete='{"action": "delete", "path": "run/latest", "reward": 3}'
stage='{"action": "move", "path": "run/2026-03-01", "to": "staged/2026-03-01", "reward": 2}'

say "A workspace with temporary outputs, results of others beside it, and a gate"
mkdir -p "$base/project/run/latest" "$base/project/run/2026-03-01" "$base/project/staged" "$base/shared/results"
echo "temporary" >"$base/project/run/latest/part-1"
echo "temporary" >"$base/project/run/2026-03-01/part-1"
echo "results of another team" >"$base/shared/results/table"
show=(grep -v '^next:')
run init --workspace "$base/project" --directory "$base/gate"

say "Memory is right: run/latest is a directory of temporary outputs"
request plain "$delete"
gate --execute "$base/plain.json"
[[ ! -e $base/project/run/latest ]]

say "What was deleted can be had again"
other restore --list
other restore 1
[[ $(<"$base/project/run/latest/part-1") == temporary ]]

say "Memory is out of date: run/latest has become a link to shared results"
rm -r "$base/project/run/latest"
ln -s "$base/shared/results" "$base/project/run/latest"
request linked "$delete"
gate --execute "$base/linked.json"
[[ -L $base/project/run/latest && -e $base/shared/results/table ]]

say "The same with an alternative: stage older outputs, which can be undone"
request staged "$delete, $stage"
gate --execute "$base/staged.json"
[[ -e $base/project/staged/2026-03-01/part-1 && -L $base/project/run/latest ]]

say "All of it is in the log"
other audit verify
other audit replay
other audit show

say "And undone"
other restore 3
other restore --list
[[ -e $base/project/run/2026-03-01/part-1 ]]
