//! safecommit-core
