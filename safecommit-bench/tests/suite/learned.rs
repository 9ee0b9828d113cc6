//! The project's learned score against the default one, and how it is chosen.

use std::sync::LazyLock;

use safecommit_bench::{
    Candidate, Choice, ChooseError, Counts, Criterion, EpisodeWithTerms, FeatureSet, FitError,
    Generator, Likelihood, Micros, Parameters, Positive, ScoreComparison, ScoreForm, ScoreRun,
    Split, Suite, TermsError, choose, choose_on_frozen, compare_scores,
};

use crate::{project, spare_generator};

static CHOICE: LazyLock<Choice> = LazyLock::new(|| choose_on_frozen(&project()).unwrap());

/// The default score, the learned one, the best one of one world, and the learned one as a probability.
static COMPARED: LazyLock<Vec<ScoreComparison>> = LazyLock::new(|| {
    let learned = &CHOICE.chosen().score;
    let of_one_world = &CHOICE.best_of_one_world().unwrap().score;
    let probability = learned.with_form(ScoreForm::Probability);
    compare_scores(&project(), &[learned, of_one_world, &probability])
});

fn mean(comparison: &ScoreComparison, figure: fn(&ScoreRun) -> f64) -> f64 {
    comparison.over_seeds(figure).mean
}

#[test]
fn the_frozen_score_is_this_one() {
    let chosen = CHOICE.chosen();
    assert_eq!(
        chosen.candidate.to_string(),
        "episode within_episode against_best ridge 0.1"
    );
    assert_eq!(
        chosen.score.version(),
        "62be824a52d4e16548b1ae0daf0f2fa80e19a0df8fc3853633c769d8c85a4c1b"
    );
    assert_eq!((chosen.loss, CHOICE.results().len()), (24, 48));
}

#[test]
fn the_choice_is_the_least_loss_and_the_simpler_of_two() {
    let criterion = Criterion::of(&project().experiments);
    let results = CHOICE.results();
    let chosen = CHOICE.chosen();
    let first = results.iter().position(|result| result == chosen).unwrap();
    for (position, result) in results.iter().enumerate() {
        assert_eq!(result.counts.episodes, 1000);
        assert_eq!(result.loss, criterion.loss(&result.counts));
        assert!(chosen.loss < result.loss || (first <= position && chosen.loss == result.loss));
    }
    let one_world = CHOICE.best_of_one_world().unwrap();
    assert!(!one_world.score.reads_other_worlds());
    assert!(one_world.loss < criterion.loss(CHOICE.default_counts()));
}

#[test]
fn the_loss_counts_probes_and_failures() {
    let mut criterion = Criterion::of(&project().experiments);
    let counts = Counts {
        episodes: 10,
        safe_commits: 7,
        unsafe_commits: 1,
        probes: 4,
        ..Counts::default()
    };
    assert_eq!((criterion.max_probes, criterion.loss(&counts)), (2, 10));
    criterion.max_probes = 0;
    assert_eq!(criterion.loss(&counts), 7);
}

/// The figures that the score is to reach: at least 30 per cent fewer probes, and task success without probes of
/// at least 0.60. It does much better, and the bounds here are what it has reached.
#[test]
fn fewer_probes_more_success_and_no_more_harm() {
    let [default, learned, of_one_world, probability] = &COMPARED[..] else {
        panic!("{}", COMPARED.len());
    };
    let probes = mean(default, ScoreRun::mean_probes);
    assert!((0.53..0.58).contains(&probes), "{probes}");
    assert!(mean(default, ScoreRun::task_success_without_probes) < 0.47);
    let bounds = [
        (learned, 0.05, 0.97),
        (of_one_world, 0.30, 0.80),
        (probability, 0.01, 0.94),
    ];
    for (score, probes_left, success) in bounds {
        let share = mean(score, ScoreRun::mean_probes) / probes;
        assert!(share < probes_left, "{share}");
        let reached = mean(score, ScoreRun::task_success_without_probes);
        assert!(reached > success, "{reached}");
        let retained = mean(score, ScoreRun::mean_retained_worlds);
        assert!(
            retained < mean(default, ScoreRun::mean_retained_worlds) - 0.5,
            "{retained}"
        );
        let unsafe_commits = score.over_seeds(ScoreRun::unsafe_commit_rate);
        assert!(unsafe_commits.mean <= 0.05 + 3.0 * unsafe_commits.se);
        assert!(unsafe_commits.mean < mean(default, ScoreRun::unsafe_commit_rate) / 4.0);
    }
    // With probes the learned score also succeeds more often; as a probability it does not, since it leaves sets empty.
    let success = |score| mean(score, ScoreRun::task_success);
    assert!(success(learned) > success(default) + 0.01);
    assert!(success(of_one_world) > success(default));
    assert!(success(probability) < success(default));
}

/// Coverage is at least 1 - alpha, and where scores do not tie, it is 1 - alpha, within three standard errors of what
/// exchangeability says of ten calibrations.
#[test]
fn coverage_is_what_calibration_promises() {
    let experiments = project().experiments;
    for (position, comparison) in COMPARED.iter().enumerate() {
        let law = comparison.runs[0].calibration.coverage_law().unwrap();
        let seeds = comparison.runs.len() as f64;
        let se = law.empirical_standard_error(experiments.test) / seeds.sqrt();
        let excess = mean(comparison, ScoreRun::coverage) - law.mean();
        assert!((law.mean() - 0.95).abs() < 1e-3);
        assert!(excess > -3.0 * se, "{position}: {excess}");
        let ties = position == 1 || position == 2;
        assert_eq!(excess > 3.0 * se, ties, "{position}: {excess}");
        for run in &comparison.runs {
            assert_eq!(run.calibration.n(), 2000);
            assert_eq!(run.with_probes.episodes, 4000);
            assert_eq!(run.without_probes.probes, 0);
        }
    }
}

/// What is left to ask: at the learned threshold, worlds that stand together have no evidence against them at all, and
/// no function of the terms tells those apart.
#[test]
fn what_is_still_asked_about_cannot_be_told_apart() {
    let parameters = project();
    let generator = spare_generator(&parameters);
    let score = &CHOICE.chosen().score;
    let mut several = 0;
    for case in EpisodeWithTerms::draw_all(&generator, 4000) {
        let best = score.scores(case.terms());
        let best = best.iter().zip(case.terms());
        let best: Vec<_> = best.filter(|(score, _)| **score == Micros::ZERO).collect();
        if best.len() > 1 {
            several += 1;
            assert!(best.iter().all(|(_, terms)| **terms == [Micros::ZERO; 4]));
        }
    }
    assert!((40..160).contains(&several), "{several}");
}

#[test]
fn threads_leave_no_trace() {
    let small = Parameters::project_toml()
        .replace(
            "train = 2000\nvalidation = 1000",
            "train = 150\nvalidation = 80",
        )
        .replace(
            "calibration = 2000\ntest = 4000\nalpha",
            "calibration = 60\ntest = 50\nalpha",
        );
    let parameters = Parameters::from_toml(&small).unwrap();
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| {
            let choice = choose_on_frozen(&parameters).unwrap();
            let compared = compare_scores(&parameters, &[&choice.chosen().score]);
            (choice, compared)
        })
    };
    let (choice, compared) = run(1);
    assert_eq!(compared[1].version, Some(choice.chosen().score.version()));
    assert_eq!(run(3), (choice, compared));
}

#[test]
fn nothing_to_choose_from_is_said() {
    let parameters = project();
    let criterion = Criterion::of(&parameters.experiments);
    let cases = EpisodeWithTerms::draw_all(&spare_generator(&parameters), 60);
    let ridge = Positive::try_from(1.0).unwrap();
    let grid = Candidate::grid(&[ridge]);
    assert_eq!(
        choose(&cases, &cases, &[], &criterion),
        Err(ChooseError::NoCandidate)
    );
    // Halves of 19 are the least at level 0.05.
    assert!(choose(&cases, &cases[..38], &grid[..1], &criterion).is_ok());
    let few = choose(&cases, &cases[..37], &grid, &criterion).unwrap_err();
    let message = "half of `37` validation episodes is too few for a finite threshold at `0.05`";
    assert_eq!(few.to_string(), message);
    let candidate = Candidate {
        features: FeatureSet::Terms,
        likelihood: Likelihood::Separate,
        form: ScoreForm::Probability,
        ridge,
    };
    assert_eq!(grid[0], candidate);
    let reason = FitError::NoEpisode;
    let nothing = Err(ChooseError::Fit { candidate, reason });
    assert_eq!(choose(&[], &cases, &grid, &criterion), nothing);
    // Episodes that miss their true world show nothing of it.
    let mut missed = cases.clone();
    missed
        .iter_mut()
        .for_each(EpisodeWithTerms::drop_true_world);
    assert_eq!(choose(&missed, &cases, &grid, &criterion), nothing);
}

#[test]
fn terms_that_do_not_belong_are_refused() {
    let parameters = project();
    let suite = Suite::Experiment { seed: 1_000_003 };
    let generator = Generator::new(&parameters.generator, suite, Split::Train);
    let case = EpisodeWithTerms::draw(&generator, 3);
    let new = |terms| EpisodeWithTerms::new(case.episode().clone(), terms);
    let mut terms = case.terms().to_vec();
    terms.push([Micros::ZERO; 4]);
    let worlds = case.episode().worlds().len();
    let found = worlds + 1;
    assert_eq!(new(terms.clone()), Err(TermsError::Count { found, worlds }));
    terms.pop();
    terms[1][2] = Micros::from_count(terms[1][2].count() ^ 1).unwrap();
    let error = new(terms.clone()).unwrap_err();
    assert!(matches!(error, TermsError::Sum { world: 1, .. }), "{error}");
    terms[1] = [Micros::ONE; 4];
    let error = new(terms).unwrap_err().to_string();
    assert!(
        error.starts_with("the terms of world `1` sum to `4000000` millionths"),
        "{error}"
    );
}
