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
        match kind(json) {
            Kind::One => json.parse(PhantomData).map(|one| Self::One(Box::new(one))),
            Kind::ByStratum => json.parse(PhantomData).map(Self::ByStratum),
            Kind::OfGate => Err(InputError::new(
                json.source,
                json.first_line,
                "this is the calibration of a gate, as `safecommit calibrate --audit` makes it; `decide` takes one of \
                 scores, which `safecommit calibrate --scores` makes",
            )),
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

/// What a text is meant to be.
#[derive(Clone, Copy)]
enum Kind {
    One,
    ByStratum,
    OfGate,
}

/// What the text is meant to be, so that what is wrong with it is said of the form that it has. It need not be
/// whole: the keys before the first fault tell.
fn kind(json: JsonText<'_>) -> Kind {
    let seen = Cell::new(Kind::One);
    // Whatever is wrong is found again by the reading proper.
    let _ = json.parse(Keys(&seen));
    seen.get()
}

/// Notes a key that one kind alone has.
#[derive(Clone, Copy)]
struct Keys<'a>(&'a Cell<Kind>);

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
            match key.as_str() {
                "taxonomy" | "groups" => self.0.set(Kind::ByStratum),
                "score_version" | "calibrations" => self.0.set(Kind::OfGate),
                _ => {}
            }
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}
