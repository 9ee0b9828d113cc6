//! What `init` may be asked for.

use std::path::PathBuf;

use super::EXIT_CODES;

/// Make a gate for a workspace: configuration, policies, state directory, key and an empty audit log.
///
/// Everything is in one new directory for its user alone, which has to be outside the workspace: an
/// agent that works there could change it. The configuration explains itself, and says the defaults.
/// Nothing is overwritten, and after a failure nothing is left behind.
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct InitArguments {
    /// The directory beneath which actions may have effects
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: PathBuf,

    /// Where to make the gate [default: safecommit/NAME in the environment's XDG_CONFIG_HOME or in
    /// ~/.config, where NAME is the last component of the workspace]
    #[arg(long, value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
}
