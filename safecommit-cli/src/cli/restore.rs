//! What `restore` may be asked for.

use clap::ArgGroup;

use super::{ConfigurationArgument, EXIT_CODES};

/// Undo an effect of a gate, list the effects, or empty the trash.
///
/// What was deleted, overwritten or moved comes back from the trash, never over anything else. An undone
/// effect is undone in turn by its number or by that of what undid it. Whatever a crash left half done is
/// brought to the old or the new state first.
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES, group(ArgGroup::new("what").required(true)))]
pub(crate) struct RestoreArguments {
    /// The number of the effect, as the list and the decision name it
    #[arg(value_name = "ENTRY", group = "what")]
    pub(crate) entry: Option<u64>,

    /// Remove for good what these effects keep in the trash; they cannot be undone any more
    #[arg(long, value_name = "ENTRY", num_args = 1.., group = "what")]
    pub(crate) empty: Vec<u64>,

    /// List every effect, in the order in which they were begun
    #[arg(long, group = "what")]
    pub(crate) list: bool,

    #[command(flatten)]
    pub(crate) configuration: ConfigurationArgument,
}
