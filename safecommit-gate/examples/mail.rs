//! A domain of one's own: mail to a recipient who may not be the right one any more, and with an attachment.
//!
//! `cargo run -p safecommit-gate --example mail`

use jiff::Timestamp;
use safecommit_gate::audit::UsedCalibration;
use safecommit_gate::{
    ActionDescription, Answer, Asked, Belief, Candidate, Domain, DomainError, Fact, Facts, Frame,
    Gate, OfferedProbe, PolicyText, SafetyPolicies, SideEffect, Terms,
};

const SCHEMA: PolicyText<'_> = PolicyText {
    name: "mail.cedarschema",
    text: r#"
        entity Recipient enum ["current", "superseded"];
        entity Attachment enum ["public", "internal"];
        entity Agent;
        entity Message = { recipient: Recipient, attachment: Attachment };
        action send, send_without_attachment appliesTo { principal: [Agent], resource: [Message] };
    "#,
};

const POLICIES: PolicyText<'_> = PolicyText {
    name: "mail.cedar",
    text: r#"
        @id("to-the-right-one")
        permit (principal, action, resource) when { resource.recipient == Recipient::"current" };

        @id("internal-attachment")
        forbid (principal, action == Action::"send", resource)
        when { resource.attachment == Attachment::"internal" };
    "#,
};

/// What is true of a message: its recipient and its attachment. In earnest, `frame` reads evidence and `make` asks a
/// directory and a scanner.
struct Mail(&'static str, &'static str);

impl Domain for Mail {
    fn family(&self) -> &str {
        "mail"
    }

    fn frame(&mut self, _now: Timestamp) -> Result<Frame, DomainError> {
        let (recipient, of_recipient) = fact("recipient", "current", "superseded")?;
        let (attachment, of_attachment) = fact("attachment", "public", "internal")?;
        let candidate = |id: &str, action: &str, reward| Candidate {
            reward,
            ..Candidate::new(id, ActionDescription::new(action, "agent", "note-17"))
        };
        Ok(Frame {
            facts: Facts::new([recipient, attachment]).map_err(DomainError::new)?,
            beliefs: vec![of_recipient, of_attachment],
            candidates: vec![
                candidate("send", "send", 2.0),
                candidate("send-without", "send_without_attachment", 1.0),
            ],
            probes: vec![
                OfferedProbe::new("directory", SideEffect::AsksSystem, ["recipient"]),
                OfferedProbe::new("scanner", SideEffect::RunsProgram, ["attachment"]),
            ],
            ..Frame::default()
        })
    }

    fn make(&mut self, probe: usize) -> Answer {
        let (fact, value) = match probe {
            0 => ("recipient", self.0),
            _ => ("attachment", self.1),
        };
        Answer::Found(vec![(fact.to_owned(), value.to_owned())])
    }
}

/// A fact with its hazard, which is always proposed: a value that is not is in no world.
fn fact(name: &str, usual: &str, hazard: &str) -> Result<(Fact, Belief), DomainError> {
    let fact = Fact::new(name, [usual, hazard]).map_err(DomainError::new)?;
    let strange = Terms {
        provenance_or_age: 0.6,
        ..Terms::NONE
    };
    let belief = Belief::new(&fact, [(usual, Terms::NONE), (hazard, strange)]);
    Ok((fact, belief.map_err(DomainError::new)?))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let gate = Gate::new(SafetyPolicies::load(&[POLICIES], SCHEMA)?);
    for mut mail in [
        Mail("current", "public"),
        Mail("current", "internal"),
        Mail("superseded", "public"),
    ] {
        let asked = Asked::new("note-17");
        let decided = gate.decide(&mut mail, &asked, UsedCalibration::None, Timestamp::now())?;
        let (decision, action) = (decided.record().decision, &decided.record().action);
        let action = action.as_deref().unwrap_or("nothing");
        println!("{}, {}: {decision:?}, {action}", mail.0, mail.1);
    }
    Ok(())
}
