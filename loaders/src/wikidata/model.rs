//! Entities as the JSON of Wikidata writes them. Takes what real dumps have, such as `[]` for an empty map.

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Unexpected, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

/// A text, which is part of the line that it was read from wherever that is possible.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text<'a>(Cow<'a, str>);

impl Deref for Text<'_> {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfText;
        impl<'de> Visitor<'de> for OfText {
            type Value = Text<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(OfText)
    }
}

/// Names with values, in the order of the text.
#[derive(Clone, Debug, PartialEq)]
pub struct Map<'a, T>(Vec<(Text<'a>, T)>);

impl<T> Default for Map<'_, T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'a, T> Deref for Map<'a, T> {
    type Target = [(Text<'a>, T)];
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<'de: 'a, 'a, T: Deserialize<'de>> Deserialize<'de> for Map<'a, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfMap<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for OfMap<T> {
            type Value = Map<'de, T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object, or an empty list")
            }
            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Map<'de, T>, M::Error> {
                let mut all = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    all.push(entry);
                }
                Ok(Map(all))
            }
            fn visit_seq<S: SeqAccess<'de>>(self, mut list: S) -> Result<Map<'de, T>, S::Error> {
                match list.next_element::<IgnoredAny>()? {
                    None => Ok(Map::default()),
                    Some(_) => Err(S::Error::invalid_type(Unexpected::Seq, &self)),
                }
            }
            fn visit_unit<E>(self) -> Result<Map<'de, T>, E> {
                Ok(Map::default())
            }
        }
        deserializer.deserialize_any(OfMap(PhantomData))
    }
}

/// A list, which may be written as an object whose names do not matter.
#[derive(Clone, Debug, PartialEq)]
pub struct List<T>(Vec<T>);

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Deref for List<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfList<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for OfList<T> {
            type Value = List<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }
            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<List<T>, M::Error> {
                let mut all = Vec::new();
                while let Some((_, value)) = map.next_entry::<IgnoredAny, T>()? {
                    all.push(value);
                }
                Ok(List(all))
            }
            fn visit_seq<S: SeqAccess<'de>>(self, mut list: S) -> Result<List<T>, S::Error> {
                let mut all = Vec::new();
                while let Some(value) = list.next_element()? {
                    all.push(value);
                }
                Ok(List(all))
            }
            fn visit_unit<E>(self) -> Result<List<T>, E> {
                Ok(List::default())
            }
        }
        deserializer.deserialize_any(OfList(PhantomData))
    }
}

/// An item, property or lexeme, or a redirect to one.
#[derive(Clone, Debug, Default, PartialEq, serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub struct Entity<'a> {
    /// Its id, such as `Q42`.
    #[serde(alias = "entity")]
    pub id: Text<'a>,
    /// `item`, `property` or `lexeme`.
    pub r#type: Text<'a>,
    /// Data type of a property's values, such as `wikibase-item`.
    pub datatype: Option<Text<'a>>,
    /// Number of its revision.
    pub lastrevid: Option<u64>,
    /// When that was made.
    pub modified: Option<Text<'a>>,
    /// Its names, by language.
    pub labels: Map<'a, InLanguage<'a>>,
    /// Descriptions, by language.
    pub descriptions: Map<'a, InLanguage<'a>>,
    /// Its other names, by language.
    pub aliases: Map<'a, List<InLanguage<'a>>>,
    /// Its statements, by property.
    pub claims: Map<'a, List<Statement<'a>>>,
    /// Pages about it, by site.
    pub sitelinks: Map<'a, Sitelink<'a>>,
    /// Of a lexeme: how it is written, by language.
    pub lemmas: Map<'a, InLanguage<'a>>,
    /// Of a lexeme: id of its part of speech.
    #[serde(rename = "lexicalCategory")]
    pub lexical_category: Option<Text<'a>>,
    /// Of a lexeme: id of its language.
    pub language: Option<Text<'a>>,
    /// Of a lexeme.
    pub forms: List<Form<'a>>,
    /// Of a lexeme.
    pub senses: List<Sense<'a>>,
    /// Set where the id was asked for and leads nowhere.
    pub missing: Option<IgnoredAny>,
    /// Of a redirect in the database's own form: the id that it leads to.
    pub redirect: Option<Text<'a>>,
    /// Of an entity that was asked for under another id.
    pub redirects: Option<Redirect<'a>>,
}

/// How an entity was found.
#[derive(Clone, Debug, Default, PartialEq, serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub struct Redirect<'a> {
    /// The id that was asked for.
    pub from: Text<'a>,
    /// The id that it leads to.
    pub to: Text<'a>,
}

/// A text in a language.
#[derive(Clone, Debug, PartialEq, serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
pub struct InLanguage<'a> {
    /// Code of the language as Wikidata writes it.
    pub language: Text<'a>,
    /// The text.
    pub value: Text<'a>,
}

/// A page about an item.
#[derive(Clone, Debug, PartialEq, serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
pub struct Sitelink<'a> {
    /// Id of its site, such as `enwiki`.
    pub site: Text<'a>,
    /// Its title.
    pub title: Text<'a>,
    /// Ids of its badges.
    #[serde(default)]
    pub badges: List<Text<'a>>,
    /// Its address, which dumps leave out.
    pub url: Option<Text<'a>>,
}

/// A form of a lexeme.
#[derive(Clone, Debug, Default, PartialEq, serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"), default, rename_all = "camelCase")]
pub struct Form<'a> {
    /// Its id, such as `L42-F1`.
    pub id: Text<'a>,
    /// How it is written, by language.
    pub representations: Map<'a, InLanguage<'a>>,
    /// Ids of its grammatical features.
    pub grammatical_features: List<Text<'a>>,
    /// Its statements, by property.
    pub claims: Map<'a, List<Statement<'a>>>,
}

/// A meaning of a lexeme.
#[derive(Clone, Debug, Default, PartialEq, serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub struct Sense<'a> {
    /// Its id, such as `L42-S1`.
    pub id: Text<'a>,
    /// Glosses, by language.
    pub glosses: Map<'a, InLanguage<'a>>,
    /// Its statements, by property.
    pub claims: Map<'a, List<Statement<'a>>>,
}

/// A statement.
#[derive(Clone, Debug, PartialEq, serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
pub struct Statement<'a> {
    /// Its id.
    pub id: Text<'a>,
    /// The main snak.
    pub mainsnak: Snak<'a>,
    /// The rank among the statements of the same property.
    #[serde(default)]
    pub rank: Rank,
    /// Qualifiers, by property.
    #[serde(default)]
    pub qualifiers: Map<'a, List<Snak<'a>>>,
    /// Where it is from.
    #[serde(default)]
    pub references: List<Reference<'a>>,
}

/// The rank of a statement among those of its property.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rank {
    /// It is the best.
    Preferred,
    /// It is one of many.
    #[default]
    Normal,
    /// It is known to be wrong.
    Deprecated,
}

/// Where a statement is from.
#[derive(Clone, Debug, PartialEq, serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
pub struct Reference<'a> {
    /// Names it by its content.
    pub hash: Text<'a>,
    /// Snaks of the reference, by property.
    #[serde(default)]
    pub snaks: Map<'a, List<Snak<'a>>>,
}

/// A property with a value, with an unknown value or with none.
#[derive(Clone, Debug, PartialEq, serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
pub struct Snak<'a> {
    /// Whether it has a value.
    pub snaktype: SnakType,
    /// The property's id.
    pub property: Text<'a>,
    /// Data type of the property, such as `external-id`.
    pub datatype: Option<Text<'a>>,
    /// The value.
    pub datavalue: Option<DataValue<'a>>,
}

/// Whether there is a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SnakType {
    /// There is, and it is given.
    Value,
    /// There is, and it is unknown.
    SomeValue,
    /// The property has no value.
    NoValue,
}

/// A value.
#[derive(Clone, Debug, PartialEq, serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
pub struct DataValue<'a> {
    /// The type, which determines the fields of `value`.
    pub r#type: Text<'a>,
    /// Its content.
    pub value: Content<'a>,
}

/// What a value of any type may have.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Content<'a> {
    /// Of one that is a text as a whole.
    pub string: Option<Text<'a>>,
    /// Of one with parts.
    pub parts: Parts<'a>,
}

/// The parts that a value may have.
#[derive(Clone, Debug, Default, PartialEq, serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub struct Parts<'a> {
    /// Of an entity: its type.
    #[serde(rename = "entity-type")]
    pub entity_type: Option<Text<'a>>,
    /// Of an entity: the number in its id.
    #[serde(rename = "numeric-id")]
    pub numeric_id: Option<u64>,
    /// Of an entity: its id.
    pub id: Option<Text<'a>>,
    /// Of a time.
    pub time: Option<Text<'a>>,
    /// Of a time: minutes from UTC.
    pub timezone: Option<i64>,
    /// Of a time: 0 (a billion years) to 14 (a second), 11 being a day. Of a coordinate: degrees.
    pub precision: Option<f64>,
    /// Of a time: IRI of the calendar.
    pub calendarmodel: Option<Text<'a>>,
    /// Of a coordinate: degrees.
    pub latitude: Option<f64>,
    /// Of a coordinate: degrees.
    pub longitude: Option<f64>,
    /// Of a coordinate: IRI of what it is on.
    pub globe: Option<Text<'a>>,
    /// Of a quantity: a decimal number with a sign.
    pub amount: Option<Text<'a>>,
    /// Of a quantity: IRI of the unit, or `1`.
    pub unit: Option<Text<'a>>,
    /// Of a quantity.
    #[serde(rename = "upperBound")]
    pub upper_bound: Option<Text<'a>>,
    /// Of a quantity.
    #[serde(rename = "lowerBound")]
    pub lower_bound: Option<Text<'a>>,
    /// Of a text in a language.
    pub text: Option<Text<'a>>,
    /// Of a text in a language.
    pub language: Option<Text<'a>>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfContent;
        impl<'de> Visitor<'de> for OfContent {
            type Value = Content<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or an object")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Content<'de>, E> {
                Ok(Content { string: Some(Text(Cow::Borrowed(text))), ..Content::default() })
            }
            fn visit_str<E>(self, text: &str) -> Result<Content<'de>, E> {
                Ok(Content { string: Some(Text(Cow::Owned(text.to_owned()))), ..Content::default() })
            }
            fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<Content<'de>, M::Error> {
                let parts = Parts::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
                Ok(Content { string: None, parts })
            }
        }
        deserializer.deserialize_any(OfContent)
    }
}
