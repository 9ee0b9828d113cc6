//! safecommit-conformal
