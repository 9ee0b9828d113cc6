//! Statistical tests: the episodes follow the law that the parameters state.
//!
//! Random numbers are fixed, so a test passes always or never; tolerances are 4.5 standard errors.

use safecommit_bench::{Family, Micros, Role, StreamKey};

use crate::{project, spare_generator};

const ERRORS: f64 = 4.5;

/// The episodes of one family.
fn episodes(family: Family, count: u64) -> impl Iterator<Item = safecommit_bench::DrawnEpisode> {
    let generator = spare_generator(&project());
    let first = Family::ALL
        .iter()
        .position(|other| *other == family)
        .unwrap() as u64;
    (0..count).map(move |at| generator.draw(4 * at + first))
}

pub(crate) fn check_share(what: &str, hits: u64, trials: u64, probability: f64) {
    let trials = trials as f64;
    let error = (probability * (1.0 - probability) / trials).sqrt();
    let share = hits as f64 / trials;
    assert!(
        (share - probability).abs() <= ERRORS * error + 1e-12,
        "{what}: {share} of {trials}, expected {probability}"
    );
}

fn normal_density(x: f64) -> f64 {
    libm::exp(-x * x / 2.0) / (2.0 * std::f64::consts::PI).sqrt()
}

fn normal_below(x: f64) -> f64 {
    0.5 * libm::erfc(-x / std::f64::consts::SQRT_2)
}

/// First two moments of a normal number clipped to [0, 1].
fn clipped_moments(mean: f64, sd: f64) -> (f64, f64) {
    let (low, high) = ((0.0 - mean) / sd, (1.0 - mean) / sd);
    let inside = normal_below(high) - normal_below(low);
    let above = normal_below(-high);
    let (at_low, at_high) = (normal_density(low), normal_density(high));
    let first = mean * inside + sd * (at_low - at_high) + above;
    let second =
        (mean * mean + sd * sd) * inside + sd * (mean * at_low - (mean + 1.0) * at_high) + above;
    (first, second)
}

fn check_mean(what: &str, values: &[f64], expected: f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (count - 1.0);
    let error = (variance / count).sqrt();
    // Rounding to the grid moves a mean by less than half a millionth.
    assert!(
        (mean - expected).abs() <= ERRORS * error + 5e-7,
        "{what}: {mean}, expected {expected} within {ERRORS} times {error}"
    );
}

#[test]
fn scores_have_the_moments_of_clipped_normal_numbers() {
    let parameters = project().generator;
    for family in Family::ALL {
        let law = parameters.family.of(family);
        let mut scores: [Vec<f64>; 3] = Default::default();
        for drawn in episodes(family, 30_000) {
            for (world, role) in drawn.episode().worlds().iter().zip(drawn.roles()) {
                scores[*role as usize].push(world.score.value());
            }
        }
        let laws = [
            (Role::True, law.true_mean, law.true_sd),
            (Role::Deceptive, law.deceptive_mean, law.deceptive_sd),
            (
                Role::Background,
                parameters.background_mean,
                parameters.background_sd,
            ),
        ];
        for (role, mean, sd) in laws {
            let values = &scores[role as usize];
            let (mean, sd) = (mean.get(), sd.get());
            let (first, second) = clipped_moments(mean, sd);
            let squares: Vec<f64> = values.iter().map(|v| v * v).collect();
            let what = format!("{family} {role:?}");
            check_mean(&what, values, first);
            check_mean(&format!("{what} squared"), &squares, second);
            let count = values.len() as u64;
            let zeros = values.iter().filter(|v| **v <= 0.0).count() as u64;
            let ones = values.iter().filter(|v| **v >= 1.0).count() as u64;
            // A score rounds to an end within half a millionth of it.
            check_share(
                &format!("{what} at 0"),
                zeros,
                count,
                normal_below((0.5e-6 - mean) / sd),
            );
            check_share(
                &format!("{what} at 1"),
                ones,
                count,
                normal_below(-(1.0 - 0.5e-6 - mean) / sd),
            );
        }
    }
}

#[test]
fn roles_and_actions_have_their_shares() {
    let parameters = project().generator;
    for family in Family::ALL {
        let law = parameters.family.of(family);
        let mut sizes = [0; 7];
        let (mut further, mut extra) = (0, 0);
        let mut same = [(0, 0); 3];
        let mut shifts = [0; 3];
        let mut safe_actions = [0; 3];
        let episodes_drawn = 30_000;
        for drawn in episodes(family, episodes_drawn) {
            let episode = drawn.episode();
            let safe_action = episode.worlds()[episode.true_world()].safe.trailing_zeros();
            safe_actions[safe_action as usize] += 1;
            sizes[episode.worlds().len()] += 1;
            further += episode.worlds().len() as u64 - 2;
            let deceptive = drawn
                .roles()
                .iter()
                .filter(|role| **role == Role::Deceptive);
            extra += deceptive.count() as u64 - 1;
            for (world, role) in episode.worlds().iter().zip(drawn.roles()) {
                let shift = (world.safe.trailing_zeros() + 3 - safe_action) % 3;
                let (hits, trials) = &mut same[*role as usize];
                *trials += 1;
                *hits += u64::from(shift == 0);
                shifts[shift as usize] += 1;
            }
        }
        let what = |text: &str| format!("{family} {text}");
        for size in &sizes[3..] {
            check_share(&what("worlds"), *size, episodes_drawn, 0.25);
        }
        for count in safe_actions {
            check_share(&what("safe action"), count, episodes_drawn, 1.0 / 3.0);
        }
        check_share(
            &what("extra deceptive"),
            extra,
            further,
            law.extra_deceptive.get(),
        );
        let (hits, trials) = same[Role::True as usize];
        assert_eq!((hits, trials), (episodes_drawn, episodes_drawn));
        let (hits, trials) = same[Role::Deceptive as usize];
        check_share(
            &what("deceptive same"),
            hits,
            trials,
            law.deceptive_same.get(),
        );
        let (hits, trials) = same[Role::Background as usize];
        check_share(
            &what("background same"),
            hits,
            trials,
            law.background_same.get(),
        );
        check_share(&what("other action"), shifts[1], shifts[1] + shifts[2], 0.5);
    }
}

#[test]
fn the_order_of_worlds_carries_no_information() {
    for family in Family::ALL {
        let mut true_at = [[0; 6]; 7];
        let mut deceptive_at = [[0; 6]; 7];
        for drawn in episodes(family, 30_000) {
            let count = drawn.roles().len();
            true_at[count][drawn.episode().true_world()] += 1;
            let deceptive = drawn
                .roles()
                .iter()
                .position(|role| *role == Role::Deceptive)
                .unwrap();
            let only = drawn
                .roles()
                .iter()
                .filter(|role| **role == Role::Deceptive)
                .count()
                == 1;
            if only {
                deceptive_at[count][deceptive] += 1;
            }
        }
        for count in 3..=6 {
            for at in [&true_at[count], &deceptive_at[count]] {
                let total = at.iter().sum();
                for hits in &at[..count] {
                    check_share("position", *hits, total, 1.0 / count as f64);
                }
            }
        }
    }
}

#[test]
fn deceptive_scores_stand_in_the_telling_term() {
    let parameters = project();
    let generator = spare_generator(&parameters);
    let mut terms = Vec::new();
    for index in 0..4000 {
        let drawn = generator.draw(index);
        generator.components_into(&drawn, &mut terms);
        let telling = drawn.episode().family().telling_term();
        for ((world, role), terms) in drawn
            .episode()
            .worlds()
            .iter()
            .zip(drawn.roles())
            .zip(&terms)
        {
            // Rounding down moves a share by a millionth of the score at most, the last by three.
            let total = world.score.count();
            if total < 1000 {
                continue;
            }
            let share = f64::from(terms[telling].count()) / f64::from(total);
            // The extremes of m_j (0.5 + u_j) over its sum, u_j in [0, 1).
            let (low, high) = match role {
                Role::True => (0.05 / 1.40, 0.15 / 0.60),
                Role::Deceptive => (0.35 / 0.80, 1.05 / 1.20),
                Role::Background => (0.125 / 1.25, 0.375 / 0.75),
            };
            assert!(
                share > low - 0.004 && share < high + 0.004,
                "{role:?} {share}"
            );
        }
    }
}

#[test]
fn misses_have_their_probability_and_are_nested() {
    let parameters = project();
    let generator = spare_generator(&parameters);
    let uniforms: Vec<f64> = (0..40_000)
        .map(|index| generator.proposal_uniform(index))
        .collect();
    for miss in &parameters.experiments.proposal_misses {
        let hits = uniforms
            .iter()
            .filter(|uniform| **uniform < miss.get())
            .count();
        check_share("misses", hits as u64, 40_000, miss.get());
    }
}

#[test]
fn samplers_follow_their_laws() {
    let mut stream = StreamKey::derive("law", 0, "test", "samplers").stream(0);
    let count = 200_000;
    let mut uniform: Vec<f64> = (0..count).map(|_| stream.uniform()).collect();
    let mut normal: Vec<f64> = (0..count).map(|_| stream.normal(2.0, 3.0)).collect();
    // Kolmogorov's distance exceeds 2.3 / sqrt(n) with probability 5e-5.
    let bound = 2.3 / f64::from(count).sqrt();
    assert!(distance(&mut uniform, |x| x) < bound);
    assert!(distance(&mut normal, |x| normal_below((x - 2.0) / 3.0)) < bound);
    for bound in [2, 3, 5, 7, 64] {
        let mut hits = vec![0; bound];
        for _ in 0..count {
            hits[stream.index_below(bound)] += 1;
        }
        for hit in hits {
            check_share("integer", hit, u64::from(count as u32), 1.0 / bound as f64);
        }
    }
}

fn distance(values: &mut [f64], below: impl Fn(f64) -> f64) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let count = values.len() as f64;
    let gaps = values.iter().enumerate().map(|(at, value)| {
        let probability = below(*value);
        (probability - at as f64 / count).max((at + 1) as f64 / count - probability)
    });
    gaps.fold(0.0, f64::max)
}

#[test]
fn the_grid_is_exact() {
    for count in (0..=1_000_000).step_by(7) {
        let grid = Micros::from_count(count).unwrap();
        let read: f64 = grid.to_string().parse().unwrap();
        assert_eq!(Micros::exact(read).unwrap(), grid);
        assert_eq!(grid.value().to_bits(), read.to_bits());
    }
    assert_eq!(Micros::from_count(1_000_001), None);
}
