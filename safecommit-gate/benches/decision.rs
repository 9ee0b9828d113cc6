//! A whole decision about real files, its parts, and the same number of plain Cedar calls.
//!
//! Three actions on one target, the probes that ask the system about names, a warm cache, no audit log. All stands in one
//! group, so that ratios come out of one run. Criterion shows means and medians; the largest durations are printed first.

#[cfg(target_os = "linux")]
mod files {
    use std::collections::{HashMap, HashSet};
    use std::error::Error;
    use std::fs;
    use std::hint::black_box;
    use std::time::{Duration, Instant};

    use cedar_policy::{
        Authorizer, Context, Decision, Entities, Entity, EntityId, EntityUid, PolicySet, Request,
        RestrictedExpression, Schema,
    };
    use criterion::Criterion;
    use jiff::Timestamp;
    use safecommit_core::{Case, DecisionKind};
    use safecommit_gate::audit::UsedCalibration;
    use safecommit_gate::{
        ActionDescription, Asked, Assignment, BeliefRule, Clarifications, Decided, Deletion,
        Domain, FILE_POLICIES, FILE_SCHEMA, Facts, FileDomain, FileDomainSettings, FileProbe,
        FileProposal, FileQuestion, FileRequest, FileSettings, Frame, Gate, Regions, SafetyMap,
        SafetyPolicies, ScoreWeights, Workspace,
    };
    use serde_json::json;

    type Fallible<T> = Result<T, Box<dyn Error>>;

    /// So many decisions are timed one by one.
    const TIMED: usize = 2_000;

    /// Less than this would be an easier decision.
    const FEWEST_WORLDS: usize = 64;

    const ACTIONS: [&str; 3] = ["delete", "overwrite", "move"];

    /// Attributes that are facts: name, the name of the fact, and the entity type unless it is a Bool.
    const ATTRIBUTES: [(&str, &str, Option<&str>); 16] = [
        ("kind", "kind", Some("Kind")),
        ("location", "location", Some("Location")),
        ("leaves_tree", "leaves_tree", Some("Departure")),
        ("owner", "owner", Some("Owner")),
        ("tracked", "tracked", Some("Tracked")),
        ("only_copy", "only_copy", None),
        ("changed_since_memory", "changed_since_memory", None),
        ("protected", "protected", None),
        ("secret", "secret", None),
        ("reversible", "reversible", None),
        ("discards", "overwrite_2_discards", None),
        ("base", "overwrite_2_base", Some("Base")),
        ("destination_kind", "kind_2", Some("Kind")),
        ("destination_location", "location_2", Some("Location")),
        ("destination_owner", "owner_2", Some("Owner")),
        ("destination_protected", "protected_2", None),
    ];

    /// The probes that ask the system about names.
    const BY_NAMES: [FileQuestion; 6] = [
        FileQuestion::Status,
        FileQuestion::DryRun,
        FileQuestion::Location,
        FileQuestion::Age,
        FileQuestion::Tree,
        FileQuestion::Patterns,
    ];

    /// A workspace with what decides about it.
    struct Scene {
        _folder: tempfile::TempDir,
        workspace: Workspace,
        settings: FileDomainSettings,
        gate: Gate,
        request: FileRequest,
        now: Timestamp,
    }

    impl Scene {
        fn new() -> Fallible<Self> {
            let folder = tempfile::tempdir()?;
            for directory in ["run", "archive"] {
                fs::create_dir(folder.path().join(directory))?;
            }
            fs::write(folder.path().join("run/out"), "result")?;
            // The clock of a file system may be late.
            std::thread::sleep(Duration::from_millis(50));
            let now = Timestamp::now();
            let proposal: FileProposal = serde_json::from_value(json!({
                "decision": "d",
                "actions": [
                    {"action": "delete", "path": "run/out"},
                    {"action": "overwrite", "path": "run/out", "content": "new"},
                    {"action": "move", "path": "run/out", "to": "archive/out"},
                ],
                "evidence": [{"id": "m", "entity": "run/out", "attribute": "kind", "value": "file",
                              "source": "memory", "name": "notes.md", "recorded": now.to_string()}],
            }))?;
            Ok(Self {
                workspace: Workspace::open(folder.path())?,
                _folder: folder,
                settings: FileDomainSettings {
                    probes: BY_NAMES.map(FileProbe::new).to_vec(),
                    files: FileSettings::new()?,
                    clarifications: Clarifications::default(),
                    beliefs: BeliefRule::default(),
                    severity: [1.0, 0.8, 0.4, 0.2],
                    deletion: Deletion::Trash,
                    principal: "agent".to_owned(),
                    guarded: Vec::new(),
                },
                gate: Gate::new(SafetyPolicies::for_files()?),
                request: proposal.check([])?,
                now,
            })
        }

        fn domain(&self) -> FileDomain<'_> {
            FileDomain::new(&self.workspace, &self.settings, &self.request)
        }

        fn decide(&self) -> Fallible<Decided> {
            let asked = Asked::new("d");
            let (mut domain, none) = (self.domain(), UsedCalibration::None);
            Ok(self.gate.decide(&mut domain, &asked, none, self.now)?)
        }

        fn bind(&self, frame: &Frame) -> Fallible<SafetyMap> {
            let candidates = frame.candidates.iter();
            let described: Vec<ActionDescription> = candidates
                .map(|candidate| candidate.description.clone())
                .collect();
            Ok(self.gate.policies().bind(&frame.facts, &described)?)
        }
    }

    fn regions(map: &SafetyMap, frame: &Frame) -> Fallible<Regions> {
        let (facts, beliefs) = (&frame.facts, &frame.beliefs);
        let equal = ScoreWeights::EQUAL;
        Ok(map.regions(facts, beliefs, &frame.impossible, &equal, 4_096)?)
    }

    /// The plain calls: each action in each world, with everything that any policy could read.
    fn questions(facts: &Facts, worlds: &[Assignment]) -> Fallible<Vec<(Request, Entities)>> {
        let schema: Schema = FILE_SCHEMA.text.parse()?;
        let actions = schema.action_entities()?;
        let pairs = worlds
            .iter()
            .flat_map(|world| ACTIONS.map(|action| (world, action)));
        let questions = pairs.map(|(world, action)| {
            let principal: EntityUid = "Agent::\"agent\"".parse()?;
            let resource: EntityUid = "Entry::\"run/out\"".parse()?;
            let path = RestrictedExpression::new_string("run/out".to_owned());
            let mut attributes = HashMap::from([("path".to_owned(), path)]);
            let mut context = HashMap::new();
            for (name, fact, kind) in ATTRIBUTES {
                let value = facts.value_of(world, fact).unwrap_or_default();
                let value = match kind {
                    Some(kind) => RestrictedExpression::new_entity_uid(
                        EntityUid::from_type_name_and_id(kind.parse()?, EntityId::new(value)),
                    ),
                    None => RestrictedExpression::new_bool(value == "true"),
                };
                let of_overwrite = ["discards", "base"].contains(&name);
                let in_context = name.starts_with("destination") || of_overwrite;
                let holder = match in_context {
                    true => &mut context,
                    false => &mut attributes,
                };
                holder.insert(name.to_owned(), value);
            }
            let entities = actions.clone().add_entities(
                [
                    Entity::new_no_attrs(principal.clone(), HashSet::new()),
                    Entity::new(resource.clone(), attributes, HashSet::new())?,
                ],
                None,
            )?;
            let action = format!("Action::\"{action}\"").parse()?;
            let context = Context::from_pairs(context)?;
            let request = Request::new(principal, action, resource, context, None)?;
            Ok((request, entities))
        });
        questions.collect()
    }

    /// Times many decisions one by one.
    fn percentiles(scene: &Scene) -> Fallible<()> {
        let begun = Instant::now();
        scene.decide()?;
        let first = begun.elapsed();
        let mut durations = Vec::with_capacity(TIMED);
        for _ in 0..TIMED {
            let begun = Instant::now();
            black_box(scene.decide()?);
            durations.push(begun.elapsed());
        }
        durations.sort_unstable();
        let at = |share: usize| durations[(TIMED * share).div_ceil(1_000) - 1];
        println!(
            "first decision {first:?}; of {TIMED} more: median {:?}, p90 {:?}, p99 {:?}, p99.9 {:?}, longest {:?}",
            at(500),
            at(900),
            at(990),
            at(999),
            at(1_000)
        );
        Ok(())
    }

    pub(super) fn compare(criterion: &mut Criterion) -> Fallible<()> {
        let scene = Scene::new()?;
        percentiles(&scene)?;

        let frame = scene.domain().frame(scene.now)?;
        let map = scene.bind(&frame)?;
        let found = regions(&map, &frame)?;
        let regions_found = found.as_slice().iter();
        let worlds: Vec<Assignment> = regions_found.map(|region| region.best()).collect();
        let decided = scene.decide()?;
        let record = decided.record();
        let (request, observed) = (decided.case().request(), &record.observed);
        println!(
            "{} worlds, {} probes made, {:?}",
            worlds.len(),
            observed.len(),
            record.action
        );
        let expected = record.decision == DecisionKind::Commit
            && request.worlds.len() == worlds.len()
            && worlds.len() >= FEWEST_WORLDS
            && record.actions.len() == ACTIONS.len();
        if !expected {
            return Err("the decision is not the one to be measured".into());
        }
        let mut made = Vec::new();
        for observation in observed {
            let mut offered = frame.probes.iter();
            made.extend(offered.position(|probe| probe.id == observation.probe));
        }

        let set: PolicySet = FILE_POLICIES.text.parse()?;
        let questions = questions(&frame.facts, &worlds)?;
        let authorizer = Authorizer::new();
        let ask = |(request, entities): &(Request, Entities)| {
            authorizer.is_authorized(request, &set, entities).decision() == Decision::Allow
        };
        let safe = found.as_slice().iter();
        let safe = safe.flat_map(|region| (0..ACTIONS.len()).map(|action| region.is_safe(action)));
        // Numbers of something else would be worth nothing: both ways have the same answers.
        if !safe.eq(questions.iter().map(ask)) {
            return Err("the regions differ from plain Cedar".into());
        }

        let mut group = criterion.benchmark_group("decision");
        group.bench_function("whole", |bencher| bencher.iter(|| scene.decide().is_ok()));
        group.bench_function("open", |bencher| bencher.iter(|| scene.domain()));
        let mut domain = scene.domain();
        group.bench_function("frame", |bencher| {
            // A domain has one frame, so that a second one would find the probes of the first.
            bencher.iter_batched_ref(
                || scene.domain(),
                |domain| domain.frame(scene.now).is_ok(),
                criterion::BatchSize::SmallInput,
            );
        });
        group.bench_function("bind", |bencher| bencher.iter(|| scene.bind(&frame)));
        group.bench_function("regions", |bencher| {
            bencher.iter(|| regions(&map, black_box(&frame)).map(|found| found.as_slice().len()));
        });
        group.bench_function("case", |bencher| {
            bencher.iter_batched(
                || request.clone(),
                Case::new,
                criterion::BatchSize::SmallInput,
            );
        });
        domain.frame(scene.now)?;
        group.bench_function("probes", |bencher| {
            bencher.iter(|| {
                for &probe in &made {
                    black_box(domain.make(probe));
                }
            });
        });
        group.bench_function("last_word", |bencher| {
            bencher.iter(|| black_box(decided.case()).decide(None));
        });
        group.bench_function("plain_cedar", |bencher| {
            bencher.iter(|| {
                questions
                    .iter()
                    .filter(|question| ask(black_box(question)))
                    .count()
            });
        });
        group.finish();
        Ok(())
    }
}

#[cfg(target_os = "linux")]
fn decision(criterion: &mut criterion::Criterion) {
    if let Err(error) = files::compare(criterion) {
        eprintln!("decision: {error}");
        std::process::exit(1);
    }
}

#[cfg(not(target_os = "linux"))]
fn decision(_: &mut criterion::Criterion) {}

criterion::criterion_group!(benches, decision);
criterion::criterion_main!(benches);
