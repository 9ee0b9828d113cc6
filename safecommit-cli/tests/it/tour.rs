//! The tour of the examples shows what the program really prints.

use crate::program::{Folder, example, workspace};

/// Runs every command of the tour's console blocks in a copy of the examples, in the order in which they
/// stand, and compares what follows each of them. A command prints standard output, then standard error.
#[test]
fn the_tour_shows_real_output() {
    let tour = example("README.md");
    let folder = copy_of_the_examples();
    let (mut real, mut in_console, mut commands) = (String::new(), false, 0);
    let mut code = 0;
    for line in tour.lines() {
        match line {
            "```console" => in_console = true,
            "```" => in_console = false,
            _ => {}
        }
        let command = line.strip_prefix("$ ").filter(|_| in_console);
        if in_console && command.is_none() && line != "```console" {
            continue;
        }
        real.push_str(line);
        real.push('\n');
        let Some(command) = command else { continue };
        commands += 1;
        if command == "echo $?" {
            real.push_str(&format!("{code}\n"));
            continue;
        }
        let mut words = command.split(' ');
        assert_eq!(words.next(), Some("safecommit"), "{command}");
        let run = folder.run(words);
        code = run.code.unwrap();
        real.push_str(&run.stdout);
        real.push_str(&run.stderr);
    }
    assert!(commands >= 10, "{commands}");
    assert!(
        real == tour,
        "the tour is out of date, really it reads\n{real}"
    );
}

#[test]
fn the_tour_mentions_every_example() {
    let tour = example("README.md");
    for entry in std::fs::read_dir(workspace("examples")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(name == "README.md" || tour.contains(&name), "{name}");
    }
}

fn copy_of_the_examples() -> Folder {
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("broken")).unwrap();
    for part in ["", "broken"] {
        for entry in std::fs::read_dir(workspace("examples").join(part)).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_file() {
                let to = folder.path().join(part).join(entry.file_name());
                std::fs::copy(entry.path(), to).unwrap();
            }
        }
    }
    folder
}
