//! Outputs: replaced whole or not at all, and readers that leave.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Stdio};

use crate::program::{Folder, command};

const REQUEST: &str = r#"{"actions":[{"id":"a"}],"worlds":[{"id":"w","score":0.5,"safe":["a"]}]}"#;

fn calibrate(folder: &Folder, scores: &str, out: &str) -> Child {
    command()
        .args([
            "calibrate",
            "--scores",
            scores,
            "--alpha",
            "0.1",
            "--out",
            out,
        ])
        .current_dir(folder.path())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn a_reader_that_leaves_a_stream_ends_it_quietly() {
    let mut child = command()
        .args(["decide", "-", "--jsonl"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut requests = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap());
    let writer = std::thread::spawn(move || {
        // Without end: it is the program that has to stop, which closes its standard input.
        while requests
            .write_all(format!("{REQUEST}\n").as_bytes())
            .is_ok()
        {}
    });
    let mut first = String::new();
    answers.read_line(&mut first).unwrap();
    drop(answers);
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(first.contains("\"decision\":\"commit\""), "{first}");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}

#[test]
fn a_reader_that_was_never_there_is_no_panic() {
    for arguments in [
        &["schema", "decision"][..],
        &["decide", "-"],
        &["decide", "-", "--format", "json"],
    ] {
        let mut child = command()
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        // The schema reads nothing and may be gone already.
        let _ = child.stdin.take().unwrap().write_all(REQUEST.as_bytes());
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        if arguments[0] == "decide" {
            // A commit whose certificate nobody sees is none.
            assert_eq!(output.status.code(), Some(1), "{arguments:?}");
            assert_eq!(
                stderr,
                "error: cannot write to standard output: nobody reads it\n"
            );
        } else {
            assert_eq!(output.status.code(), Some(0), "{arguments:?}");
            assert_eq!(stderr, "");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_no_success() {
    let full = std::fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let folder = Folder::new();
    folder.write("request.json", REQUEST);
    let output = command()
        .args(["decide", "request.json"])
        .current_dir(folder.path())
        .stdout(full)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(
        stderr.starts_with("error: cannot write to standard output: "),
        "{stderr}"
    );
}

#[test]
fn two_writers_leave_the_whole_output_of_one_of_them() {
    let folder = Folder::new();
    folder.write("few.txt", "0.5\n".repeat(30));
    folder.write("many.txt", "0.25\n".repeat(40));
    let outputs = ["few.txt", "many.txt"].map(|scores| {
        assert!(
            calibrate(&folder, scores, "alone.json")
                .wait()
                .unwrap()
                .success()
        );
        folder.read("alone.json")
    });
    for _ in 0..10 {
        let mut writers: Vec<Child> = (0..4)
            .flat_map(|_| ["few.txt", "many.txt"])
            .map(|scores| calibrate(&folder, scores, "shared.json"))
            .collect();
        // A reader at any moment sees no file yet or a whole one.
        while writers
            .iter_mut()
            .any(|writer| writer.try_wait().unwrap().is_none())
        {
            if let Ok(seen) = std::fs::read_to_string(folder.path().join("shared.json")) {
                assert!(outputs.contains(&seen), "{seen}");
            }
        }
        for mut writer in writers {
            assert!(writer.wait().unwrap().success());
        }
        assert!(outputs.contains(&folder.read("shared.json")));
    }
    assert_eq!(
        folder.names(),
        ["alone.json", "few.txt", "many.txt", "shared.json"]
    );
}

#[cfg(unix)]
#[test]
fn permissions_are_those_of_a_plain_create_or_of_the_file_replaced() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = Folder::new();
    let mode = |name: &str| {
        let metadata = std::fs::metadata(folder.path().join(name)).unwrap();
        metadata.permissions().mode() & 0o777
    };
    folder.write("scores.txt", "0.5\n");
    assert!(
        calibrate(&folder, "scores.txt", "new.json")
            .wait()
            .unwrap()
            .success()
    );
    assert_eq!(mode("new.json"), mode("scores.txt"));

    folder.write("shared.json", "old");
    let shared = std::fs::Permissions::from_mode(0o640);
    std::fs::set_permissions(folder.path().join("shared.json"), shared).unwrap();
    assert!(
        calibrate(&folder, "scores.txt", "shared.json")
            .wait()
            .unwrap()
            .success()
    );
    assert_eq!(mode("shared.json"), 0o640);
    assert_eq!(folder.read("shared.json"), folder.read("new.json"));
}

#[test]
fn an_input_is_not_replaced() {
    let folder = Folder::new();
    folder.write("s.txt", "0.5\n");
    std::fs::create_dir(folder.path().join("d")).unwrap();
    for out in ["s.txt", "./s.txt", "d/../s.txt"] {
        let run = folder.run([
            "calibrate",
            "--scores",
            "s.txt",
            "--alpha",
            "0.1",
            "--out",
            out,
        ]);
        run.fails(1, &format!("cannot write `{out}`: it is the input `s.txt`"));
    }
    assert_eq!(folder.read("s.txt"), "0.5\n");
    for name in ["manifest.json", "calibration.jsonl"] {
        folder.write(name, "kept");
        let run = folder.run([
            "bench",
            "run",
            "--data",
            ".",
            "--method",
            "safecommit",
            "--alpha",
            "0.1",
            "--max-probes",
            "2",
            "--decisions",
            name,
        ]);
        run.fails(
            1,
            &format!("cannot write `{name}`: it is the input `./{name}`"),
        );
        assert_eq!(folder.read(name), "kept");
    }
}

#[test]
fn a_dash_is_standard_output() {
    let folder = Folder::new();
    folder.write("s.txt", "0.5\n");
    let arguments = ["calibrate", "--scores", "s.txt", "--alpha", "0.1"];
    let plain = folder.run(arguments).prints(0);
    let dash = folder
        .run(arguments.into_iter().chain(["--out", "-"]))
        .prints(0);
    assert_eq!(dash, plain);
    assert_eq!(folder.names(), ["s.txt"]);
}

#[cfg(unix)]
#[test]
fn a_link_to_nothing_is_followed_and_a_loop_is_an_error() {
    use std::os::unix::fs::symlink;

    let folder = Folder::new();
    folder.write("s.txt", "0.5\n");
    std::fs::create_dir(folder.path().join("d")).unwrap();
    symlink("d/new.json", folder.path().join("link")).unwrap();
    symlink("other", folder.path().join("loop")).unwrap();
    symlink("loop", folder.path().join("other")).unwrap();
    assert!(
        calibrate(&folder, "s.txt", "link")
            .wait()
            .unwrap()
            .success()
    );
    let link = std::fs::symlink_metadata(folder.path().join("link")).unwrap();
    assert!(link.is_symlink());
    assert!(folder.read("d/new.json").contains("checksum"));
    let run = folder.run([
        "calibrate",
        "--scores",
        "s.txt",
        "--alpha",
        "0.1",
        "--out",
        "loop",
    ]);
    run.fails(1, "cannot write `loop`: too many symbolic links");
    assert_eq!(folder.names(), ["d", "link", "loop", "other", "s.txt"]);
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link_and_a_pipe_stays_a_pipe() {
    let folder = Folder::new();
    folder.write("scores.txt", "0.5\n");
    folder.write("target.json", "old");
    let link = folder.path().join("link.json");
    std::os::unix::fs::symlink("target.json", &link).unwrap();
    assert!(
        calibrate(&folder, "scores.txt", "link.json")
            .wait()
            .unwrap()
            .success()
    );
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(folder.read("target.json").contains("checksum"));

    let calibrate = [
        "calibrate",
        "--scores",
        "scores.txt",
        "--alpha",
        "0.1",
        "--out",
        "/dev/stdout",
    ];
    assert!(folder.run(calibrate).prints(0).contains("checksum"));
    assert_eq!(folder.names(), ["link.json", "scores.txt", "target.json"]);
}
