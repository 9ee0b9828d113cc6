//! A test that mounts something, run again where nobody else sees it.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

/// Runs `test` of this program once more, in a name space of mounts of its own and with a variable set. A system may
/// forbid name spaces to its users; then what it tests with the mounts that are there is all there is.
pub(crate) fn run_again(test: &str, variable: &str, value: impl AsRef<OsStr>) {
    let unshare = |program: &Path| {
        let mut command = Command::new("unshare");
        command
            .args(["--user", "--map-root-user", "--mount"])
            .arg(program);
        command
    };
    let allowed = unshare(Path::new("true")).status();
    if allowed.is_ok_and(|status| status.success()) {
        let inner = unshare(&std::env::current_exe().unwrap())
            .args(["--exact", test])
            .env(variable, value)
            .output()
            .unwrap();
        let output = String::from_utf8_lossy(&inner.stdout);
        assert!(inner.status.success(), "{output}");
        assert!(output.contains("1 passed"), "{output}");
    }
}
