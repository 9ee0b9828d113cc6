//! Structs from objects alone, variants without contents from texts alone.
//!
//! A derived `Deserialize` also takes a list, matching its elements to the fields by their order. That
//! would give a meaning to what is only a mistake, so here a list is an error.

mod variants;

use std::fmt;

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, Expected, MapAccess, SeqAccess, Visitor,
};

use variants::Variants;

/// A deserializer that reads structs from objects alone, and variants without contents from texts alone, at any depth.
///
/// A derived `Deserialize` also takes a list, matching its elements to the fields by their order: `[1, 2]` for
/// `{"min": 1, "max": 2}`; and for the variant `"never"` it also takes `{"never": null}`. Through this wrapper both are
/// errors, so that everything has one spelling, which is the one that a JSON Schema allows. It is for formats that
/// describe themselves, such as JSON and TOML, and whose structs are maps.
///
/// ```
/// use safecommit_bench::json::FromObjects;
/// use serde::Deserialize;
///
/// #[derive(Deserialize)]
/// struct Range { min: u8, max: u8 }
///
/// let read = |text| Range::deserialize(FromObjects(&mut serde_json::Deserializer::from_str(text)));
/// assert_eq!(read(r#"{"min": 1, "max": 2}"#)?.max, 2);
/// assert!(read("[1, 2]").is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
// Wraps, through the deserializer, every visitor, list, map and seed inside.
#[derive(Debug, Clone, Copy)]
pub struct FromObjects<T>(pub T);

macro_rules! forward {
    ($($method:ident($($argument:ident: $kind:ty),*);)*) => {
        $(
            fn $method<V: Visitor<'de>>(self, $($argument: $kind,)* visitor: V) -> Result<V::Value, D::Error> {
                self.0.$method($($argument,)* FromObjects(visitor))
            }
        )*
    };
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for FromObjects<D> {
    type Error = D::Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_map(Fields(visitor))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_any(Variants { names, visitor })
    }

    forward! {
        deserialize_any();
        deserialize_bool();
        deserialize_i8();
        deserialize_i16();
        deserialize_i32();
        deserialize_i64();
        deserialize_i128();
        deserialize_u8();
        deserialize_u16();
        deserialize_u32();
        deserialize_u64();
        deserialize_u128();
        deserialize_f32();
        deserialize_f64();
        deserialize_char();
        deserialize_str();
        deserialize_string();
        deserialize_bytes();
        deserialize_byte_buf();
        deserialize_option();
        deserialize_unit();
        deserialize_unit_struct(name: &'static str);
        deserialize_newtype_struct(name: &'static str);
        deserialize_seq();
        deserialize_tuple(length: usize);
        deserialize_tuple_struct(name: &'static str, length: usize);
        deserialize_map();
        deserialize_identifier();
        deserialize_ignored_any();
    }
}

/// A visitor of a struct, which has no use for anything but an object.
struct Fields<V>(V);

impl<'de, V: Visitor<'de>> Visitor<'de> for Fields<V> {
    type Value = V::Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A derived visitor names its type, which nobody who writes the object knows, unless it was given other words.
        let expected = (&self.0 as &dyn Expected).to_string();
        match expected.starts_with("struct ") {
            true => formatter.write_str("an object"),
            false => formatter.write_str(&expected),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        self.0.visit_map(FromObjects(map))
    }
}

macro_rules! visit {
    ($($method:ident: $kind:ty;)*) => {
        $(
            fn $method<E: Error>(self, value: $kind) -> Result<V::Value, E> {
                self.0.$method(value)
            }
        )*
    };
}

impl<'de, V: Visitor<'de>> Visitor<'de> for FromObjects<V> {
    type Value = V::Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(formatter)
    }

    visit! {
        visit_bool: bool;
        visit_i64: i64;
        visit_i128: i128;
        visit_u64: u64;
        visit_u128: u128;
        visit_f64: f64;
        visit_str: &str;
        visit_borrowed_str: &'de str;
        visit_string: String;
        visit_bytes: &[u8];
        visit_borrowed_bytes: &'de [u8];
        visit_byte_buf: Vec<u8>;
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_none()
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        self.0.visit_some(FromObjects(inner))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        self.0.visit_newtype_struct(FromObjects(inner))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<V::Value, A::Error> {
        self.0.visit_seq(FromObjects(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        self.0.visit_map(FromObjects(map))
    }

    // Only for a visitor that asked for no enum: `deserialize_enum` has one of its own.
    fn visit_enum<A: EnumAccess<'de>>(self, variant: A) -> Result<V::Value, A::Error> {
        self.0.visit_enum(variant)
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for FromObjects<A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        self.0.next_element_seed(FromObjects(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for FromObjects<A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        self.0.next_key_seed(seed)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.0.next_value_seed(FromObjects(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for FromObjects<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<S::Value, D::Error> {
        self.0.deserialize(FromObjects(input))
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Outer {
        inner: Option<Vec<Inner>>,
        pair: (u8, f64),
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Inner {
        name: String,
    }

    fn read(text: &str) -> Result<Outer, String> {
        let mut input = serde_json::Deserializer::from_str(text);
        Outer::deserialize(FromObjects(&mut input)).map_err(|error| error.to_string())
    }

    #[test]
    fn objects_are_read_and_lists_are_not() {
        let whole = r#"{"inner": [{"name": "a"}, {"name": "b"}], "pair": [1, 0.5]}"#;
        let names = ["a", "b"].map(|name| Inner { name: name.into() });
        let expect = Outer {
            inner: Some(names.into()),
            pair: (1, 0.5),
        };
        assert_eq!(read(whole), Ok(expect));
        for list in [
            r#"{"inner": [["a"]], "pair": [1, 0.5]}"#,
            r#"[[{"name": "a"}], [1, 0.5]]"#,
        ] {
            assert!(
                serde_json::from_str::<Outer>(list).is_ok(),
                "taken without the wrapper"
            );
            let error = read(list).unwrap_err();
            assert!(
                error.starts_with("invalid type: sequence, expected an object"),
                "{error}"
            );
        }
    }
}
