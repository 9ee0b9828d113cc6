//! Requests under whose certificates a proposal is released, and others that pose as such.

use safecommit_conformal::{MondrianCalibration, Score, Taxonomy};
use safecommit_core::{Case, CertificateError, Request};
use safecommit_gate::{Authority, ExecuteError, Executor, Proposal};
use serde_json::json;

use crate::support::{Scene, delete, probe, propose, rename};

/// A case in which every action of these names is safe.
fn case(id: Option<&str>, actions: &[&str]) -> Case {
    let named: Vec<_> = actions.iter().map(|id| json!({"id": id})).collect();
    let request = json!({
        "id": id,
        "stratum": "file",
        "actions": named,
        "worlds": [{"id": "any", "score": 0.1, "safe": actions}],
    });
    Case::new(serde_json::from_value::<Request>(request).unwrap()).unwrap()
}

fn calibrations() -> MondrianCalibration {
    let file: safecommit_conformal::Stratum = "file".parse().unwrap();
    let scores = (1..20).map(|i| Score::new(f64::from(i) / 20.0).unwrap());
    let cases: Vec<_> = scores.map(|score| (file.clone(), score.into())).collect();
    let taxonomy = Taxonomy::new([file]).unwrap();
    let misses = safecommit_conformal::Misses::AsListed;
    MondrianCalibration::new("0.2".parse().unwrap(), taxonomy, &cases, misses).unwrap()
}

/// Certifies the first action of the case, and asks for an action of the proposal, under one calibration or many.
fn attempt(
    executor: &mut Executor,
    case: &Case,
    many: bool,
    proposal: &Proposal,
    action: usize,
) -> Result<(), ExecuteError> {
    let probed = probe(executor, &proposal.actions()[action]);
    let calibrations = calibrations();
    let (decision, authority) = if many {
        let calibrations = &calibrations;
        (
            case.decide_among(calibrations),
            Authority::CaseAmong { case, calibrations },
        )
    } else {
        let calibration = None;
        (case.decide(None), Authority::Case { case, calibration })
    };
    let certificate = decision.into_certificate().unwrap();
    let receipt = executor.execute(certificate, authority, proposal, action, &probed)?;
    assert_eq!(receipt.entry, 1);
    Ok(())
}

fn scene() -> Scene {
    let scene = Scene::new();
    scene.write("file", "old");
    scene.write("folder/below", "precious");
    scene
}

#[test]
fn the_very_request_releases_its_action() {
    for many in [false, true] {
        let scene = scene();
        let mut executor = scene.open();
        let proposal = propose(&executor, vec![delete("file"), rename("folder", "moved")]);
        assert_eq!(
            proposal.request_id(),
            format!(
                "decision-0 {}",
                safecommit_gate::Digest::from(proposal.subject().0)
            )
        );
        assert_eq!(proposal.action_name(2), None);
        let case = case(Some(&proposal.request_id()), &["delete-1", "move-2"]);
        // The certificate is for the first action only.
        let other = attempt(&mut executor, &case, many, &proposal, 1).unwrap_err();
        let other_action = matches!(
            other,
            ExecuteError::Certificate(CertificateError::OtherAction { .. })
        );
        assert!(other_action, "{other}");
        attempt(&mut executor, &case, many, &proposal, 0).unwrap();
        assert!(!scene.path("file").exists() && scene.path("folder").exists());
    }
}

#[test]
fn no_other_request_releases_anything() {
    let scene = scene();
    let mut executor = scene.open();
    let (file, folder) = (delete("file"), delete("folder"));
    let ours = propose(&executor, vec![file.clone(), folder.clone()]);
    // The same names in the same order, about the targets the other way round.
    let permuted = Proposal::new(ours.context().clone(), vec![folder.clone(), file.clone()]);
    let permuted = permuted.unwrap().request_id();
    let fewer = Proposal::new(ours.context().clone(), vec![file]).unwrap();
    let mut context = ours.context().clone();
    context.decision.push('x');
    let later = Proposal::new(context, ours.actions().to_vec()).unwrap();
    let id = ours.request_id();
    let (_, subject) = id.split_once(' ').unwrap();
    let renamed = format!("decision-0x {subject}");
    let (upper, spaced) = (id.to_uppercase(), format!("{id} "));
    let two = ["delete-1", "delete-2"];
    let refused: Vec<(Option<&str>, &[&str], String)> = vec![
        (None, &two, format!("its id is missing, expected is `{id}`")),
        (
            Some(&permuted),
            &two,
            format!("its id is `{permuted}`, expected is `{id}`"),
        ),
        (
            Some(subject),
            &two,
            format!("its id is `{subject}`, expected is `{id}`"),
        ),
        (
            Some("decision-0"),
            &two,
            format!("its id is `decision-0`, expected is `{id}`"),
        ),
        (
            Some(&renamed),
            &two,
            format!("its id is `{renamed}`, expected is `{id}`"),
        ),
        (
            Some(&upper),
            &two,
            format!("its id is `{upper}`, expected is `{id}`"),
        ),
        (
            Some(&spaced),
            &two,
            format!("its id is `{spaced}`, expected is `{id}`"),
        ),
        (
            Some(&id),
            &["delete-1"],
            "it has 1 actions, expected are 2".to_owned(),
        ),
        (
            Some(&id),
            &["delete-1", "delete-2", "delete-3"],
            "it has 3 actions, expected are 2".to_owned(),
        ),
        (
            Some(&id),
            &["delete-2", "delete-1"],
            "action 1 is `delete-2`, expected is `delete-1`".to_owned(),
        ),
        (
            Some(&id),
            &["delete-1", "move-2"],
            "action 2 is `move-2`, expected is `delete-2`".to_owned(),
        ),
        (
            Some(&id),
            &["delete-0", "delete-1"],
            "action 1 is `delete-0`, expected is `delete-1`".to_owned(),
        ),
    ];
    let before = scene.tree();
    for (id, actions, problem) in refused {
        for many in [false, true] {
            let error = attempt(&mut executor, &case(id, actions), many, &ours, 0).unwrap_err();
            let expected = format!("the request is not about this proposal: {problem}");
            assert!(matches!(error, ExecuteError::OtherRequest(_)), "{error}");
            assert_eq!(error.to_string(), expected);
        }
    }
    // A request of one proposal with the proposal of another.
    for other in [&fewer, &later] {
        let case = case(Some(&id), &two);
        let error = attempt(&mut executor, &case, false, other, 0).unwrap_err();
        assert!(matches!(error, ExecuteError::OtherRequest(_)), "{error}");
    }
    // A certificate of another request does not serve, even if the request that is shown is the right one.
    let (shown, shorter) = (case(Some(&id), &two), case(Some(&id), &two[..1]));
    let certificate = shorter.decide(None).into_certificate().unwrap();
    let authority = Authority::Case {
        case: &shown,
        calibration: None,
    };
    let probed = probe(&executor, &ours.actions()[0]);
    let error = executor.execute(certificate, authority, &ours, 0, &probed);
    assert!(matches!(error, Err(ExecuteError::Certificate(_))));
    assert_eq!(scene.tree(), before);
    assert!(executor.entries().is_empty());
}
