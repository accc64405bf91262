//! The JSON model of Wikidata's entities. Accepts the irregularities of real dumps, such as `[]` for an empty map.

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Unexpected, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

/// A text, borrowed from the line where possible.
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

/// A map as a list of names and values, in the order of the text.
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

/// A list. It may be written as an object, with arbitrary keys.
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
    /// Of a property: data type of its values, such as `wikibase-item`.
    pub datatype: Option<Text<'a>>,
    /// Number of its revision.
    pub lastrevid: Option<u64>,
    /// Time of that revision.
    pub modified: Option<Text<'a>>,
    /// Labels, by language.
    pub labels: Map<'a, InLanguage<'a>>,
    /// Descriptions, by language.
    pub descriptions: Map<'a, InLanguage<'a>>,
    /// Aliases, by language.
    pub aliases: Map<'a, List<InLanguage<'a>>>,
    /// Its statements, by property.
    pub claims: Map<'a, List<Statement<'a>>>,
    /// Pages about the item, by site.
    pub sitelinks: Map<'a, Sitelink<'a>>,
    /// Of a lexeme: its lemmas, by language.
    pub lemmas: Map<'a, InLanguage<'a>>,
    /// Of a lexeme: id of its part of speech.
    #[serde(rename = "lexicalCategory")]
    pub lexical_category: Option<Text<'a>>,
    /// Of a lexeme: id of its language.
    pub language: Option<Text<'a>>,
    /// Of a lexeme: its forms.
    pub forms: List<Form<'a>>,
    /// Of a lexeme: its senses.
    pub senses: List<Sense<'a>>,
    /// Present if the requested id does not exist.
    pub missing: Option<IgnoredAny>,
    /// Of a redirect in the database's own form: the target id.
    pub redirect: Option<Text<'a>>,
    /// The redirect, if the entity was requested by another id.
    pub redirects: Option<Redirect<'a>>,
}

/// A redirect from the requested id to the entity.
#[derive(Clone, Debug, Default, PartialEq, serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub struct Redirect<'a> {
    /// The requested id.
    pub from: Text<'a>,
    /// The target id.
    pub to: Text<'a>,
}

/// A text in a language.
#[derive(Clone, Debug, PartialEq, serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
pub struct InLanguage<'a> {
    /// Wikidata's code of the language.
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
    /// Representations, by language.
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
    /// References to its sources.
    #[serde(default)]
    pub references: List<Reference<'a>>,
}

/// The rank of a statement among those of its property.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rank {
    /// The best statements.
    Preferred,
    /// The default.
    #[default]
    Normal,
    /// Known to be wrong.
    Deprecated,
}

/// A reference to the source of a statement.
#[derive(Clone, Debug, PartialEq, serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
pub struct Reference<'a> {
    /// Hash of its content, which is its name.
    pub hash: Text<'a>,
    /// Snaks of the reference, by property.
    #[serde(default)]
    pub snaks: Map<'a, List<Snak<'a>>>,
}

/// A property with a value, with an unknown value or with none.
#[derive(Clone, Debug, PartialEq, serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
pub struct Snak<'a> {
    /// The kind of value.
    pub snaktype: SnakType,
    /// The property's id.
    pub property: Text<'a>,
    /// Data type of the property, such as `external-id`.
    pub datatype: Option<Text<'a>>,
    /// The value.
    pub datavalue: Option<DataValue<'a>>,
}

/// The kind of a snak's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SnakType {
    /// A known value.
    Value,
    /// An unknown value.
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

/// The content of a value of any type.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Content<'a> {
    /// The content, if it is a single text.
    pub string: Option<Text<'a>>,
    /// The content, if it is an object.
    pub parts: Parts<'a>,
}

/// The fields of a value; which of them are present depends on its type.
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
    /// Of a time: the time itself, such as `+1952-03-11T00:00:00Z`.
    pub time: Option<Text<'a>>,
    /// Of a time: offset from UTC in minutes.
    pub timezone: Option<i64>,
    /// Of a time: 0 (a billion years) to 14 (a second); 11 is a day. Of a coordinate: degrees.
    pub precision: Option<f64>,
    /// Of a time: IRI of the calendar.
    pub calendarmodel: Option<Text<'a>>,
    /// Of a coordinate: degrees.
    pub latitude: Option<f64>,
    /// Of a coordinate: degrees.
    pub longitude: Option<f64>,
    /// Of a coordinate: IRI of the celestial body.
    pub globe: Option<Text<'a>>,
    /// Of a quantity: the amount as a signed decimal number.
    pub amount: Option<Text<'a>>,
    /// Of a quantity: IRI of the unit, or `1`.
    pub unit: Option<Text<'a>>,
    /// Of a quantity: upper bound of the amount.
    #[serde(rename = "upperBound")]
    pub upper_bound: Option<Text<'a>>,
    /// Of a quantity: lower bound of the amount.
    #[serde(rename = "lowerBound")]
    pub lower_bound: Option<Text<'a>>,
    /// Of a text in a language: the text.
    pub text: Option<Text<'a>>,
    /// Of a text in a language: code of the language.
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
