//! What holds for every episode.

use safecommit_bench::{DrawnEpisode, EpisodeRecord, Family, Role, Split};

use crate::{project, spare_generator};

#[test]
fn episodes_hold_together() {
    let parameters = project();
    let generator = spare_generator(&parameters);
    let mut drawn = DrawnEpisode::default();
    let mut components = Vec::new();
    for index in 0..20_000 {
        generator.draw_into(index, &mut drawn);
        let episode = drawn.episode();
        assert_eq!(drawn.index(), index);
        assert_eq!(episode.family(), Family::ALL[(index % 4) as usize]);
        assert_eq!(episode.actions(), 3);
        let worlds = episode.worlds();
        assert!((3..=6).contains(&worlds.len()));
        assert_eq!(drawn.roles().len(), worlds.len());
        for (at, (world, role)) in worlds.iter().zip(drawn.roles()).enumerate() {
            assert_eq!(world.safe.count_ones(), 1);
            assert!(world.safe < 1 << 3);
            assert!(world.score.count() <= 1_000_000);
            assert_eq!(*role == Role::True, at == episode.true_world());
        }
        assert!(drawn.roles().contains(&Role::Deceptive));
        let positions: Vec<usize> = (0..worlds.len()).collect();
        assert_eq!(episode.proposed(), positions);
        let asked: Vec<usize> = episode.probes().iter().map(|probe| probe.asks).collect();
        assert_eq!(asked, positions);
        assert!(episode.true_world_proposed());

        generator.components_into(&drawn, &mut components);
        assert_eq!(components.len(), worlds.len());
        for (terms, world) in components.iter().zip(worlds) {
            let sum: u32 = terms.iter().map(|term| term.count()).sum();
            assert_eq!(sum, world.score.count());
        }
        let record = EpisodeRecord::from_drawn(Split::Test, &drawn, &components);
        let read = EpisodeRecord::from_json(record.to_json_line().as_bytes()).unwrap();
        assert_eq!(read, record);
        assert_eq!(read.to_episode().unwrap(), *episode);
    }
}

#[test]
fn a_buffer_carries_nothing_over() {
    let parameters = project();
    let generator = spare_generator(&parameters);
    let mut drawn = DrawnEpisode::default();
    for index in (0..200).rev() {
        generator.draw_into(index, &mut drawn);
        assert_eq!(drawn, generator.draw(index));
        drawn.episode_mut().drop_true_world();
    }
}

#[test]
fn a_proposal_miss_takes_the_true_world_and_nothing_else() {
    let parameters = project();
    let generator = spare_generator(&parameters);
    for index in 0..500 {
        let mut drawn = generator.draw(index);
        let full = drawn.episode().clone();
        drawn.episode_mut().drop_true_world();
        let missed = drawn.episode();
        let true_world = full.true_world();
        assert!(!missed.true_world_proposed());
        assert_eq!(missed.worlds(), full.worlds());
        assert_eq!(missed.true_world(), true_world);
        let others = full.proposed().iter().filter(|world| **world != true_world);
        assert!(missed.proposed().iter().eq(others));
        let probes = full
            .probes()
            .iter()
            .filter(|probe| probe.asks != true_world);
        assert!(missed.probes().iter().eq(probes));
        for action in 0..70 {
            let safe = action < 3 && full.worlds()[true_world].safe == 1 << action;
            assert_eq!(missed.is_safe(action), safe);
        }
    }
}

#[test]
fn drawing_into_a_buffer_does_not_allocate() {
    let parameters = project();
    let generator = spare_generator(&parameters);
    let mut drawn = generator.draw(0);
    let mut components = Vec::with_capacity(6);
    let counted = allocation_counter::measure(|| {
        for index in 0..1000 {
            generator.draw_into(index, &mut drawn);
            generator.components_into(&drawn, &mut components);
            if generator.proposal_uniform(index) < 0.5 {
                drawn.episode_mut().drop_true_world();
            }
            drawn.episode_mut().drop_true_world();
            std::hint::black_box(generator.policy_stream(index).index_below(3));
        }
    });
    assert_eq!(counted.count_total, 0);
    // The counter does count in this program.
    let counted = allocation_counter::measure(|| {
        std::hint::black_box(vec![1_u8]);
    });
    assert_eq!(counted.count_total, 1);
}
