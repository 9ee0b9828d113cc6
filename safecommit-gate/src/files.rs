//! Files beneath a workspace: handles, identities, facts and the probes that reveal them.

mod error;
mod handle;
mod identity;
mod status;
mod walk;

pub use error::FileError;
pub use handle::{Target, Workspace};
pub use identity::{Digest, DigestError, Identity};
pub use status::{Kind, Status};
pub use walk::{Entry, Limits};

#[cfg(target_os = "linux")]
pub(crate) use {
    handle::open_directory,
    status::{Place, of_handle as status_of_handle, of_name as status_of_name},
    walk::walk,
};
