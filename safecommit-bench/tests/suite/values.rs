//! Value stability: the exact numbers that samplers and generator give. They are part of the frozen
//! data, so a change here is a change of format and needs another generator version.

use safecommit_bench::{Generator, Micros, Role, Split, StreamKey, Suite};

use crate::project;

fn stream() -> safecommit_bench::RandomStream {
    StreamKey::derive("frozen", 1, "test", "worlds").stream(3)
}

#[test]
fn key() {
    let key = StreamKey::derive("frozen", 1, "test", "worlds");
    let hexadecimal: String = key.bytes().iter().map(|b| format!("{b:02x}")).collect();
    assert_eq!(
        hexadecimal,
        "e09b2cec8b89953d66e85530dfc4d373c7ec07eaeacb65c816adb0280828876a"
    );
}

#[test]
fn words() {
    let mut stream = stream();
    assert_eq!(
        [(); 4].map(|()| stream.next_u64()),
        [
            8085023355759208709,
            7286890743043822387,
            2792052756214837830,
            5426309180863725553
        ]
    );
}

#[test]
fn uniform_numbers() {
    let mut stream = stream();
    let bits = [(); 4].map(|()| stream.uniform().to_bits());
    let expected = [
        0.43828999434550886_f64,
        0.39502313871363115,
        0.15135748319911335,
        0.29416081012352435,
    ];
    assert_eq!(bits, expected.map(f64::to_bits));
}

#[test]
fn normal_numbers() {
    let mut stream = stream();
    let bits = [(); 4].map(|()| stream.normal(0.0, 1.0).to_bits());
    let expected = [
        -1.2045613116702978_f64,
        -0.7911737286179721,
        -1.1365462440344802,
        0.6195772355137479,
    ];
    assert_eq!(bits, expected.map(f64::to_bits));
}

#[test]
fn integers() {
    let mut stream = stream();
    let drawn: Vec<u64> = (2..12).map(|bound| stream.below(bound)).collect();
    assert_eq!(drawn, [0, 1, 0, 1, 0, 0, 2, 2, 7, 8]);
}

#[test]
fn integers_redraw_biased_words() {
    // Above 2^63 nearly half of the words are redrawn, so the redraws show in the position of the stream.
    let bound: u64 = (1 << 63) + 1;
    let mut plain = stream();
    let mut sampled = stream();
    for _ in 0..1000 {
        let expected = loop {
            let product = u128::from(plain.next_u64()) * u128::from(bound);
            // 2^64 mod bound = 2^64 - bound
            if product as u64 >= bound.wrapping_neg() {
                break (product >> 64) as u64;
            }
        };
        assert_eq!(sampled.below(bound), expected);
    }
}

#[test]
fn integers_below_a_trivial_bound_take_one_word() {
    let mut sampled = stream();
    let mut plain = stream();
    assert_eq!((sampled.below(1), sampled.below(0)), (0, 0));
    plain.next_u64();
    plain.next_u64();
    assert_eq!(sampled.next_u64(), plain.next_u64());
}

#[test]
fn first_episodes() {
    let parameters = project();
    let suite = Suite::Frozen { seed: 1 };
    let generator = Generator::new(&parameters.generator, suite, Split::Test);
    let summary = |index| {
        let drawn = generator.draw(index);
        let worlds = drawn.episode().worlds().iter().zip(drawn.roles());
        let worlds = worlds.map(|(world, role)| (world.score.count(), world.safe, *role));
        (drawn.episode().family().name(), worlds.collect::<Vec<_>>())
    };
    let (background, deceptive, real) = (Role::Background, Role::Deceptive, Role::True);
    assert_eq!(
        summary(0),
        (
            "stale",
            vec![
                (953589, 1, background),
                (920386, 4, background),
                (0, 4, deceptive),
                (1000000, 4, background),
                (461698, 4, real),
            ]
        )
    );
    assert_eq!(
        summary(3),
        (
            "authorization_drift",
            vec![
                (179582, 1, deceptive),
                (866723, 1, background),
                (797950, 2, background),
                (390477, 2, real),
            ]
        )
    );
}

#[test]
fn substreams() {
    let parameters = project();
    let suite = Suite::Experiment { seed: 1 };
    let generator = Generator::new(&parameters.generator, suite, Split::Test);
    let mut terms = Vec::new();
    generator.components_into(&generator.draw(0), &mut terms);
    assert_eq!(terms[0].map(Micros::count), [130487, 10229, 8468, 22478]);
    let uniform = generator.proposal_uniform(0);
    assert_eq!(uniform.to_bits(), 0.7835412421972358_f64.to_bits());
    assert_eq!(generator.policy_stream(0).next_u64(), 14941110649958639750);
}

#[test]
fn scores_clip_and_round_halves_away_from_zero() {
    let check = |value: f64, expected: u32| assert_eq!(Micros::clipped(value).count(), expected);
    check(-0.3, 0);
    check(-0.0, 0);
    check(f64::NAN, 0);
    check(1.2, 1_000_000);
    check(f64::INFINITY, 1_000_000);
    check(0.5e-6, 1);
    check(0.499_999e-6, 0);
    // 2^-7 is 7812.5 millionths exactly.
    check(0.007_812_5, 7813);
    check(0.999_999_6, 1_000_000);
}
