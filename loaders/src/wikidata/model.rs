//! The JSON model of Wikidata's entities. Accepts the irregularities of real dumps, such as `[]` for an empty map.

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Unexpected, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

/// A text, borrowed from the line where possible.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WikidataText<'a>(Cow<'a, str>);

impl Deref for WikidataText<'_> {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for WikidataText<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfText;
        impl<'de> Visitor<'de> for OfText {
            type Value = WikidataText<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<WikidataText<'de>, E> {
                Ok(WikidataText(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<WikidataText<'de>, E> {
                Ok(WikidataText(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(OfText)
    }
}

/// A map as a list of names and values, in the order of the text.
#[derive(Clone, Debug, PartialEq)]
pub struct Map<'a, T>(Vec<(WikidataText<'a>, T)>);

impl<T> Default for Map<'_, T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'a, T> Deref for Map<'a, T> {
    type Target = [(WikidataText<'a>, T)];
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
pub struct LenientList<T>(Vec<T>);

impl<T> Default for LenientList<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Deref for LenientList<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for LenientList<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfList<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for OfList<T> {
            type Value = LenientList<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }
            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<LenientList<T>, M::Error> {
                let mut all = Vec::new();
                while let Some((_, value)) = map.next_entry::<IgnoredAny, T>()? {
                    all.push(value);
                }
                Ok(LenientList(all))
            }
            fn visit_seq<S: SeqAccess<'de>>(self, mut list: S) -> Result<LenientList<T>, S::Error> {
                let mut all = Vec::new();
                while let Some(value) = list.next_element()? {
                    all.push(value);
                }
                Ok(LenientList(all))
            }
            fn visit_unit<E>(self) -> Result<LenientList<T>, E> {
                Ok(LenientList::default())
            }
        }
        deserializer.deserialize_any(OfList(PhantomData))
    }
}

/// An item, property or lexeme, or a redirect to one.
#[derive(Clone, Debug, Default, PartialEq, serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub struct WikidataEntity<'a> {
    /// Its id, such as `Q42`.
    #[serde(alias = "entity")]
    pub id: WikidataText<'a>,
    /// `item`, `property` or `lexeme`.
    pub r#type: WikidataText<'a>,
    /// Of a property: data type of its values, such as `wikibase-item`.
    pub datatype: Option<WikidataText<'a>>,
    /// Number of its revision.
    pub lastrevid: Option<u64>,
    /// Time of that revision.
    pub modified: Option<WikidataText<'a>>,
    /// Labels, by language.
    pub labels: Map<'a, LocalizedText<'a>>,
    /// Descriptions, by language.
    pub descriptions: Map<'a, LocalizedText<'a>>,
    /// Aliases, by language.
    pub aliases: Map<'a, LenientList<LocalizedText<'a>>>,
    /// Its statements, by property.
    pub claims: Map<'a, LenientList<WikidataStatement<'a>>>,
    /// Pages about the item, by site.
    pub sitelinks: Map<'a, WikidataSitelink<'a>>,
    /// Of a lexeme: its lemmas, by language.
    pub lemmas: Map<'a, LocalizedText<'a>>,
    /// Of a lexeme: id of its part of speech.
    #[serde(rename = "lexicalCategory")]
    pub lexical_category: Option<WikidataText<'a>>,
    /// Of a lexeme: id of its language.
    pub language: Option<WikidataText<'a>>,
    /// Of a lexeme: its forms.
    pub forms: LenientList<LexemeForm<'a>>,
    /// Of a lexeme: its senses.
    pub senses: LenientList<Sense<'a>>,
    /// Present if the requested id does not exist.
    pub missing: Option<IgnoredAny>,
    /// Of a redirect in the database's own form: the target id.
    pub redirect: Option<WikidataText<'a>>,
    /// The redirect, if the entity was requested by another id.
    pub redirects: Option<Redirect<'a>>,
}

/// A redirect from the requested id to the entity.
#[derive(Clone, Debug, Default, PartialEq, serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub struct Redirect<'a> {
    /// The requested id.
    pub from: WikidataText<'a>,
    /// The target id.
    pub to: WikidataText<'a>,
}

/// A text in a language.
#[derive(Clone, Debug, PartialEq, serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
pub struct LocalizedText<'a> {
    /// Wikidata's code of the language.
    pub language: WikidataText<'a>,
    /// The text.
    pub value: WikidataText<'a>,
}

/// A page about an item.
#[derive(Clone, Debug, PartialEq, serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
pub struct WikidataSitelink<'a> {
    /// Id of its site, such as `enwiki`.
    pub site: WikidataText<'a>,
    /// Its title.
    pub title: WikidataText<'a>,
    /// Ids of its badges.
    #[serde(default)]
    pub badges: LenientList<WikidataText<'a>>,
    /// Its address, which dumps leave out.
    pub url: Option<WikidataText<'a>>,
}

/// A form of a lexeme.
#[derive(Clone, Debug, Default, PartialEq, serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"), default, rename_all = "camelCase")]
pub struct LexemeForm<'a> {
    /// Its id, such as `L42-F1`.
    pub id: WikidataText<'a>,
    /// Representations, by language.
    pub representations: Map<'a, LocalizedText<'a>>,
    /// Ids of its grammatical features.
    pub grammatical_features: LenientList<WikidataText<'a>>,
    /// Its statements, by property.
    pub claims: Map<'a, LenientList<WikidataStatement<'a>>>,
}

/// A meaning of a lexeme.
#[derive(Clone, Debug, Default, PartialEq, serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub struct Sense<'a> {
    /// Its id, such as `L42-S1`.
    pub id: WikidataText<'a>,
    /// Glosses, by language.
    pub glosses: Map<'a, LocalizedText<'a>>,
    /// Its statements, by property.
    pub claims: Map<'a, LenientList<WikidataStatement<'a>>>,
}

/// A statement.
#[derive(Clone, Debug, PartialEq, serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
pub struct WikidataStatement<'a> {
    /// Its id.
    pub id: WikidataText<'a>,
    /// The main snak.
    pub mainsnak: WikidataSnak<'a>,
    /// The rank among the statements of the same property.
    #[serde(default)]
    pub rank: WikidataRank,
    /// Qualifiers, by property.
    #[serde(default)]
    pub qualifiers: Map<'a, LenientList<WikidataSnak<'a>>>,
    /// References to its sources.
    #[serde(default)]
    pub references: LenientList<WikidataReference<'a>>,
}

/// The rank of a statement among those of its property.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WikidataRank {
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
pub struct WikidataReference<'a> {
    /// Hash of its content, which is its name.
    pub hash: WikidataText<'a>,
    /// Snaks of the reference, by property.
    #[serde(default)]
    pub snaks: Map<'a, LenientList<WikidataSnak<'a>>>,
}

/// A property with a value, with an unknown value or with none.
#[derive(Clone, Debug, PartialEq, serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
pub struct WikidataSnak<'a> {
    /// The kind of value.
    pub snaktype: SnakType,
    /// The property's id.
    pub property: WikidataText<'a>,
    /// Data type of the property, such as `external-id`.
    pub datatype: Option<WikidataText<'a>>,
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
    pub r#type: WikidataText<'a>,
    /// Its content.
    pub value: ValueContent<'a>,
}

/// The content of a value of any type.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ValueContent<'a> {
    /// The content, if it is a single text.
    pub string: Option<WikidataText<'a>>,
    /// The content, if it is an object.
    pub parts: ValueFields<'a>,
}

/// The fields of a value; which of them are present depends on its type.
#[derive(Clone, Debug, Default, PartialEq, serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub struct ValueFields<'a> {
    /// Of an entity: its type.
    #[serde(rename = "entity-type")]
    pub entity_type: Option<WikidataText<'a>>,
    /// Of an entity: the number in its id.
    #[serde(rename = "numeric-id")]
    pub numeric_id: Option<u64>,
    /// Of an entity: its id.
    pub id: Option<WikidataText<'a>>,
    /// Of a time: the time itself, such as `+1952-03-11T00:00:00Z`.
    pub time: Option<WikidataText<'a>>,
    /// Of a time: offset from UTC in minutes.
    pub timezone: Option<i64>,
    /// Of a time: 0 (a billion years) to 14 (a second); 11 is a day. Of a coordinate: degrees.
    pub precision: Option<f64>,
    /// Of a time: IRI of the calendar.
    pub calendarmodel: Option<WikidataText<'a>>,
    /// Of a coordinate: degrees.
    pub latitude: Option<f64>,
    /// Of a coordinate: degrees.
    pub longitude: Option<f64>,
    /// Of a coordinate: IRI of the celestial body.
    pub globe: Option<WikidataText<'a>>,
    /// Of a quantity: the amount as a signed decimal number.
    pub amount: Option<WikidataText<'a>>,
    /// Of a quantity: IRI of the unit, or `1`.
    pub unit: Option<WikidataText<'a>>,
    /// Of a quantity: upper bound of the amount.
    #[serde(rename = "upperBound")]
    pub upper_bound: Option<WikidataText<'a>>,
    /// Of a quantity: lower bound of the amount.
    #[serde(rename = "lowerBound")]
    pub lower_bound: Option<WikidataText<'a>>,
    /// Of a text in a language: the text.
    pub text: Option<WikidataText<'a>>,
    /// Of a text in a language: code of the language.
    pub language: Option<WikidataText<'a>>,
}

impl<'de: 'a, 'a> Deserialize<'de> for ValueContent<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfContent;
        impl<'de> Visitor<'de> for OfContent {
            type Value = ValueContent<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or an object")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<ValueContent<'de>, E> {
                Ok(ValueContent { string: Some(WikidataText(Cow::Borrowed(text))), ..ValueContent::default() })
            }
            fn visit_str<E>(self, text: &str) -> Result<ValueContent<'de>, E> {
                Ok(ValueContent { string: Some(WikidataText(Cow::Owned(text.to_owned()))), ..ValueContent::default() })
            }
            fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<ValueContent<'de>, M::Error> {
                let parts = ValueFields::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
                Ok(ValueContent { string: None, parts })
            }
        }
        deserializer.deserialize_any(OfContent)
    }
}
