//! What a text asks for, apart from any query language.

use terrapin_geocoder::{PlaceElement, PlacePosition};

/// The types of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ElementTypes {
    #[default]
    All,
    Nodes,
    Ways,
    Relations,
    NodesAndWays,
}

impl ElementTypes {
    /// Returns the word of OverpassQL.
    pub fn name(self) -> &'static str {
        match self {
            ElementTypes::All => "nwr",
            ElementTypes::Nodes => "node",
            ElementTypes::Ways => "way",
            ElementTypes::Relations => "relation",
            ElementTypes::NodesAndWays => "nw",
        }
    }

    /// Returns the type for a word, in either number.
    pub fn named(folded: &str) -> Option<ElementTypes> {
        Some(match folded {
            "node" | "nodes" => ElementTypes::Nodes,
            "way" | "ways" => ElementTypes::Ways,
            "relation" | "relations" | "rel" => ElementTypes::Relations,
            "nwr" | "element" | "elements" | "object" | "objects" | "feature" | "features" | "entities" => {
                ElementTypes::All
            }
            _ => return None,
        })
    }
}

/// A comparison of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    Over,
    AtLeast,
    Under,
    AtMost,
    Equal,
}

impl Comparison {
    /// Returns the sign of both query languages; OverpassQL writes `==`.
    pub fn sign(self) -> &'static str {
        match self {
            Comparison::Over => ">",
            Comparison::AtLeast => ">=",
            Comparison::Under => "<",
            Comparison::AtMost => "<=",
            Comparison::Equal => "=",
        }
    }
}

/// A condition on elements.
#[derive(Debug, Clone, PartialEq)]
pub enum Filter {
    Has(String),
    Lacks(String),
    Is(String, String),
    IsNot(String, String),
    Matches {
        key: String,
        pattern: String,
        is_negated: bool,
        ignores_case: bool,
    },
    Compare(String, Comparison, f64),
    /// The length of a way in metres.
    Length(Comparison, f64),
    Ids(Vec<i64>),
    User(String),
    Uid(i64),
    Newer(String),
    Changed(String, Option<String>),
}

/// Elements that fulfil all filters.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ElementGroup {
    pub types: ElementTypes,
    pub filters: Vec<Filter>,
}

/// A place.
#[derive(Debug, Clone, PartialEq)]
pub struct WordsPlace {
    /// The name for `{{geocodeArea:NAME}}`, if that finds this place.
    pub shortcut: Option<String>,
    pub name: String,
    pub element: Option<PlaceElement>,
    /// Whether its element is an area.
    pub is_area: bool,
    pub at: PlacePosition,
    /// Its Wikidata item, such as `Q233`.
    pub item: Option<String>,
}

/// The region of a request.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Scope {
    /// No region in the text.
    #[default]
    Unknown,
    World,
    View,
    In(Vec<WordsPlace>),
    Area(i64),
}

/// The surroundings of a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Near {
    Place(WordsPlace, f64),
    Point(String, String, f64),
    Things(Vec<ElementGroup>, f64),
}

/// A class of Wikidata with its conditions.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ItemRequest {
    /// The class, such as `Q515`.
    pub class: String,
    /// Properties with a comparison.
    pub compare: Vec<(String, Comparison, f64)>,
    /// Properties that must exist (`true`) or be missing.
    pub exists: Vec<(String, bool)>,
}

/// Everything that was understood.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WordsRequest {
    /// The union of these.
    pub groups: Vec<ElementGroup>,
    /// Conditions on all groups.
    pub filters: Vec<Filter>,
    pub types: Option<ElementTypes>,
    pub scope: Scope,
    pub near: Option<Near>,
    pub is_count: bool,
    pub items: Option<ItemRequest>,
}

impl WordsRequest {
    /// Returns the groups with the conditions that apply to all; without groups, the conditions alone.
    pub fn complete_groups(&self) -> Vec<ElementGroup> {
        let mut groups = self.groups.clone();
        if groups.is_empty() && (!self.filters.is_empty() || self.types.is_some()) {
            groups.push(ElementGroup::default());
        }
        for group in &mut groups {
            if let Some(types) = self.types {
                group.types = types;
            }
            group.filters.extend(self.filters.iter().cloned());
        }
        let mut once: Vec<ElementGroup> = Vec::new();
        for group in groups {
            if !once.contains(&group) {
                once.push(group);
            }
        }
        once
    }
}
