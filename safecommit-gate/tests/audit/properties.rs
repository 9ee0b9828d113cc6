//! For any decision: it is recorded, verifies, replays, exports; and any one change is found.

use proptest::prelude::*;
use rusqlite::params;
use safecommit_core::Request;
use safecommit_gate::audit::{
    AuditError, LogKey, RedactedField, Redaction, UsedCalibration, check_export,
};
use serde_json::json;

use crate::support::{Place, calibration, entry, key, tamper};

/// Requests of every shape, with names that need escapes.
fn requests() -> impl Strategy<Value = Request> {
    let world = (0.0..1.0_f64, any::<u8>());
    let worlds = prop::collection::vec(world, 0..6);
    let name = "[ -~äß\u{1F600}\n]{1,8}";
    (1..4_usize, worlds, name, any::<(bool, bool, u8)>()).prop_map(
        |(actions, worlds, name, (authority, answered, asked))| {
            let action = |at: usize| format!("{name}/action {at}");
            let world = |at: usize| format!("{name}/world {at}");
            let safe = |mask: u8| -> Vec<String> {
                (0..actions).filter(|at| mask >> at & 1 == 1).map(action).collect()
            };
            let actions: Vec<_> = (0..actions).map(|at| json!({"id": action(at)})).collect();
            let asked = (!worlds.is_empty()).then(|| world(usize::from(asked) % worlds.len()));
            let probes: Vec<_> =
                asked.iter().map(|asked| json!({"id": "ask", "cost": 1.5, "asks": asked})).collect();
            let observed: Vec<_> = probes
                .iter()
                .filter(|_| answered)
                .map(|_| json!({"probe": "ask", "outcome": if authority { "no" } else { "yes" }}))
                .collect();
            let worlds: Vec<_> = worlds
                .iter()
                .enumerate()
                .map(|(at, (score, mask))| json!({"id": world(at), "score": score, "safe": safe(*mask)}))
                .collect();
            let request = json!({
                "actions": actions, "worlds": worlds, "probes": probes, "observed": observed,
                "authority_missing": authority
            });
            serde_json::from_value(request).unwrap()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_log_of_any_decisions_verifies_replays_and_finds_any_one_change(
        requests in prop::collection::vec(requests(), 1..6),
        redacted in any::<bool>(),
        (row, column, at, bit) in (any::<usize>(), 0..4_usize, any::<usize>(), 0..8_u32),
    ) {
        let place = Place::new();
        let mut log = place.create();
        if redacted {
            let fields = [RedactedField::World, RedactedField::Action];
            log = log.with_redaction(Redaction::new(LogKey::from_bytes([3; 32]), fields));
        }
        let calibration = calibration();
        let records = requests.len() as u64;
        for (number, request) in requests.into_iter().enumerate() {
            let used = match number % 2 {
                0 => UsedCalibration::One(&calibration),
                _ => UsedCalibration::None,
            };
            log.append(&entry(&number.to_string(), request, used), used).unwrap();
        }
        let verified = place.reader().verify(&place.head, &key()).unwrap();
        prop_assert_eq!(verified.records, records);
        let replay = place.reader().replay().unwrap();
        prop_assert_eq!((replay.decisions, replay.differing), (records, vec![]));
        let mut lines = Vec::new();
        place.reader().export(&place.head, &key(), &mut lines).unwrap();
        prop_assert_eq!(check_export(lines.as_slice(), &key()).unwrap(), verified);

        let sequence = row as u64 % records + 1;
        let column = ["body", "previous", "hash", "mac"][column];
        tamper(&place, |db| {
            let sql = format!("SELECT {column} FROM record WHERE sequence = {sequence}");
            let mut bytes: Vec<u8> = db.query_row(&sql, [], |row| row.get(0)).unwrap();
            let at = at % bytes.len();
            bytes[at] ^= 1 << bit;
            let sql = format!("UPDATE record SET {column} = ?1 WHERE sequence = {sequence}");
            db.execute(&sql, params![bytes]).unwrap();
        });
        match place.verify() {
            Err(AuditError::Flaw(flaw)) => prop_assert_eq!(flaw.sequence, sequence),
            other => prop_assert!(false, "{:?}", other),
        }
    }
}
