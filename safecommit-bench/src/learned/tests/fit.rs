//! The regression against its own definition and against other ways to the same numbers.

use super::{episodes, ridge};
use crate::generator::Split;
use crate::learned::score::training_set;
use crate::learned::{FeatureSet, FitError, Likelihood, LogisticRegression, TrainingSet};

/// The objective as the documentation has it, written down a second time and slowly, for features as given:
/// coefficients per feature and, last, the intercept.
fn objective(
    data: &[(Vec<Vec<f64>>, usize)],
    point: &[f64],
    likelihood: Likelihood,
    ridge: f64,
) -> f64 {
    let width = point.len() - 1;
    let rows: Vec<&Vec<f64>> = data.iter().flat_map(|(rows, _)| rows).collect();
    let count = rows.len() as f64;
    let mut value = 0.0;
    for (feature, coefficient) in point[..width].iter().enumerate() {
        let mean = rows.iter().map(|row| row[feature]).sum::<f64>() / count;
        let variance = rows
            .iter()
            .map(|row| (row[feature] - mean).powi(2))
            .sum::<f64>()
            / count;
        // The coefficient of the standardised feature.
        value += ridge / 2.0 * coefficient * coefficient * variance;
    }
    for (rows, truth) in data {
        let odds: Vec<f64> = rows
            .iter()
            .map(|row| {
                let products = row.iter().zip(point).map(|(x, b)| x * b);
                (point[width] + products.sum::<f64>()).exp()
            })
            .collect();
        match likelihood {
            Likelihood::WithinEpisode => value -= (odds[*truth] / odds.iter().sum::<f64>()).ln(),
            Likelihood::Separate => {
                for (row, odds) in odds.iter().enumerate() {
                    let probability = odds / (1.0 + odds);
                    let seen = if row == *truth {
                        probability
                    } else {
                        1.0 - probability
                    };
                    value -= seen.ln();
                }
            }
        }
    }
    value
}

/// A small problem with a feature that helps, one that does not, and one on another scale.
fn small() -> Vec<(Vec<Vec<f64>>, usize)> {
    (0..12_u32)
        .map(|episode| {
            let worlds = 2 + episode as usize % 3;
            let rows = (0..worlds)
                .map(|world| {
                    let noise = f64::from((episode * 7 + world as u32 * 5) % 11) / 10.0;
                    let other = f64::from((episode * 3 + world as u32 * 8) % 13) / 10.0;
                    let helps = noise + if world == 0 { 0.4 } else { 0.0 };
                    vec![helps, other, 100.0 * (noise - other)]
                })
                .collect();
            (rows, 0)
        })
        .collect()
}

fn set(data: &[(Vec<Vec<f64>>, usize)]) -> TrainingSet {
    let mut set = TrainingSet::new(data[0].0[0].len());
    for (rows, truth) in data {
        set.add_episode(rows, *truth).unwrap();
    }
    set
}

fn point(fit: &LogisticRegression) -> Vec<f64> {
    let coefficients = fit.coefficients().iter().copied();
    coefficients.chain([fit.intercept()]).collect()
}

/// Central differences of the objective, scaled by the typical size of the coefficient.
fn gradient(
    data: &[(Vec<Vec<f64>>, usize)],
    at: &[f64],
    likelihood: Likelihood,
    ridge: f64,
) -> Vec<f64> {
    (0..at.len())
        .map(|number| {
            let step = 1e-5 * (0.01 + at[number].abs());
            let beside = |step: f64| {
                let mut point = at.to_vec();
                point[number] += step;
                objective(data, &point, likelihood, ridge)
            };
            (beside(step) - beside(-step)) / (2.0 * step)
        })
        .collect()
}

#[test]
fn the_gradient_vanishes_at_the_fit_and_nowhere_near() {
    let data = small();
    for likelihood in Likelihood::ALL {
        for strength in [0.1, 1.0, 10.0] {
            let fit = LogisticRegression::fit(&set(&data), likelihood, ridge(strength)).unwrap();
            let at = point(&fit);
            for (number, slope) in gradient(&data, &at, likelihood, strength)
                .iter()
                .enumerate()
            {
                // The third feature is a hundred times the others, and so is its slope.
                assert!(
                    slope.abs() < 1e-4,
                    "{likelihood} {strength} {number}: {slope}"
                );
            }
            let mut beside = at.clone();
            beside[0] += 0.01;
            let slope = gradient(&data, &beside, likelihood, strength)[0];
            assert!(slope > 1e-3, "{likelihood} {strength}: {slope}");
        }
    }
}

#[test]
fn plain_gradient_descent_arrives_at_the_same_place() {
    let rows = |x: f64| vec![vec![x], vec![1.0 - x], vec![0.3]];
    let data: Vec<_> = [0.1, 0.35, 0.8, 0.45, 0.2].map(|x| (rows(x), 0)).into();
    for likelihood in Likelihood::ALL {
        let fit = LogisticRegression::fit(&set(&data), likelihood, ridge(0.5)).unwrap();
        let mut at = vec![0.0, 0.0];
        for _ in 0..20_000 {
            let slope = gradient(&data, &at, likelihood, 0.5);
            at[0] -= 0.3 * slope[0];
            if likelihood == Likelihood::Separate {
                at[1] -= 0.1 * slope[1];
            }
        }
        for (newton, descent) in point(&fit).iter().zip(&at) {
            assert!(
                (newton - descent).abs() < 1e-5,
                "{likelihood}: {newton} {descent}"
            );
        }
    }
}

/// With one feature that is 0 or 1 and hardly a ridge, the coefficients are log-odds of a table of four counts.
#[test]
fn a_table_of_four_counts_has_a_closed_form() {
    let world = |feature: u8| vec![f64::from(feature)];
    // True worlds: 6 with the feature, 2 without. Others: 3 with, 5 without.
    let pairs = [
        (1, 1),
        (1, 1),
        (1, 0),
        (1, 0),
        (1, 0),
        (1, 0),
        (0, 1),
        (0, 0),
    ];
    let data: Vec<_> = pairs
        .map(|(truth, other)| (vec![world(other), world(truth)], 1))
        .into();
    let fit = LogisticRegression::fit(&set(&data), Likelihood::Separate, ridge(1e-9)).unwrap();
    let (without, with) = ((2.0_f64 / 5.0).ln(), (6.0_f64 / 3.0).ln());
    assert!((fit.intercept() - without).abs() < 1e-7);
    assert!((fit.coefficients()[0] - (with - without)).abs() < 1e-7);
    // Within pairs only those that differ count: 4 with the feature true, 1 with it false.
    let fit = LogisticRegression::fit(&set(&data), Likelihood::WithinEpisode, ridge(1e-9)).unwrap();
    assert!((fit.coefficients()[0] - 4.0_f64.ln()).abs() < 1e-7);
    assert_eq!(fit.intercept().to_bits(), 0.0_f64.to_bits());
}

#[test]
fn a_ridge_holds_a_perfect_separation_and_a_constant_feature() {
    let data: Vec<_> = (0..5)
        .map(|at| {
            (
                vec![vec![f64::from(at), 7.0], vec![f64::from(at) + 10.0, 7.0]],
                0,
            )
        })
        .collect();
    for likelihood in Likelihood::ALL {
        for strength in [1e-6, 1.0, 1e6] {
            let fit = LogisticRegression::fit(&set(&data), likelihood, ridge(strength)).unwrap();
            assert!(fit.coefficients()[0] < 0.0);
            assert!(
                fit.coefficients()[1].abs() < 1e-12,
                "a constant tells nothing"
            );
        }
    }
}

#[test]
fn a_larger_ridge_means_smaller_coefficients() {
    let data = training_set(&episodes(Split::Train, 100), FeatureSet::Shape).unwrap();
    for likelihood in Likelihood::ALL {
        let size = |strength| {
            let fit = LogisticRegression::fit(&data, likelihood, ridge(strength)).unwrap();
            let (_, _, scales) = data.standardised();
            let scaled = fit.coefficients().iter().zip(scales);
            scaled.map(|(b, scale)| (b * scale).powi(2)).sum::<f64>()
        };
        let sizes = [0.01, 1.0, 100.0].map(size);
        assert!(sizes[0] > sizes[1] && sizes[1] > sizes[2], "{sizes:?}");
    }
}

#[test]
fn bad_data_is_refused_and_leaves_the_set_as_it_was() {
    let mut data = TrainingSet::new(2);
    let fit = |data: &TrainingSet| LogisticRegression::fit(data, Likelihood::Separate, ridge(1.0));
    assert_eq!(fit(&data), Err(FitError::NoEpisode));
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let error = data
            .add_episode(&[[0.0, 0.1], [0.2, value]], 0)
            .unwrap_err();
        assert!(matches!(error, FitError::NotFinite { feature: 1, .. }));
        assert!(
            error.to_string().ends_with("which is not finite"),
            "{error}"
        );
    }
    let width = data.add_episode(&[[0.0; 3]], 0).unwrap_err();
    assert_eq!(width.to_string(), "a world has `3` features, expected 2");
    let truth = FitError::TrueWorld {
        position: 1,
        worlds: 1,
    };
    assert_eq!(data.add_episode(&[[0.0; 2]], 1), Err(truth));
    let nothing = FitError::TrueWorld {
        position: 0,
        worlds: 0,
    };
    assert_eq!(data.add_episode::<[f64; 2]>(&[], 0), Err(nothing));
    assert_eq!(data, TrainingSet::new(2));

    data.add_episode(&[[0.3, 0.1]], 0).unwrap();
    assert_eq!(fit(&data), Err(FitError::OneClass));
    data.add_episode(&[[0.3, 1e300], [0.1, -1e300]], 0).unwrap();
    assert_eq!(fit(&data), Err(FitError::TooLarge { feature: 1 }));
}

/// Two features that are one: without a ridge to speak of there are many minima, or none that rounding finds. Whatever
/// comes back is a minimum or an error, never a number that is not finite.
#[test]
fn dependent_features_never_give_nonsense() {
    let row = |x: f64| vec![x, x, 2.0 * x];
    let data: Vec<_> = (0..6)
        .map(|at| (vec![row(f64::from(at)), row(f64::from((at * 5) % 7))], 0))
        .collect();
    for likelihood in Likelihood::ALL {
        for strength in [1e-300, 1e-18, 1e-9, 1e-3] {
            match LogisticRegression::fit(&set(&data), likelihood, ridge(strength)) {
                Ok(fit) => {
                    let at = point(&fit);
                    assert!(at.iter().all(|number| number.is_finite()));
                    let slope = gradient(&data, &at, likelihood, strength);
                    assert!(slope.iter().all(|slope| slope.abs() < 1e-3), "{slope:?}");
                }
                Err(error) => assert!(matches!(error, FitError::NotConverged { .. })),
            }
        }
    }
}
