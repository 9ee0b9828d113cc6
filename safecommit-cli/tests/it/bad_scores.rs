//! Scores that do not hold: file, line and field, exit code 1, no output.

use crate::program::Folder;

#[track_caller]
fn check(name: &str, contents: impl AsRef<[u8]>, expect: &str) {
    let folder = Folder::new();
    folder.write(name, contents);
    folder.write("cal.json", "as it was");
    for out in [&[][..], &["--out", "cal.json"], &["--out", "new.json"]] {
        let run = folder.run([&["calibrate", "--scores", name, "--alpha", "0.1"], out].concat());
        run.fails(1, expect);
    }
    assert_eq!(folder.read("cal.json"), "as it was");
    assert_eq!(folder.names().len(), 2, "{:?}", folder.names());
}

#[test]
fn text() {
    check(
        "s.txt",
        "0.1\nhigh\n",
        "s.txt:2: score `high` is not a number",
    );
    check(
        "s.txt",
        "0.1\nNaN\n",
        "s.txt:2: score `NaN` is not a finite number",
    );
    check(
        "s.txt",
        "0.1\n0.2\n-inf",
        "s.txt:3: score `-inf` is not a finite number",
    );
    check(
        "s.txt",
        "1e999\n",
        "s.txt:1: score `1e999` is not a finite number",
    );
    check(
        "s.txt",
        "0.1\n\n0.2\n",
        "s.txt:2: the line is blank, but every line is one case",
    );
    check(
        "s.txt",
        "0.1\n \n",
        "s.txt:2: the line is blank, but every line is one case",
    );
    check(
        "s.txt",
        b"0.1\n\xff\n",
        "s.txt:2: the text is not valid UTF-8",
    );
    check(
        "s.txt",
        "0.1 0.2\n",
        "s.txt:1: score `0.1 0.2` is not a number",
    );
}

#[test]
fn jsonl() {
    let first = "{\"score\": 0.5}\n";
    check(
        "s.jsonl",
        format!("{first}{{\"scor\": 1}}\n"),
        "s.jsonl:2: score: missing field `score`",
    );
    check(
        "s.jsonl",
        format!("{first}{{\"score\": 1, \"score\": 2}}\n"),
        "s.jsonl:2: score: duplicate field `score`",
    );
    check(
        "s.jsonl",
        format!("{first}{{\"id\": 1, \"score\": 2, \"id\": 3}}\n"),
        "s.jsonl:2: id: duplicate field `id`",
    );
    check(
        "s.jsonl",
        format!("{first}{{\"score\": NaN}}\n"),
        "s.jsonl:2: score: expected value (column 11)",
    );
    check(
        "s.jsonl",
        format!("{first}{{\"score\": 1e999}}\n"),
        "s.jsonl:2: score: number out of range (column 15)",
    );
    check(
        "s.jsonl",
        format!("{first}{{\"score\": \"missing\"}}\n"),
        "s.jsonl:2: score: invalid type: string \"missing\", expected a finite number, or null for a true world that was not proposed",
    );
    check(
        "s.jsonl",
        format!("{first}{{\"score\": 0.25"),
        "s.jsonl:2: EOF while parsing an object (column 14)",
    );
    check(
        "s.jsonl",
        format!("{first}\n{first}"),
        "s.jsonl:2: the line is blank, but every line is one case",
    );
    check(
        "s.jsonl",
        format!("{first}0.5\n"),
        "s.jsonl:2: invalid type: floating point `0.5`, expected an object with the field `score`",
    );
    check(
        "s.jsonl",
        format!("{first}{{\"score\": 1}} {{}}\n"),
        "s.jsonl:2: trailing characters (column 14)",
    );
}

#[test]
fn csv() {
    check(
        "s.csv",
        "case,q\n1,0.5\n",
        "s.csv:1: score: the header has no column `score`, its columns are `case`, `q`",
    );
    check(
        "s.csv",
        "score,score\n1,0.5\n",
        "s.csv:1: score: the column `score` stands twice in the header",
    );
    for end in ["\n", "\r\n"] {
        let lines = |text: &str| text.replace('\n', end);
        check(
            "s.csv",
            lines("case,score\n1,0.5\n2,high\n"),
            "s.csv:3: score: score `high` is not a number",
        );
        check(
            "s.csv",
            lines("case,score\n1,\"0.5\"\n2,nan\n"),
            "s.csv:3: score: score `nan` is not a finite number",
        );
        check(
            "s.csv",
            lines("case,score\n\"a\nb\",0.5\n2,1e999\n"),
            "s.csv:4: score: score `1e999` is not a finite number",
        );
        check(
            "s.csv",
            lines("case,score\n1,0.5\n2,\n"),
            "s.csv:3: score: the score is empty, write `missing` if the true world was not proposed",
        );
        check(
            "s.csv",
            lines("case,score\n1,0.5\n2\n3,0.5\n"),
            "s.csv:3: the row has 1 fields, the header has 2",
        );
        check(
            "s.csv",
            lines("case,score\n1,0.5\n\n3,0.5\n"),
            "s.csv:3: the line is blank, but every line is one case",
        );
        check(
            "s.csv",
            lines("score\n0.5\n\n"),
            "s.csv:3: the line is blank, but every line is one case",
        );
        check(
            "s.csv",
            lines("case,score\n\"1,0.5\n2,0.5\n"),
            "s.csv:2: a quote is never closed",
        );
    }
}

/// Quotes that begin no field stand for themselves, and hide no row.
#[test]
fn csv_with_stray_quotes() {
    let folder = Folder::new();
    let arguments = ["calibrate", "--alpha", "0.5", "--scores", "s.csv"];
    let counts = |rows: &str, n: usize| {
        folder.write("s.csv", format!("note,score\n{rows}"));
        let calibration = folder.run(arguments).prints(0);
        assert!(calibration.contains(&format!("\"n\": {n},")), "{rows}");
    };
    counts("a\"b,0.1\n", 1);
    counts("a\"b,0.1\nc,0.2\nd\"e,0.3\n", 3);
    counts("\"two\nlines, \"\"quoted\"\"\",0.1\r\nb,0.2", 2);
    counts("\"\n\n\",0.1\n", 1);
    check(
        "s.csv",
        "note,score\na\"b,0.1\n\nd\"e,0.3\n",
        "s.csv:3: the line is blank, but every line is one case",
    );
    check(
        "s.csv",
        "note,score\na,0.1\n\"b,0.2\nc,0.3\n",
        "s.csv:3: a quote is never closed",
    );
}

#[test]
fn csv_with_carriage_returns_alone() {
    check(
        "s.csv",
        "score\r0.5\r\r0.7\r",
        "s.csv:1: a carriage return stands without a line feed",
    );
}

#[test]
fn files_that_cannot_be_read_or_written() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("folder")).unwrap();
    folder.write("s.txt", "0.5\n");
    let calibrate = |scores: &str, out: &str| {
        folder.run([
            "calibrate",
            "--scores",
            scores,
            "--alpha",
            "0.1",
            "--out",
            out,
        ])
    };
    calibrate("absent.txt", "cal.json").fails(
        1,
        "cannot read `absent.txt`: No such file or directory (os error 2)",
    );
    calibrate("folder", "cal.json").fails(1, "cannot read `folder`: Is a directory (os error 21)");
    calibrate("s.txt", "folder").fails(1, "cannot write `folder`: it is a directory");
    calibrate("s.txt", "absent/cal.json").fails(
        1,
        "cannot write `absent/cal.json`: `absent` is not a directory",
    );
    calibrate("s.txt", "s.txt/cal.json").fails(
        1,
        "cannot write `s.txt/cal.json`: `s.txt` is not a directory",
    );
    assert_eq!(folder.names(), ["folder", "s.txt"]);
}
