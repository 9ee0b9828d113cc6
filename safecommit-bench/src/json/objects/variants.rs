//! Variants of enums: one without contents is a text, any other an object with its name as the only key.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, IgnoredAny, IntoDeserializer as _, MapAccess,
    Unexpected, VariantAccess, Visitor,
};

use super::FromObjects;

/// A visitor of an enum with variants of these names.
pub(super) struct Variants<V> {
    pub(super) names: &'static [&'static str],
    pub(super) visitor: V,
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Variants<V> {
    type Value = V::Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.names.iter().map(|name| format!("`{name}`")).collect();
        write!(formatter, "one of {}", names.join(", "))
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<V::Value, E> {
        let error = PhantomData;
        self.visitor.visit_enum(Alone { name, error })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_enum(Named(map))
    }
}

/// The name of a variant without contents.
struct Alone<'n, E> {
    name: &'n str,
    error: PhantomData<E>,
}

impl<'de, E: Error> EnumAccess<'de> for Alone<'_, E> {
    type Error = E;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), E> {
        Ok((seed.deserialize(self.name.into_deserializer())?, self))
    }
}

impl<E: Error> Alone<'_, E> {
    fn lacks_contents<T>(self) -> Result<T, E> {
        let name = self.name;
        Err(E::custom(format_args!(
            "`{name}` has contents: it is written as an object, {{\"{name}\": ...}}"
        )))
    }
}

impl<'de, E: Error> VariantAccess<'de> for Alone<'_, E> {
    type Error = E;

    fn unit_variant(self) -> Result<(), E> {
        Ok(())
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, _: S) -> Result<S::Value, E> {
        self.lacks_contents()
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, E> {
        self.lacks_contents()
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, E> {
        self.lacks_contents()
    }
}

/// An object whose only key is the name of a variant.
struct Named<A>(A);

impl<'de, A: MapAccess<'de>> EnumAccess<'de> for Named<A> {
    type Error = A::Error;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(
        mut self,
        seed: S,
    ) -> Result<(S::Value, Self), A::Error> {
        match self.0.next_key_seed(seed)? {
            Some(variant) => Ok((variant, self)),
            None => Err(A::Error::invalid_length(0, &"the name of a variant")),
        }
    }
}

impl<'de, A: MapAccess<'de>> VariantAccess<'de> for Named<A> {
    type Error = A::Error;

    fn unit_variant(self) -> Result<(), A::Error> {
        Err(A::Error::invalid_type(
            Unexpected::Map,
            &"the name alone, as a text",
        ))
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(
        mut self,
        seed: S,
    ) -> Result<S::Value, A::Error> {
        let contents = self.0.next_value_seed(FromObjects(seed))?;
        match self.0.next_key::<IgnoredAny>()? {
            None => Ok(contents),
            Some(_) => Err(A::Error::invalid_length(2, &"the name of one variant")),
        }
    }

    fn tuple_variant<V: Visitor<'de>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        self.newtype_variant_seed(Tuple { length, visitor })
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        self.newtype_variant_seed(Struct { fields, visitor })
    }
}

/// The contents of a variant that is a tuple.
struct Tuple<V> {
    length: usize,
    visitor: V,
}

impl<'de, V: Visitor<'de>> DeserializeSeed<'de> for Tuple<V> {
    type Value = V::Value;

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<V::Value, D::Error> {
        input.deserialize_tuple(self.length, self.visitor)
    }
}

/// The contents of a variant that has named fields.
struct Struct<V> {
    fields: &'static [&'static str],
    visitor: V,
}

impl<'de, V: Visitor<'de>> DeserializeSeed<'de> for Struct<V> {
    type Value = V::Value;

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<V::Value, D::Error> {
        input.deserialize_struct("", self.fields, self.visitor)
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Way {
        Never,
        Once(Option<u8>),
        Both(u8, u8),
        Within { price: u8 },
    }

    fn read(text: &str) -> Result<Way, String> {
        let mut input = serde_json::Deserializer::from_str(text);
        Way::deserialize(FromObjects(&mut input)).map_err(|error| error.to_string())
    }

    #[test]
    fn each_variant_has_one_spelling() {
        for (text, expect) in [
            (r#""never""#, Way::Never),
            (r#"{"once": 3}"#, Way::Once(Some(3))),
            (r#"{"once": null}"#, Way::Once(None)),
            (r#"{"both": [1, 2]}"#, Way::Both(1, 2)),
            (r#"{"within": {"price": 4}}"#, Way::Within { price: 4 }),
        ] {
            assert_eq!(read(text), Ok(expect), "{text}");
            let plain = serde_json::from_str::<Way>(text).map_err(|error| error.to_string());
            assert_eq!(read(text), plain, "as without the wrapper");
        }
        for (text, expect) in [
            (
                r#"{"never": null}"#,
                "invalid type: map, expected the name alone, as a text",
            ),
            (
                r#"{"within": [4]}"#,
                "invalid type: sequence, expected an object",
            ),
        ] {
            assert!(serde_json::from_str::<Way>(text).is_ok(), "{text}");
            let error = read(text).unwrap_err();
            assert!(error.starts_with(expect), "{text}: {error}");
        }
        for (text, expect) in [
            (
                r#""within""#,
                "`within` has contents: it is written as an object, {\"within\": ...}",
            ),
            (r#""twice""#, "unknown variant `twice`"),
            (r#"{"twice": 1}"#, "unknown variant `twice`"),
            ("{}", "invalid length 0, expected the name of a variant"),
            (
                r#"{"once": 1, "never": null}"#,
                "invalid length 2, expected the name of one variant",
            ),
            (
                "7",
                "invalid type: integer `7`, expected one of `never`, `once`, `both`, `within`",
            ),
            ("null", "invalid type: null, expected one of `never`"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.starts_with(expect), "{text}: {error}");
        }
    }
}
