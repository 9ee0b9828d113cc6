//! Calibrations as they are written and read: one for all cases, or one for each stratum.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;

use safecommit_conformal::{Calibration, MondrianCalibration};
use safecommit_core::{Case, Decision};
use schemars::JsonSchema;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, Visitor};
use serde::{Deserializer, Serialize};

use crate::input::{InputError, JsonText, Source};

/// What `calibrate` writes and `decide` reads.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Calibrations {
    One(Box<Calibration>),
    ByStratum(MondrianCalibration),
}

impl Calibrations {
    pub(crate) fn load(source: &Source) -> anyhow::Result<Self> {
        let text = source.read()?;
        let json = JsonText {
            source,
            first_line: 1,
            text: &text,
        };
        Ok(Self::parse(json)?)
    }

    fn parse(json: JsonText<'_>) -> Result<Self, InputError> {
        if is_by_stratum(json) {
            json.parse(PhantomData).map(Self::ByStratum)
        } else {
            json.parse(PhantomData).map(|one| Self::One(Box::new(one)))
        }
    }
}

/// Decides, under the calibration of the case's stratum if there is one for each.
pub(crate) fn decide(case: &Case, calibrations: Option<&Calibrations>) -> Decision {
    match calibrations {
        None => case.decide(None),
        Some(Calibrations::One(calibration)) => case.decide(Some(calibration)),
        Some(Calibrations::ByStratum(calibrations)) => case.decide_among(calibrations),
    }
}

/// Whether the text is meant to be calibrations by stratum, so that what is wrong with it is said of the
/// form that it has. It need not be whole: the keys before the first fault tell.
fn is_by_stratum(json: JsonText<'_>) -> bool {
    let seen = Cell::new(false);
    // Whatever is wrong is found again by the reading proper.
    let _ = json.parse(Keys(&seen));
    seen.get()
}

/// Notes a key that calibrations by stratum alone have.
#[derive(Clone, Copy)]
struct Keys<'a>(&'a Cell<bool>);

impl<'de> DeserializeSeed<'de> for Keys<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<(), D::Error> {
        input.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Keys<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            if key == "taxonomy" || key == "groups" {
                self.0.set(true);
            }
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}
