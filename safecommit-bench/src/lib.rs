//! safecommit-bench
