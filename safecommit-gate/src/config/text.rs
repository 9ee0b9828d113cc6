//! The text of a configuration that explains itself. Defaults come from where they are used.

use std::fmt::Write as _;

use super::check::{HEAD, KEY, LOG, MAX_MILLISECONDS, PRICE, PRINCIPAL, SEVERITIES, TEMPERATURE};
use crate::domain::Clarifications;
use crate::evidence::BeliefRule;
use crate::files::{FileProbe, FileQuestion, Limits, PROTECTED, SECRET};
use crate::gate::MAX_WORLDS;
use crate::score::ScoreWeights;

/// The text; `policies` are a file of policies and their schema, if these are to be named.
pub(super) fn text(workspace: &str, state: &str, policies: Option<(&str, &str)>) -> String {
    let (comment, (files, schema)) = match policies {
        None => ("# ", ("files.cedar", "files.cedarschema")),
        Some(named) => ("", named),
    };
    let mut text = format!(
        r#"# The configuration of a SafeCommit gate. What stands here as a value is the default; what stands in a comment is
# an example. Paths are relative to the directory of this file, and `~` is not a directory.
#
# Keep this file, and every other file that it names, out of the workspace: an agent that works there could change
# them, and they are refused there. Where agent and gate run as one user, the agent can reach them by other tools all
# the same; then run the gate as another user.

# The directory beneath which actions may have effects.
workspace = {workspace}

# Outside the workspace, for its user alone (mode 0700): journal, trash and audit log. Best on the file system of the
# workspace, where deleting is one rename. `safecommit restore` brings back what was taken.
state = {state}

# On whose behalf actions are proposed. A request cannot name another.
principal = {principal}

# When an action is safe. Without this section, the policies that come with the program.
[policies]
{comment}files = [{files}]
{comment}schema = {schema}

# A threshold from history, as `safecommit calibrate --audit` writes it. Without one no world is excluded by its
# score: every hazard has to be probed away.
# [calibration]
# file = "calibration.json"

# How strange an explanation is: a weighted sum of four terms, each weight at least 0. Another choice is another score,
# and needs another calibration.
[score]
weights = {{ {weights} }}
# After how many days a memory has lost half of its worth.
half_life_days = {half_life}

[support]
# The most explanations that are looked at. If there are more, the candidates that are worth least are left out, and if
# there is only one, it is not safe.
max_worlds = {MAX_WORLDS}

# What one decision may spend on probes. What is left out has no limit, but the time always has one; what is at the targets
# is found out in that time too.
[budget]
# max_probes = 16
# max_cost = 100.0
max_milliseconds = {MAX_MILLISECONDS}
# What a probe may do that is made without a person: "reads_names" only looks at what the system says about names,
# "reads_content" reads files too (copies, staged_diff), "runs_program" also starts git (repository). One that may do more is
# not made, and the audit log says so. The content of targets is read in any case, so that nothing else is acted on.
max_side_effect = "runs_program"

[control]
# How much more a plausible explanation counts than a strange one, above 0; smaller is more.
temperature = {temperature}
# Whether a certificate is checked before an action that cannot be undone: "whole_support" looks past the threshold,
# "most_plausible" asks about the likeliest explanation, "never" does not.
verification = "whole_support"
# For "whole_support": what a further probe has to be worth, at least 0. At 0 every probe that can help is made.
price = {price}
"#,
        workspace = quoted(workspace),
        state = quoted(state),
        principal = quoted(PRINCIPAL),
        files = quoted(files),
        schema = quoted(schema),
        weights = weights(),
        half_life = number(BeliefRule::default().half_life()),
        temperature = number(TEMPERATURE),
        price = number(PRICE),
    );
    text.push_str(
        "\n# The probes that may be made of a target: what one costs, above 0; after which time it has failed; how often \
         its\n# answer is wrong, in [0, 1], which joins the bound of every decision that uses it.\n",
    );
    for question in FileQuestion::ALL {
        probe(&mut text, &FileProbe::new(question));
    }
    let limits = Limits::default();
    let _ = write!(
        text,
        r#"
# Questions to persons: what one costs, more than all probes of files together, so that they are asked last; how often an
# answer is wrong.
[clarifications]
cost = {asking}
error_rate = {misled}

[files]
# What nobody may change without asking: a name at any depth, or a path from the workspace if there is a slash; `*`
# stands for any characters of a name, `**` for any directories. A list of your own replaces this one.
protected = {protected}
# What holds keys or passwords.
secret = {secret}
# The number of the user whose files are one's own: the user of the gate unless given.
# owner = 1000

# How much of a tree a probe and the executor look at; beyond that they fail.
[limits]
entries = {entries}
# At most 512.
depth = {depth}
bytes = {bytes}
milliseconds = {milliseconds}

# How grave an action is, in [0, 1]. Among certified actions the one with the highest reward less its severity is
# released; from 0.7 the severity is high, from 0.3 medium, else low, and calibrations may tell these apart.
[severity]
delete = {delete}
overwrite = {overwrite}
move = {moving}
write = {write}

# What becomes of what is deleted. "trash": it goes to the trash of the state directory, and `safecommit restore` brings it
# back, until `safecommit restore --empty` removes it for good. "permanent": it goes the same way and is removed for good at
# once. Then no policy may take it for reversible, so that the only copy of something is not deleted any more. Another
# choice is another score, and needs another calibration.
[deletion]
mode = "trash"

# Further paths that no action may touch, in the workspace too: the settings of the program that runs the agent. The
# files of the gate itself need not be listed.
[self_protection]
paths = []

# The audit log; paths are relative to the state directory. Keep the head and the key where whoever may want to rewrite
# history has no access.
[audit]
log = {log}
head = {head}
key = {key}
# What is kept as keyed codes in place of the values: "paths" of targets, with the agent's own words in which one may stand
# (the tool, ids of evidence, names of questions to persons); names of "decisions"; "errors" as a whole.
hide = []
"#,
        asking = number(Clarifications::default().cost),
        misled = number(Clarifications::default().error_rate),
        protected = list(&PROTECTED),
        secret = list(&SECRET),
        entries = limits.entries,
        depth = limits.depth,
        bytes = limits.bytes,
        milliseconds = limits.time.as_millis(),
        delete = number(SEVERITIES.delete),
        overwrite = number(SEVERITIES.overwrite),
        moving = number(SEVERITIES.moving),
        write = number(SEVERITIES.write),
        log = quoted(LOG),
        head = quoted(HEAD),
        key = quoted(KEY),
    );
    text
}

fn probe(text: &mut String, probe: &FileProbe) {
    let facts = probe.question().facts().join(", ");
    let _ = write!(
        text,
        "\n# Finds out {facts}.\n[probes.{}]\ncost = {}\ntimeout_milliseconds = {}\nerror_rate = {}\n",
        probe.question().name(),
        number(probe.cost()),
        probe.timeout().as_millis(),
        number(probe.error_rate()),
    );
}

fn weights() -> String {
    let [age, inconsistency, tools, policy] = ScoreWeights::default().as_array().map(number);
    format!(
        "provenance_or_age = {age}, inconsistency = {inconsistency}, tool_disagreement = {tools}, \
         policy_incompatibility = {policy}"
    )
}

/// A list, a few values a line.
fn list(values: &[&str]) -> String {
    let mut text = "[".to_owned();
    for line in values.chunks(6) {
        let line: Vec<String> = line.iter().map(|value| quoted(value)).collect();
        text.push_str("\n    ");
        text.push_str(&line.join(", "));
        text.push(',');
    }
    text.push_str("\n]");
    text
}

/// A text as TOML writes it.
fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

/// A number as TOML writes it: with a point.
fn number(value: f64) -> String {
    toml::Value::from(value).to_string()
}
