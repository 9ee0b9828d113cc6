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
