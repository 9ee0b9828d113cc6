//! One whole decision on an episode makes no heap allocation once its memory has been used.

use safecommit_bench::{
    ConflictAbstention, DrawnEpisode, Margin, Memory, MethodName, MethodSettings, calibrate, decide,
};

use crate::{project, spare_generator};

#[test]
fn a_decision_allocates_nothing_after_the_first() {
    let parameters = project();
    let generator = spare_generator(&parameters);
    let calibration: Vec<_> = (0..500)
        .map(|index| generator.draw(index).episode().clone())
        .collect();
    let calibration = calibrate(parameters.experiments.alpha, &calibration);
    let threshold = calibration.threshold();
    let settings = MethodSettings {
        threshold: threshold.clone(),
        temperature: parameters.experiments.temperature.get(),
        max_probes: 4,
        conflict: ConflictAbstention::new(threshold, Margin::Millionths(100_000)),
    };
    let mut drawn = DrawnEpisode::default();
    for name in MethodName::ALL {
        let method = name.build(&settings);
        let mut memory = Memory::default();
        let mut probes = 0;
        let mut run = |index: u64| {
            generator.draw_into(index, &mut drawn);
            let policy = || generator.policy_stream(index);
            let ending = decide(method.as_ref(), drawn.episode(), &policy, &mut memory);
            probes += ending.probes.len();
        };
        // Among these are episodes with the most worlds there are, which bring the memory to its size.
        (0..100).for_each(&mut run);
        let measured = allocation_counter::measure(|| (100..1_000).for_each(&mut run));
        assert_eq!(measured.count_total, 0, "{name} {}", measured.bytes_total);
        assert_eq!(probes > 0, name.probes_within(4) > 0, "{name}");
    }
}
