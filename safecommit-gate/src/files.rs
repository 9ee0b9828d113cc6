//! Files beneath a workspace: handles, identities, facts and the probes that reveal them.

mod age;
mod copies;
mod error;
mod facts;
mod git;
mod handle;
mod identity;
mod patterns;
mod probe;
mod resolve;
mod staged;
mod status;
mod tree;
mod walk;

pub use error::FileError;
#[cfg(target_os = "linux")]
pub(crate) use facts::BASE;
pub(crate) use facts::score_version;
pub use facts::{FileSettings, PROTECTED, SECRET, file_facts, overwrite_facts};
pub use handle::{Target, Workspace};
pub use identity::Identity;
pub use patterns::{PatternError, Patterns};
#[cfg(target_os = "linux")]
pub(crate) use probe::Proposed;
pub use probe::{FileProbe, FileProbeError, FileQuestion, ProbeOutcome};
pub use resolve::Location;
#[doc(no_inline)]
pub use safecommit_conformal::{Digest, DigestError};
pub use staged::StagedDiff;
pub use status::{Kind, Status};
pub use walk::Limits;

#[cfg(target_os = "linux")]
pub(crate) use {
    handle::open_directory,
    status::{Place, of_handle as status_of_handle, of_name as status_of_name},
    walk::walk,
};
