//! The digest of a request.

use sha2::{Digest as _, Sha256};

use super::request::Request;
use crate::problem::Subject;

/// The digest of a request as far as its reports, from where those of the same request with other reports go on.
///
/// Worlds and probes are nearly all of a request, and stay what they are while probes are made.
#[derive(Clone, Debug)]
pub(super) struct Head(Option<Sha256>);

impl Head {
    /// The subject of a request, and the head that it shares with those that differ in their reports alone.
    pub(super) fn of(request: &Request) -> Result<(Self, Subject), serde_json::Error> {
        let canonical = canonical(request)?;
        let rest = rest(request)?;
        let mut digest = Sha256::new();
        let Some(head) = canonical.strip_suffix(rest.as_slice()) else {
            digest.update(&canonical);
            return Ok((Self(None), subject(digest)));
        };
        digest.update(head);
        let shared = digest.clone();
        digest.update(&rest);
        Ok((Self(Some(shared)), subject(digest)))
    }

    /// The subject of a request with this head.
    pub(super) fn subject(&self, request: &Request) -> Result<Subject, serde_json::Error> {
        let Some(head) = &self.0 else {
            return Self::of(request).map(|(_, subject)| subject);
        };
        let mut digest = head.clone();
        digest.update(rest(request)?);
        Ok(subject(digest))
    }
}

fn subject(digest: Sha256) -> Subject {
    Subject(digest.finalize().into())
}

/// The request as JSON: fields in their declared order, absent ones as they default.
fn canonical(request: &Request) -> Result<Vec<u8>, serde_json::Error> {
    serde_json::to_vec(request)
}

/// The part of the canonical form that begins with the reports.
fn rest(request: &Request) -> Result<Vec<u8>, serde_json::Error> {
    let without_head = Request {
        id: None,
        stratum: None,
        actions: Vec::new(),
        worlds: Vec::new(),
        hard_evidence: Vec::new(),
        probes: Vec::new(),
        observed: request.observed.clone(),
        elapsed_steps: request.elapsed_steps,
        authority_missing: request.authority_missing,
        fresh_evidence_expected: request.fresh_evidence_expected,
        beta: request.beta,
        settings: request.settings.clone(),
    };
    let mut canonical = canonical(&without_head)?;
    canonical.drain(..canonical.len().min(EMPTY.len()));
    Ok(canonical)
}

/// What is left of a head without anything in it.
const EMPTY: &str = r#"{"actions":[],"worlds":[]"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_subject_is_the_digest_of_the_whole_canonical_form() {
        let begun = r#"{"id": "a", "actions": [{"id": "delete"}], "worlds": [{"id": "w", "score": 0.5, "safe": []}],
            "probes": [{"id": "p", "cost": 1, "asks": "w"}]}"#;
        let reported = begun.replace(
            r#"asks": "w"}]"#,
            r#"asks": "w"}], "observed": [{"probe": "p", "outcome": "no"}], "elapsed_steps": 3"#,
        );
        let read = |text: &str| -> Request { serde_json::from_str(text).unwrap() };
        let (begun, reported) = (read(begun), read(&reported));
        assert!(!reported.observed.is_empty());
        let whole = |request: &Request| {
            let canonical = serde_json::to_vec(request).unwrap();
            Subject(Sha256::digest(canonical).into())
        };
        let (head, subject) = Head::of(&begun).unwrap();
        assert!(head.0.is_some());
        assert_eq!(subject, whole(&begun));
        for request in [&begun, &reported] {
            assert_eq!(head.subject(request).unwrap(), whole(request));
            assert_eq!(Head(None).subject(request).unwrap(), whole(request));
        }
    }
}
