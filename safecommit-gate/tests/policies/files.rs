//! The policies that come with the crate, on a table of worlds.

use safecommit_gate::{
    ActionDescription, Assignment, FILE_POLICIES, FILE_SCHEMA, Fact, Facts, SafetyMap,
    SafetyPolicies,
};

/// Each fact with its values; the first is that of a file of one's own that is safe to delete.
const FACTS: [(&str, &[&str]); 16] = [
    ("kind", &["file", "directory", "link", "mount", "missing"]),
    ("location", &["inside", "outside"]),
    ("leaves_tree", &["no", "link", "mount"]),
    ("owner", &["own", "other"]),
    ("tracked", &["clean", "dirty", "untracked", "none"]),
    ("only_copy", &["no", "yes"]),
    ("changed_since_memory", &["no", "yes"]),
    ("protected", &["no", "yes"]),
    ("secret", &["no", "yes"]),
    ("reversible", &["no", "yes"]),
    ("discards", &["yes", "no"]),
    ("base", &["unknown", "same", "other"]),
    (
        "destination_kind",
        &["missing", "file", "directory", "link", "mount"],
    ),
    ("destination_location", &["inside", "outside"]),
    ("destination_owner", &["own", "other"]),
    ("destination_protected", &["no", "yes"]),
];

const ACTIONS: [&str; 4] = ["delete", "overwrite", "move", "write"];

fn facts() -> Facts {
    let facts = FACTS.map(|(name, values)| Fact::new(name, values.iter().copied()).unwrap());
    Facts::new(facts).unwrap()
}

fn map() -> SafetyMap {
    let action = |name| ActionDescription::new(name, "agent", "a").with("path", "a");
    SafetyPolicies::for_files()
        .unwrap()
        .bind(&facts(), &ACTIONS.map(action))
        .unwrap()
}

/// The world in which all is well but for what is said here.
fn world(differs: &[(&'static str, &'static str)]) -> Assignment {
    let value = |name: &str, first| {
        differs
            .iter()
            .find(|(fact, _)| *fact == name)
            .map_or(first, |(_, value)| *value)
    };
    let values = FACTS.map(|(name, values)| (name, value(name, values[0])));
    facts().assignment(values).unwrap()
}

/// A world, by how it differs from the safe one, and for each of its unsafe actions the policies that say so; `-` if
/// none permits it.
type Row = (
    &'static [(&'static str, &'static str)],
    &'static [(&'static str, &'static [&'static str])],
);

#[rustfmt::skip]
const TABLE: &[Row] = &[
    (&[], &[("write", &["-"])]),
    (&[("kind", "directory")], &[("overwrite", &["-"]), ("write", &["-"])]),
    (&[("kind", "missing")], &[("delete", &["-"]), ("overwrite", &["-"]), ("move", &["-"])]),
    (&[("kind", "link")], &[("delete", &["link", "-"]), ("overwrite", &["link", "-"]), ("move", &["link", "-"]), ("write", &["link", "-"])]),
    (&[("kind", "mount")], &[("delete", &["mount", "-"]), ("overwrite", &["mount", "-"]), ("move", &["mount", "-"]), ("write", &["mount", "-"])]),
    (&[("location", "outside")], &[("delete", &["outside-workspace"]), ("overwrite", &["outside-workspace"]), ("move", &["outside-workspace"]), ("write", &["outside-workspace", "-"])]),
    (&[("kind", "directory"), ("leaves_tree", "link")], &[("delete", &["tree-is-left"]), ("overwrite", &["-"]), ("move", &["tree-is-left"]), ("write", &["-"])]),
    (&[("kind", "directory"), ("leaves_tree", "mount")], &[("delete", &["tree-is-left"]), ("overwrite", &["-"]), ("move", &["tree-is-left"]), ("write", &["-"])]),
    (&[("owner", "other")], &[("delete", &["other-owner"]), ("overwrite", &["other-owner"]), ("move", &["other-owner"]), ("write", &["other-owner", "-"])]),
    (&[("kind", "missing"), ("owner", "other")], &[("delete", &["other-owner", "-"]), ("overwrite", &["other-owner", "-"]), ("move", &["other-owner", "-"]), ("write", &["other-owner"])]),
    (&[("protected", "yes")], &[("delete", &["protected"]), ("overwrite", &["protected"]), ("move", &["protected"]), ("write", &["protected", "-"])]),
    (&[("secret", "yes")], &[("delete", &["secret"]), ("overwrite", &["secret"]), ("move", &["secret"]), ("write", &["-"])]),
    (&[("secret", "yes"), ("kind", "missing")], &[("delete", &["secret", "-"]), ("overwrite", &["secret", "-"]), ("move", &["secret", "-"])]),
    (&[("secret", "yes"), ("reversible", "yes")], &[("delete", &["secret"]), ("overwrite", &["secret"]), ("move", &["secret"]), ("write", &["-"])]),
    (&[("tracked", "dirty")], &[("delete", &["uncommitted-changes"]), ("overwrite", &["uncommitted-changes"]), ("write", &["-"])]),
    (&[("tracked", "dirty"), ("reversible", "yes")], &[("write", &["-"])]),
    (&[("tracked", "dirty"), ("discards", "no")], &[("delete", &["uncommitted-changes"]), ("write", &["-"])]),
    (&[("tracked", "untracked")], &[("write", &["-"])]),
    (&[("only_copy", "yes")], &[("write", &["-"])]), // git has it
    (&[("tracked", "untracked"), ("only_copy", "yes")], &[("delete", &["only-copy"]), ("overwrite", &["only-copy"]), ("write", &["-"])]),
    (&[("tracked", "none"), ("only_copy", "yes")], &[("delete", &["only-copy"]), ("overwrite", &["only-copy"]), ("write", &["-"])]),
    (&[("tracked", "none"), ("only_copy", "yes"), ("reversible", "yes")], &[("write", &["-"])]),
    (&[("tracked", "none"), ("only_copy", "yes"), ("discards", "no")], &[("delete", &["only-copy"]), ("write", &["-"])]),
    (&[("changed_since_memory", "yes")], &[("delete", &["changed-since-memory"]), ("overwrite", &["overwrite-of-newer"]), ("move", &["changed-since-memory"]), ("write", &["-"])]),
    (&[("changed_since_memory", "yes"), ("reversible", "yes")], &[("overwrite", &["overwrite-of-newer"]), ("write", &["-"])]),
    (&[("changed_since_memory", "yes"), ("discards", "no")], &[("delete", &["changed-since-memory"]), ("overwrite", &["overwrite-of-newer"]), ("move", &["changed-since-memory"]), ("write", &["-"])]),
    (&[("changed_since_memory", "yes"), ("base", "same")], &[("delete", &["changed-since-memory"]), ("move", &["changed-since-memory"]), ("write", &["-"])]),
    (&[("base", "same")], &[("write", &["-"])]),
    (&[("base", "other"), ("discards", "no"), ("reversible", "yes")], &[("overwrite", &["overwrite-of-newer"]), ("write", &["-"])]),
    (&[("secret", "yes"), ("discards", "no")], &[("delete", &["secret"]), ("overwrite", &["secret"]), ("move", &["secret"]), ("write", &["-"])]),
    (&[("destination_kind", "file")], &[("move", &["-"]), ("write", &["-"])]),
    (&[("destination_kind", "link"), ("reversible", "yes")], &[("move", &["-"]), ("write", &["-"])]),
    (&[("destination_location", "outside")], &[("move", &["destination-outside-workspace"]), ("write", &["-"])]),
    (&[("destination_owner", "other")], &[("move", &["destination-other-owner"]), ("write", &["-"])]),
    (&[("destination_protected", "yes")], &[("move", &["destination-protected"]), ("write", &["-"])]),
    (&[("tracked", "dirty"), ("owner", "other")], &[("delete", &["other-owner", "uncommitted-changes"]), ("overwrite", &["other-owner", "uncommitted-changes"]), ("move", &["other-owner"]), ("write", &["other-owner", "-"])]),
];

#[test]
fn each_world_of_the_table_is_judged_as_it_says() {
    let map = map();
    let worlds: Vec<Assignment> = TABLE.iter().map(|(differs, _)| world(differs)).collect();
    let table = map.evaluate(&worlds).unwrap();
    for (at, (differs, unsafe_actions)) in TABLE.iter().enumerate() {
        for (action, name) in ACTIONS.iter().enumerate() {
            let listed = unsafe_actions.iter().find(|(listed, _)| listed == name);
            let expected: &[&str] = listed.map_or(&[], |(_, policies)| policies);
            let blockers = table.blockers(at, action);
            let found: Vec<String> = blockers
                .map(|blocker| blocker.policy().unwrap_or("-").to_owned())
                .collect();
            assert_eq!(found, expected, "{name} in {differs:?}");
            assert_eq!(table.is_safe(at, action), expected.is_empty());
        }
    }
}

#[test]
fn each_policy_decides_a_row_of_the_table() {
    let policies = SafetyPolicies::for_files().unwrap();
    let named = |id: &str| {
        TABLE
            .iter()
            .flat_map(|(_, actions)| *actions)
            .any(|(_, policies)| policies.contains(&id))
    };
    for policy in policies.policies() {
        assert!(!policy.id().contains('#'), "{} has no @id", policy.id());
        assert!(
            !policy.forbids() || named(policy.id()),
            "{} is in no row",
            policy.id()
        );
    }
    // Without any of the permits an action that is safe somewhere would be safe nowhere.
    let permits = policies
        .policies()
        .iter()
        .filter(|policy| !policy.forbids())
        .count();
    assert_eq!(permits, ACTIONS.len());
}

/// Every world there is, by a rule of its own: what is safe is neither elsewhere, nor somebody else's, nor lost.
#[test]
fn in_no_world_at_all_is_something_lost_or_touched_that_must_not_be() {
    let map = map();
    let facts = facts();
    let mut worlds: Vec<Vec<(&str, &str)>> = vec![Vec::new()];
    // Of a destination each value alone is in the table; here it is free, and then nothing else matters of it.
    for (name, values) in FACTS.into_iter() {
        let values = if name.starts_with("destination") {
            &values[..1]
        } else {
            values
        };
        let longer = worlds.iter().flat_map(|world| {
            values
                .iter()
                .map(move |value| world.iter().copied().chain([(name, *value)]).collect())
        });
        worlds = longer.collect();
    }
    let assigned: Vec<Assignment> = worlds
        .iter()
        .map(|world| facts.assignment(world.iter().copied()).unwrap())
        .collect();
    let table = map.evaluate(&assigned).unwrap();
    let mut safe = [0; 4];
    for (at, world) in worlds.iter().enumerate() {
        let is = |name, value| world.contains(&(name, value));
        let kept = is("reversible", "yes");
        let elsewhere = is("location", "outside") || is("kind", "link") || is("kind", "mount");
        let others = is("owner", "other") || is("protected", "yes");
        let in_git = is("tracked", "clean");
        let lost = !kept && (is("tracked", "dirty") || (!in_git && is("only_copy", "yes")));
        let stale = is("changed_since_memory", "yes");
        let leaves = !is("leaves_tree", "no");
        let there = is("kind", "file") || is("kind", "directory");
        let never = elsewhere || others;
        let secret = is("secret", "yes");
        let discards = is("discards", "yes");
        let older = is("base", "other") || stale && !is("base", "same");
        let expected = [
            there && !(never || secret || leaves || lost || (stale && !kept)),
            is("kind", "file") && !(never || secret || older || (discards && lost)),
            there && !(never || secret || leaves || (stale && !kept)),
            is("kind", "missing") && !never,
        ];
        for (action, expected) in expected.into_iter().enumerate() {
            assert_eq!(
                table.is_safe(at, action),
                expected,
                "{} in {world:?}",
                ACTIONS[action]
            );
            safe[action] += usize::from(expected);
        }
    }
    assert_eq!(worlds.len(), 5 * 2 * 3 * 2 * 4 * 2 * 2 * 2 * 2 * 2 * 2 * 3);
    assert!(safe.iter().all(|&safe| safe > 0));
}

#[test]
fn the_texts_can_be_edited_and_loaded_again() {
    let edited = format!(
        "{}\n@id(\"no-data\") forbid(principal, action, resource) when {{ resource.path like \"data/*\" }};",
        FILE_POLICIES.text
    );
    let text = safecommit_gate::PolicyText {
        text: &edited,
        ..FILE_POLICIES
    };
    let policies = SafetyPolicies::load(&[text], FILE_SCHEMA).unwrap();
    let delete = |path: &str| ActionDescription::new("delete", "agent", path).with("path", path);
    let map = policies
        .bind(&facts(), &[delete("data/x"), delete("run/x")])
        .unwrap();
    let worlds = [world(&[])];
    let table = map.evaluate(&worlds).unwrap();
    assert!(table.safe(0).eq([1]));
    let why: Vec<_> = table
        .blockers(0, 0)
        .map(|blocker| blocker.to_string())
        .collect();
    assert_eq!(why, ["policy `no-data` forbids it"]);
}
