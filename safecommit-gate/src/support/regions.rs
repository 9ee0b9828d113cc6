//! Sets of worlds in which the same actions are safe.

mod memory;
mod region;
mod split;

use std::sync::Arc;

use super::belief::{Belief, Impossible};
use super::error::{Cut, SupportError};
use crate::fact::Facts;
use crate::policy::{Judge, Reasons, SafetyMap};
use crate::score::ScoreWeights;

pub(crate) use memory::Splits;
pub(crate) use region::ANY;
pub use region::{LEFT_OUT, Region};
pub(crate) use split::Beyond;

/// The proposed worlds in regions, best first. A region is a product of sets of values, some values for each fact, in
/// all worlds of which the same actions are safe.
///
/// There are thousands of worlds where there are some dozens of regions, and a certificate over regions is one over
/// worlds: an action is safe in every world that some answers leave exactly if it is safe in every region that they
/// leave a world of. Every world that the beliefs propose is in exactly one region, but for those with an
/// [`Impossible`] pair of values, which may be in none. A region may hold such worlds beside possible ones. Where it
/// holds no others, and no two facts alone show it, it is there nevertheless: then an action counts as unsafe that
/// need not, never the other way round.
///
/// Facts that no policy reads are not looked into: their values neither split regions nor count towards the score.
///
/// Made by [`SafetyMap::regions`], where there is an example.
#[derive(Clone, Debug)]
pub struct Regions {
    regions: Vec<Region>,
    cut: Option<Cut>,
    about: Arc<region::About>,
}

impl SafetyMap {
    /// Splits the product of the proposed values into regions, the least strange first. At most `limit`: what is left
    /// out then scores at least what [`Regions::cut`] says. None at all where evidence excludes every value of a fact:
    /// then it contradicts itself.
    ///
    /// The score of a region is that of the least strange of its worlds (Eq. 9), summed over the facts that some policy
    /// reads; if that world has an impossible pair of values, the least strange that is possible may score more.
    ///
    /// Cubes of worlds wait in a queue by their score. One on which every action is decided, safe in every world or
    /// unsafe in every world for one and the same reason, is a region. Another is split on the fact on which most
    /// undecided policies hang, with those values kept together that are alike to all of these. A policy is asked once
    /// for all worlds that agree on what it reads, so what it costs is mostly the number of these combinations. At
    /// most 64 cubes a region are looked at.
    ///
    /// ```
    /// use safecommit_gate::{
    ///     ActionDescription, Belief, Fact, Facts, PolicyText, SafetyPolicies, ScoreWeights, Terms,
    /// };
    ///
    /// let schema = PolicyText { name: "s", text: r#"
    ///     entity Kind enum ["file", "link", "mount"]; entity Agent; entity Entry = { kind: Kind, secret: Bool };
    ///     action delete appliesTo { principal: [Agent], resource: [Entry] };
    /// "# };
    /// let policies = PolicyText { name: "p", text: r#"
    ///     @id("file") permit(principal, action, resource) when { resource.kind == Kind::"file" };
    ///     @id("secret") forbid(principal, action, resource) when { resource.secret };
    /// "# };
    /// let facts = Facts::new([
    ///     Fact::new("kind", ["file", "link", "mount"])?,
    ///     Fact::new("secret", ["no", "yes"])?,
    /// ])?;
    /// let map = SafetyPolicies::load(&[policies], schema)?
    ///     .bind(&facts, &[ActionDescription::new("delete", "agent", "run/latest")])?;
    /// let strange = |much| Terms { provenance_or_age: much, ..Terms::NONE };
    /// let beliefs = [
    ///     Belief::new(&facts.as_slice()[0], [("link", strange(0.5)), ("mount", strange(0.75))])?
    ///         .supported("file", Terms::NONE)?,
    ///     Belief::new(&facts.as_slice()[1], [("yes", strange(0.25))])?.supported("no", Terms::NONE)?,
    /// ];
    /// let regions = map.regions(&facts, &beliefs, &[], &ScoreWeights::EQUAL, 100)?;
    /// let found: Vec<_> = regions.as_slice().iter().map(|region| {
    ///     (region.id(), region.score().value(), region.is_safe(0))
    /// }).collect();
    /// assert_eq!(found, [
    ///     ("kind=file secret=no".to_owned(), 0.0, true),
    ///     ("kind=file secret=yes".to_owned(), 0.25, false),
    ///     ("kind=link|mount".to_owned(), 0.5, false), // secret or not: nothing permits it
    /// ]);
    /// let why: Vec<String> = regions.as_slice()[1].blockers(0).map(|why| why.to_string()).collect();
    /// assert_eq!(why, ["policy `secret` forbids it"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SupportError`]: for facts that the map was not bound to, beliefs that are not about them, a fact with more than
    /// 64 values, and a score that is no number.
    pub fn regions(
        &self,
        facts: &Facts,
        beliefs: &[Belief],
        impossible: &[Impossible],
        weights: &ScoreWeights,
        limit: usize,
    ) -> Result<Regions, SupportError> {
        self.regions_until(facts, beliefs, impossible, weights, limit, Beyond::Best)
    }

    /// [`regions`](Self::regions), and what is to be done where there are more than `limit`.
    pub(crate) fn regions_until(
        &self,
        facts: &Facts,
        beliefs: &[Belief],
        impossible: &[Impossible],
        weights: &ScoreWeights,
        limit: usize,
        beyond: Beyond,
    ) -> Result<Regions, SupportError> {
        let mut relevant: Vec<usize> = (0..self.actions())
            .flat_map(|action| self.facts_read(action))
            .collect();
        relevant.sort_unstable();
        relevant.dedup();
        let sizes = facts.as_slice().iter().map(|fact| fact.values().len());
        if !self.sizes().iter().copied().eq(sizes) {
            return Err(SupportError::OtherMap);
        }
        let proposed = split::Proposed::new(facts, beliefs, &relevant, weights)?;
        let (decided, cut, reasons) = self.split(&proposed, impossible, limit, beyond)?;
        let about = Arc::new(region::About {
            facts: facts.clone(),
            terms: proposed.into_terms(),
            relevant,
            reasons,
        });
        let regions = decided.into_iter();
        let regions = regions.map(|decided| Region::new(decided, &about));
        Ok(Regions {
            regions: regions.collect(),
            cut,
            about,
        })
    }

    fn split(
        &self,
        proposed: &split::Proposed<'_>,
        impossible: &[Impossible],
        limit: usize,
        beyond: Beyond,
    ) -> Result<(Vec<split::Decided>, Option<Cut>, Reasons), SupportError> {
        let contradictions = split::Contradictions::new(impossible, self.sizes().len());
        if let Some(known) = self.splits().get(self, proposed.cube(), &contradictions)
            && let Some(decided) = split::of_known(&known, proposed, limit)?
        {
            // It was kept, so no policy failed.
            return Ok((decided, None, self.reasons(Vec::new())));
        }
        let mut judge = Judge::new(self);
        let found = split::split(proposed, &contradictions, &mut judge, limit, beyond)?;
        let messages = judge.into_messages();
        if found.cut.is_none() && messages.is_empty() {
            let decided = found.decided.iter();
            let decided = decided.map(|region| (region.cube.clone(), region.stopped.clone()));
            let split = memory::Split {
                decided: decided.collect(),
                looked_at: found.looked_at,
            };
            let splits = self.splits();
            splits.keep(self, proposed.cube(), contradictions, split);
        }
        Ok((found.decided, found.cut, self.reasons(messages)))
    }
}

impl Regions {
    /// The regions, by ascending score; those that score alike in the order of their values.
    #[must_use]
    pub fn as_slice(&self) -> &[Region] {
        &self.regions
    }

    /// Whether worlds were left out, and what the best of them scores at least.
    #[must_use]
    pub fn cut(&self) -> Option<Cut> {
        self.cut
    }

    /// The facts.
    #[must_use]
    pub fn facts(&self) -> &Facts {
        &self.about.facts
    }

    /// The positions of the facts that some policy reads for some of the actions, ascending. The safety of an action
    /// depends on no other.
    #[must_use]
    pub fn relevant(&self) -> &[usize] {
        &self.about.relevant
    }
}
