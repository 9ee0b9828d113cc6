//! The `safecommit` command.
fn main() {}
