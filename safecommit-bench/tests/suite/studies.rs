//! Every study gives the same report on any number of threads, and rows that tell themselves apart.

use std::collections::BTreeSet;

use rayon::ThreadPoolBuilder;
use safecommit_bench::Parameters;
use safecommit_bench::beyond::{Report, Study, Workbench};

/// Two seeds with few episodes.
fn small() -> Parameters {
    let text = Parameters::project_toml()
        .replace(
            "train = 2000\nvalidation = 1000",
            "train = 200\nvalidation = 100",
        )
        .replace(
            "calibration = 2000\ntest = 4000\nalpha",
            "calibration = 120\ntest = 60\nalpha",
        );
    Parameters::from_toml(&text).unwrap()
}

fn run(study: Study, parameters: &Parameters, threads: usize) -> (Report, usize) {
    let done = std::sync::atomic::AtomicUsize::new(0);
    let pool = ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap();
    let report = pool.install(|| {
        let count = || {
            done.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        };
        study.run(&Workbench::new(parameters), &count).unwrap()
    });
    (report, done.into_inner())
}

#[test]
fn a_study_does_not_depend_on_the_number_of_threads() {
    let parameters = small();
    for study in Study::ALL {
        let (report, done) = run(study, &parameters, 1);
        // Every seed is reported once.
        assert_eq!(done, parameters.experiments.seeds.get().len(), "{study}");
        let (again, _) = run(study, &parameters, 3);
        assert_eq!(report, again, "{study}");
    }
}

#[test]
fn a_report_says_what_its_table_and_plot_are() {
    let parameters = small();
    for study in Study::ALL {
        let (report, _) = run(study, &parameters, 2);
        assert_eq!(report.table().name(), study.name());
        let text = report.table().markdown(2);
        assert!(text.contains("◇") && !report.claims().is_empty(), "{study}");
        for claim in report.claims() {
            assert!(
                text.contains(&claim.statement.replace('|', "\\|")),
                "{study}: {claim:?}"
            );
        }
        // The keys of a row are its texts, and no two rows have the same.
        let keys: Vec<String> = report
            .records()
            .iter()
            .map(|row| {
                row.values()
                    .filter(|value| value.is_string())
                    .map(|value| format!("{value} "))
                    .collect()
            })
            .collect();
        assert!(!keys.is_empty());
        assert_eq!(
            keys.iter().collect::<BTreeSet<_>>().len(),
            keys.len(),
            "{study}: {keys:?}"
        );
        let chart = report.chart();
        assert!(
            !chart.title.is_empty() && !chart.series.is_empty(),
            "{study}"
        );
        for series in &chart.series {
            assert!(!series.points.is_empty(), "{study}: {}", series.name);
        }
    }
}
