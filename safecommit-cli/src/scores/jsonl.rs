//! Cases from JSONL, in named fields of an object a line.

use std::collections::BTreeSet;
use std::fmt;

use safecommit_conformal::{CalibrationScore, Weight};
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::{Columns, label_of};

/// What an object says of its case.
pub(super) struct Row {
    pub(super) score: CalibrationScore,
    pub(super) labels: Vec<String>,
    pub(super) weight: Option<Weight>,
}

/// Reads a JSON object and keeps the fields that are asked for; no key may come twice.
#[derive(Clone, Copy)]
pub(super) struct RowOf<'a>(pub(super) &'a Columns);

impl<'de> DeserializeSeed<'de> for RowOf<'_> {
    type Value = Row;

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<Row, D::Error> {
        input.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for RowOf<'_> {
    type Value = Row;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "an object with the field `{}`", self.0.score)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Row, A::Error> {
        let columns = self.0;
        let (mut score, mut weight) = (None, None);
        let mut labels = vec![None; columns.by.len()];
        let mut keys = BTreeSet::new();
        while let Some(key) = map.next_key::<String>()? {
            if keys.contains(&key) {
                return Err(A::Error::custom(format_args!("duplicate field `{key}`")));
            }
            if key == columns.score {
                score = Some(map.next_value()?);
            } else if columns.weight.as_ref() == Some(&key) {
                weight = Some(map.next_value()?);
            } else if let Some(place) = columns.by.iter().position(|name| *name == key) {
                labels[place] = Some(map.next_value_seed(Label(columns))?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
            keys.insert(key);
        }
        let absent = |name: &str| A::Error::custom(format_args!("missing field `{name}`"));
        let named = labels.into_iter().zip(&columns.by);
        Ok(Row {
            score: score.ok_or_else(|| absent(&columns.score))?,
            labels: named
                .map(|(label, name)| label.ok_or_else(|| absent(name)))
                .collect::<Result<_, _>>()?,
            weight: match &columns.weight {
                Some(name) => Some(weight.ok_or_else(|| absent(name))?),
                None => None,
            },
        })
    }
}

/// A label of a stratum, which may be written as a text, a whole number or a truth value.
struct Label<'a>(&'a Columns);

#[derive(Deserialize)]
#[serde(untagged, expecting = "a label: a text, a whole number, true or false")]
enum LabelForm {
    Text(String),
    Natural(u64),
    Whole(i64),
    Truth(bool),
}

impl<'de> DeserializeSeed<'de> for Label<'_> {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<String, D::Error> {
        let text = match LabelForm::deserialize(input)? {
            LabelForm::Text(text) => text,
            LabelForm::Natural(number) => number.to_string(),
            LabelForm::Whole(number) => number.to_string(),
            LabelForm::Truth(truth) => truth.to_string(),
        };
        label_of(&text, self.0).map_err(D::Error::custom)
    }
}
