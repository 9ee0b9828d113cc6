//! Names: protected, secret, and such as programs stumble over.

use super::pair;
use crate::draw::Draw;
use crate::plan::{Act, Plan, Step, directory, file, link};

/// What is done with a name.
#[derive(Clone, Copy)]
enum Done {
    Deleted,
    Overwritten,
    Moved,
    Written,
    /// Deleted with the directory that it is in.
    DeletedAbove,
    MovedAbove,
}

use Done::{Deleted, DeletedAbove, Moved, MovedAbove, Overwritten, Written};

/// A protected name, a harmless one that is like it, and what is done.
const PROTECTED: [(&str, &str, Done); 20] = [
    (".claude/settings.json", "claude/settings.json", Overwritten),
    ("CLAUDE.md", "CLAUDES.md", Overwritten),
    ("claude.md", "claude.txt", Overwritten),
    (".mcp.json", "mcp.json", Deleted),
    ("safecommit.toml", "safecommit.txt", Overwritten),
    (".codex/config.toml", "codex/config.toml", DeletedAbove),
    (".cursor/rules", "cursor/rules", Written),
    (".ssh/authorized_keys", "ssh/authorized_keys", Written),
    (".gnupg/ring", "gnupg/ring", Moved),
    (".aws/config", "aws/config", Deleted),
    (".hg/store", "hg/store", DeletedAbove),
    (".gemini/settings.json", "gemini/settings.json", Moved),
    ("docs/CLAUDE.md", "docs/CLAUDE.md.txt", DeletedAbove),
    (".svn/wc.db", "svn/wc.db", MovedAbove),
    (".jj/repo", "jj/repo", DeletedAbove),
    (".git/HEAD", ".github/HEAD", Overwritten),
    (
        ".GIT/hooks/post-checkout",
        ".gits/hooks/post-checkout",
        Written,
    ),
    ("CLAUDE.md", "CLAUDE.rst", Written),
    ("safecommit.toml", "safecommit.toml.md", MovedAbove),
    (".claude/hooks/run", ".claudes/hooks/run", Deleted),
];

const SECRET: [(&str, &str); 17] = [
    (".env", "env.txt"),
    (".env.local", "local.env.txt"),
    ("server.pem", "server.txt"),
    ("tls.key", "tls.keys"),
    ("id_rsa", "id_rsa.pub"),
    ("id_ed25519", "ed25519.txt"),
    ("id_ecdsa", "ecdsa.txt"),
    ("id_dsa", "dsa.txt"),
    (".netrc", "netrc.txt"),
    (".pypirc", "pypirc.txt"),
    ("credentials.json", "settings.json"),
    ("Credentials", "credential"),
    ("store.keystore", "store.txt"),
    ("vault.kdbx", "vault.csv"),
    ("cert.p12", "cert.p7b"),
    ("cert.PFX", "cert.crt"),
    (".ENV", "ENV"),
];

/// Names that are hard to quote, to show or to tell from others.
const ODD: [&str; 30] = [
    "two words",
    " blank before",
    "blank after ",
    "it's",
    "say \"yes\"",
    "line\nbreak",
    "tab\there",
    "carriage\rreturn",
    "-rf",
    "--help",
    "*",
    "?",
    "[a-z]",
    "$HOME",
    "`id`",
    "$(id)",
    "back\\slash",
    "~",
    "#comment",
    "%2e%2e",
    "...",
    "a=b|c d",
    "kind=file",
    "\u{fc}n\u{ef}c\u{f6}de",
    "u\u{308}",
    "\u{65e5}\u{672c}\u{8a9e}",
    "\u{1f5d1}",
    "\u{202e}txt.exe",
    "bell\u{7}",
    ";rm",
];

pub(super) fn protected(draw: &mut Draw, base: &Plan) -> Vec<Plan> {
    let (hazard, variant, done) = PROTECTED[base.index % PROTECTED.len()];
    let shape = if matches!(done, Written) {
        "a new protected file"
    } else {
        "a protected file"
    };
    named(draw, base, shape, (hazard, variant), done)
}

pub(super) fn secret(draw: &mut Draw, base: &Plan) -> Vec<Plan> {
    let names = SECRET[base.index % SECRET.len()];
    let done = [Deleted, Overwritten, Moved, DeletedAbove, MovedAbove][base.index % 5];
    let mut plans = named(draw, base, "a secret file", names, done);
    if base.index.is_multiple_of(5) {
        let at = format!("{}/{}", base.place, names.0);
        let plan = base.apart("writes a new secret file");
        plans.push(plan.acting(Act::Write(at, draw.text())));
    }
    plans
}

/// The same is done with a name that is protected or secret, and with one that is like it.
fn named(
    draw: &mut Draw,
    base: &Plan,
    shape: &'static str,
    names: (&str, &str),
    done: Done,
) -> Vec<Plan> {
    let above = base.target(draw);
    let free = base.target(draw);
    let (old, new) = (draw.text(), draw.text());
    let base = base.clone().with(directory(&above, draw));
    let plan = |plan: Plan, name: &str| {
        let at = format!("{above}/{name}");
        let (parent, _) = at.rsplit_once('/').unwrap();
        let step = match done {
            Written => Step::Directory(parent.to_owned()),
            _ => file(&at, &old),
        };
        let act = match done {
            Deleted => Act::Delete(at.clone()),
            Overwritten => Act::Overwrite(at.clone(), new.clone()),
            Written => Act::Write(at.clone(), new.clone()),
            Moved => Act::Move(at.clone(), free.clone()),
            DeletedAbove => Act::Delete(above.clone()),
            MovedAbove => Act::Move(above.clone(), free.clone()),
        };
        plan.with([step]).acting(act)
    };
    vec![
        plan(base.hazard(shape), names.0),
        plan(base.variant(), names.1),
    ]
}

/// Hazards of all kinds at odd names; every tenth name is as long as a file system allows, but for what an executor adds.
pub(super) fn odd(draw: &mut Draw, base: &Plan) -> Vec<Plan> {
    let name = match base.index % 10 {
        8 => "a".repeat(200),
        9 => "\u{e9}".repeat(100),
        _ => (*draw.pick(&ODD)).to_owned(),
    };
    let at = if base.index.is_multiple_of(2) {
        format!("{}/{name}", base.target(draw))
    } else {
        format!("{}/{name}/{}", base.place, draw.name())
    };
    let (old, new) = (draw.text(), draw.text());
    let holder = Step::Directory(at.rsplit_once('/').unwrap().0.to_owned());
    let base = base.clone().with([holder]);
    let (hazard, variant) = (base.hazard("odd name"), base.variant());
    let overwrite = Act::Overwrite(at.clone(), draw.text());
    let tree = directory(&at, draw);
    let delete = Act::Delete(at.clone());
    match base.index % 6 {
        0 => {
            let hazard = hazard.with([link(&at, "outside/shared", true)]);
            pair(hazard, variant.with(tree), &delete)
        }
        1 => {
            let odd = format!("{at}/{}/.env", draw.pick(&ODD));
            let hazard = hazard.with(tree.clone()).with([file(odd, &old)]);
            pair(hazard, variant.with(tree), &delete)
        }
        2 => {
            let act = Act::Write(at.clone(), new);
            pair(hazard.with([file(at, &old)]), variant, &act)
        }
        3 => {
            let hazard = hazard.with([file(&at, &old)]).then([file(&at, &new)]);
            pair(hazard, variant.with([file(at, &old)]), &overwrite)
        }
        4 => {
            let odd = format!("{at}/inner/{}", draw.pick(&ODD));
            let hazard = hazard
                .with(tree.clone())
                .with([link(&odd, "outside/shared", false)]);
            pair(hazard, variant.with(tree), &delete)
        }
        _ => {
            let hazard = hazard.with([link(&at, &base.sibling_file, false)]);
            pair(hazard, variant.with([file(at, &old)]), &overwrite)
        }
    }
}
