//! The wire form: what it accepts, how it is written, and what it refuses.

use safecommit_bench::{
    EpisodeRecord, Family, LineProblem, MAX_ACTIONS, RecordProblem, read_episodes,
};

pub(crate) const LINE: &str = concat!(
    r#"{"id":"test-000017","family":"poison","actions":["a0","a1","a2"],"#,
    r#""worlds":[{"id":"w0","score":0.183204,"safe":["a2"],"components":[0.010000,0.100000,0.050000,0.023204]},"#,
    r#"{"id":"w1","score":1.000000,"safe":[]},"#,
    r#"{"id":"w2","score":0.000000,"safe":["a2","a0"]}],"#,
    r#""proposed":["w2","w0"],"#,
    r#""probes":[{"id":"p0","cost":1.0,"asks":"w0"},{"id":"p1","cost":0.25,"asks":"w2"}],"#,
    r#""true_world":"w0"}"#,
);

fn read(line: &str) -> EpisodeRecord {
    EpisodeRecord::from_json(line.as_bytes()).unwrap()
}

/// Replaces a part of the line and checks which field the error names and what it says.
#[track_caller]
pub(crate) fn check(part: &str, replacement: &str, field: &str, message: &str) {
    assert!(LINE.contains(part), "{part}");
    let line = LINE.replacen(part, replacement, 1);
    let error = EpisodeRecord::from_json(line.as_bytes()).unwrap_err();
    assert_eq!(error.field(), field, "{error}");
    assert!(error.to_string().contains(message), "{error}");
}

#[test]
fn a_record_is_written_as_it_was_read() {
    assert_eq!(read(LINE).to_json_line(), format!("{LINE}\n"));
}

#[test]
fn a_record_becomes_an_episode() {
    let record = read(LINE);
    assert_eq!(record.family(), Family::Poison);
    assert_eq!(record.id(), "test-000017");
    assert_eq!(record.proposed(), [2, 0]);
    assert_eq!(record.worlds()[0].components().unwrap()[1].count(), 100_000);
    assert_eq!(record.worlds()[1].components(), None);
    let episode = record.to_episode().unwrap();
    assert_eq!(episode.family(), Family::Poison);
    assert_eq!(episode.actions(), 3);
    let worlds: Vec<_> = episode
        .worlds()
        .iter()
        .map(|w| (w.score.count(), w.safe))
        .collect();
    assert_eq!(worlds, [(183_204, 0b100), (1_000_000, 0), (0, 0b101)]);
    // Positions ascend, whatever the order of the file.
    assert_eq!(episode.proposed(), [0, 2]);
    let probes: Vec<_> = episode
        .probes()
        .iter()
        .map(|p| (p.cost.to_bits(), p.asks))
        .collect();
    assert_eq!(probes, [(1.0_f64.to_bits(), 0), (0.25_f64.to_bits(), 2)]);
    assert_eq!(episode.true_world(), 0);
    assert!(episode.true_world_proposed() && episode.is_safe(2) && !episode.is_safe(0));
}

#[test]
fn spaces_integers_and_fewer_decimals_read_as_the_same_record() {
    let spaced = LINE
        .replace("1.000000", "1")
        .replace("0.000000", "-0.0")
        .replace("0.010000", "1e-2")
        .replace(',', " , ");
    assert_eq!(read(&spaced).to_json_line(), format!("{LINE}\n"));
}

#[test]
fn unusual_ids_survive() {
    let line = LINE.replace("w0", r#"\"\\\u0007\u00e9 x"#);
    let record = read(&line);
    assert_eq!(record.worlds()[0].id(), "\"\\\u{7}é x");
    assert_eq!(read(&record.to_json_line()), record);
}

#[test]
fn a_proposal_may_be_empty_and_miss_the_true_world() {
    let line = LINE.replacen(r#"["w2","w0"]"#, "[]", 1);
    let (head, tail) = line.split_once(r#""probes":["#).unwrap();
    let line = format!("{head}\"probes\":[{}", &tail[tail.find(']').unwrap()..]);
    let episode = read(&line).to_episode().unwrap();
    assert!(episode.proposed().is_empty() && episode.probes().is_empty());
    assert!(!episode.true_world_proposed());
}

#[test]
fn many_actions_are_read_and_at_most_64_decided_on() {
    let line = |count: usize| {
        let ids: Vec<String> = (0..count).map(|at| format!("\"x{at}\"")).collect();
        let actions = format!(r#"["a0","a1","a2",{}]"#, ids.join(","));
        LINE.replacen(r#"["a0","a1","a2"]"#, &actions, 1)
    };
    let largest = read(&line(MAX_ACTIONS - 3)).to_episode().unwrap();
    assert_eq!(largest.actions(), MAX_ACTIONS);
    let error = read(&line(MAX_ACTIONS - 2)).to_episode().unwrap_err();
    assert_eq!(
        error.to_string(),
        "`65` actions, at most 64 can be decided on"
    );
}

#[test]
fn bad_fields_are_named() {
    check(
        r#""w0","score""#,
        r#""w1","score""#,
        "worlds[1].id",
        "`w1` appears twice",
    );
    check(
        r#""a0","a1","a2""#,
        r#""a0","a1","a0""#,
        "actions[2]",
        "`a0` appears twice",
    );
    check(
        r#"["a0","a1","a2"]"#,
        "[]",
        "actions",
        "the list of actions is empty",
    );
    check(
        r#""id":"p1""#,
        r#""id":"p0""#,
        "probes[1].id",
        "`p0` appears twice",
    );
    check(
        r#""id":"p1""#,
        r#""id":"""#,
        "probes[1].id",
        "the id is empty",
    );
    check(
        r#""id":"test-000017""#,
        r#""id":"""#,
        "id",
        "the id is empty",
    );
    check(
        r#""safe":["a2"]"#,
        r#""safe":["a7"]"#,
        "worlds[0].safe[0]",
        "unknown action `a7`",
    );
    check(
        r#"["a2","a0"]"#,
        r#"["a2","a2"]"#,
        "worlds[2].safe[1]",
        "`a2` appears twice",
    );
    check(
        r#"["w2","w0"]"#,
        r#"["w2","w9"]"#,
        "proposed[1]",
        "unknown world `w9`",
    );
    check(
        r#"["w2","w0"]"#,
        r#"["w2","w2"]"#,
        "proposed[1]",
        "`w2` appears twice",
    );
    check(
        r#""asks":"w0""#,
        r#""asks":"w9""#,
        "probes[0].asks",
        "unknown world `w9`",
    );
    check(
        r#""asks":"w0""#,
        r#""asks":"w1""#,
        "probes[0].asks",
        "world `w1` is not proposed",
    );
    check(
        r#""cost":0.25"#,
        r#""cost":0"#,
        "probes[1].cost",
        "cost `0` is not finite and above 0",
    );
    check(
        r#""cost":0.25"#,
        r#""cost":-1.5"#,
        "probes[1].cost",
        "cost `-1.5`",
    );
    check(
        r#""cost":0.25"#,
        r#""cost":NaN"#,
        "probes[1].cost",
        "expected",
    );
    check(
        r#""cost":0.25"#,
        r#""cost":1e999"#,
        "probes[1].cost",
        "number out of range",
    );
    check(
        r#""true_world":"w0""#,
        r#""true_world":"w9""#,
        "true_world",
        "unknown world `w9`",
    );
    check(
        "0.183204",
        "1.5",
        "worlds[0].score",
        "`1.5` is not in [0, 1]",
    );
    check(
        "0.183204",
        "-0.1",
        "worlds[0].score",
        "`-0.1` is not in [0, 1]",
    );
    check("0.183204", "NaN", "worlds[0].score", "expected");
    check("0.183204", "null", "worlds[0].score", "null");
    check(
        "0.183204",
        "0.1832045",
        "worlds[0].score",
        "`0.1832045` has more than six decimals",
    );
    check(
        "0.010000",
        "0.010001",
        "worlds[0].components",
        "do not sum to the score",
    );
    check("0.010000,", "", "worlds[0].components", "invalid length 3");
    check(
        "0.010000",
        "-0.010000",
        "worlds[0].components[0]",
        "not in [0, 1]",
    );
    check(
        "[0.010000,0.100000,0.050000,0.023204]",
        "null",
        "worlds[0].components",
        "null",
    );
    check(
        r#""poison""#,
        r#""poisons""#,
        "family",
        "unknown variant `poisons`",
    );
    check(r#""id":"test-000017","#, "", "id", "missing field `id`");
    check(
        r#","asks":"w2""#,
        "",
        "probes[1].asks",
        "missing field `asks`",
    );
    check(
        r#""family""#,
        r#""colour":1,"family""#,
        "colour",
        "unknown field `colour`",
    );
    check(
        r#""cost":0.25"#,
        r#""cost":0.25,"p":1"#,
        "probes[1].p",
        "unknown field `p`",
    );
    check(
        r#""true_world":"w0"}"#,
        r#""true_world":"w0"}}"#,
        ".",
        "trailing characters",
    );
    check(r#","true_world":"w0"}"#, "", ".", "EOF");
    check(
        r#""family":"poison""#,
        r#""family":"poison","family":"stale""#,
        "family",
        "duplicate field `family`",
    );
}

#[test]
fn deserialising_checks_too() {
    let line = LINE.replacen(r#""asks":"w0""#, r#""asks":"w1""#, 1);
    let error = serde_json::from_str::<EpisodeRecord>(&line).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("field `probes[0].asks`: world `w1` is not proposed")
    );
    assert_eq!(
        serde_json::from_str::<EpisodeRecord>(LINE).unwrap(),
        read(LINE)
    );
}

#[test]
fn a_file_error_names_file_line_and_field() {
    let other = LINE.replace("000017", "000018");
    let file = |lines: &[&str]| lines.join("\n");
    assert_eq!(read_episodes("f", b"").unwrap(), []);
    let two = file(&[LINE, &other]);
    assert_eq!(read_episodes("f", two.as_bytes()).unwrap().len(), 2);
    assert_eq!(
        read_episodes("f", format!("{two}\n").as_bytes())
            .unwrap()
            .len(),
        2
    );
    assert_eq!(
        read_episodes("f", two.replace('\n', "\r\n").as_bytes())
            .unwrap()
            .len(),
        2
    );

    let error = |text: &[u8]| read_episodes("d/f.jsonl", text).unwrap_err();
    let repeated = error(file(&[LINE, &other, LINE]).as_bytes());
    assert_eq!(
        repeated.to_string(),
        "`d/f.jsonl` line 3: field `id`: `test-000017` is the id of line 1 too"
    );
    let unknown = error(file(&[LINE, &other.replace(r#"e":["a2"]"#, r#"e":["b"]"#)]).as_bytes());
    assert_eq!(
        unknown.to_string(),
        "`d/f.jsonl` line 2: field `worlds[0].safe[0]`: unknown action `b`"
    );
    let LineProblem::Field(field) = &unknown.problem else {
        panic!("{unknown}");
    };
    assert_eq!(
        *field.problem(),
        RecordProblem::UnknownAction("b".to_owned())
    );

    let truncated = error(&two.as_bytes()[..two.len() - 20]);
    assert_eq!(truncated.line, 2);
    assert!(
        truncated.to_string().contains("EOF while parsing"),
        "{truncated}"
    );
    let blank = error(format!("{LINE}\n\n{other}").as_bytes());
    assert_eq!(blank.line, 2);
    let blank = error(b"\n");
    assert_eq!(blank.line, 1);
    let mut broken = two.clone().into_bytes();
    broken[LINE.len() + 10] = 0xff;
    let broken = error(&broken);
    assert_eq!(broken.line, 2);
    // The first of several bad lines, however they are spread over threads.
    let many: Vec<String> = (0..200)
        .map(|at| {
            if at < 50 {
                LINE.replace("000017", &at.to_string())
            } else {
                "{".to_owned()
            }
        })
        .collect();
    assert_eq!(error(many.join("\n").as_bytes()).line, 51);
}
