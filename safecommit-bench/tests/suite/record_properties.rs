//! Properties of the wire form over many records.

use proptest::prelude::*;
use safecommit_bench::{EpisodeRecord, Split, render_rows};

use crate::project;

/// The text of a record with these ids and numbers.
fn line(
    actions: &[String],
    worlds: &[(String, u32, Vec<bool>)],
    cost: f64,
    truth: usize,
) -> String {
    let quoted = |id: &String| serde_json::Value::from(id.as_str()).to_string();
    let list = |items: Vec<String>| items.join(",");
    let world = |(id, score, safe): &(String, u32, Vec<bool>)| {
        let safe = actions.iter().zip(safe).filter(|(_, safe)| **safe);
        let safe = list(safe.map(|(action, _)| quoted(action)).collect());
        let (whole, rest) = (score / 1_000_000, score % 1_000_000);
        format!(
            "{{\"id\":{},\"score\":{whole}.{rest:06},\"safe\":[{safe}]}}",
            quoted(id)
        )
    };
    let ids: Vec<String> = worlds.iter().map(|world| quoted(&world.0)).collect();
    let probes = ids
        .iter()
        .enumerate()
        .map(|(at, id)| format!("{{\"id\":\"p{at}\",\"cost\":{cost:?},\"asks\":{id}}}"));
    format!(
        "{{\"id\":\"x\",\"family\":\"stale\",\"actions\":[{}],\"worlds\":[{}],\"proposed\":[{}],\"probes\":[{}],\"true_world\":{}}}\n",
        list(actions.iter().map(quoted).collect()),
        list(worlds.iter().map(world).collect()),
        ids.join(","),
        list(probes.collect()),
        ids[truth],
    )
}

/// What every record that loads must satisfy, however it came about.
fn check_holds(record: &EpisodeRecord) {
    let written = record.to_json_line();
    let read = EpisodeRecord::from_json(written.as_bytes()).unwrap();
    assert_eq!(read, *record);
    assert_eq!(read.to_json_line(), written);
    let episode = record.to_episode().unwrap();
    let count = episode.worlds().len();
    assert!(episode.actions() > 0 && episode.true_world() < count);
    assert!(episode.proposed().is_sorted() && episode.proposed().iter().all(|at| *at < count));
    for probe in episode.probes() {
        assert!(probe.cost > 0.0 && episode.proposed().contains(&probe.asks));
    }
    for world in episode.worlds() {
        assert!(world.score.count() <= 1_000_000);
        assert_eq!(
            world
                .safe
                .checked_shr(episode.actions() as u32)
                .unwrap_or(0),
            0
        );
    }
}

fn distinct(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<String>> {
    prop::collection::btree_set("\\PC{1,6}|[\"\\\\\n\u{1}a-c]{1,4}", count)
        .prop_map(|ids| ids.into_iter().collect::<Vec<_>>())
        .prop_shuffle()
}

proptest! {
    #[test]
    fn any_valid_record_is_written_as_it_was_read(
        actions in distinct(1..9),
        ids in distinct(1..9),
        scores in prop::collection::vec((0..=1_000_000_u32, prop::collection::vec(any::<bool>(), 9)), 9),
        cost in 1e-300..1e300_f64,
        truth in any::<prop::sample::Index>(),
    ) {
        let truth = truth.index(ids.len());
        let worlds: Vec<_> = ids.into_iter().zip(scores).map(|(id, (score, safe))| (id, score, safe)).collect();
        let line = line(&actions, &worlds, cost, truth);
        let record = EpisodeRecord::from_json(line.as_bytes()).unwrap();
        prop_assert_eq!(record.to_json_line(), line);
        check_holds(&record);
    }

    #[test]
    fn a_damaged_line_is_refused_or_still_holds(
        row in 0..40_u64,
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        cut in any::<bool>(),
    ) {
        let mut line = render_rows(&project(), Split::Test, row..row + 1);
        let at = at.index(line.len() - 1);
        if cut {
            line.truncate(at);
            // Nothing short of the closing brace is a record.
            prop_assert!(EpisodeRecord::from_json(&line).is_err());
        } else {
            line[at] = byte;
            if let Ok(record) = EpisodeRecord::from_json(&line) {
                check_holds(&record);
            }
        }
    }
}
