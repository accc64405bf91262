//! Defines the parts of statements and filters: settings, boxes, moments, evaluators. With `statement/` and `filter/`,
//! they form the syntax tree of OverpassQL. The tree is already checked for form: numbers are numbers, a box has four
//! sides, a regular expression compiles. It is independent of any data.

mod evaluator;

pub use terrapin_diagnostic::SourceSpan;

pub use evaluator::{BinaryOperator, EvaluatorExpression, EvaluatorFunction, ExprKind, UnaryOperator};

/// `[out:...][timeout:...]...`. The defaults are those of the language.
#[derive(Debug, Clone, PartialEq)]
pub struct QlSettings {
    /// `[timeout:]`, seconds.
    pub timeout: u64,
    /// `[maxsize:]`, bytes.
    pub maxsize: u64,
    /// `[bbox:]`: applies to every query statement without a filter on location.
    pub bbox: Option<QlBoundingBox>,
    /// `[out:]`.
    pub output: OutputFormat,
    /// `[date:]`, `[diff:]`, `[adiff:]`.
    pub time: TimeFrame,
}

impl Default for QlSettings {
    fn default() -> Self {
        QlSettings { timeout: 180, maxsize: 512 << 20, bbox: None, output: OutputFormat::Xml, time: TimeFrame::Now }
    }
}

/// The time at which the data is seen.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum TimeFrame {
    /// The snapshot's current state.
    #[default]
    Now,
    /// `[date:"..."]`.
    Date(Timestamp),
    /// `[diff:"old"]` or `[diff:"old","new"]`; `augmented` for `adiff`.
    Diff {
        /// The older moment.
        from: Timestamp,
        /// The newer moment; `None` for now.
        to: Option<Timestamp>,
        /// Written as `adiff`.
        augmented: bool,
    },
}

/// A moment, in seconds since 1970-01-01T00:00:00Z.
pub type Timestamp = i64;

/// `[out:...]`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum OutputFormat {
    /// `[out:xml]`, the default.
    #[default]
    Xml,
    /// `[out:json]`.
    Json,
    /// `[out:csv(...)]`.
    Csv(CsvSettings),
    /// `[out:custom]`.
    Custom,
    /// `[out:popup(...)]`.
    Popup(Vec<PopupBlock>),
}

/// A block of a popup: a heading and the elements below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PopupBlock {
    /// The heading.
    pub title: String,
    /// An element belongs to the block if it passes at least one of these tests.
    pub tests: Vec<PopupTest>,
    /// The key whose value is used as the name of an element; empty for none.
    pub title_key: String,
}

/// A condition on the tags of an element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PopupTest {
    /// The key.
    pub key: String,
    /// The condition on its value.
    pub value: PopupValue,
    /// Whether the condition is inverted.
    pub negated: bool,
}

/// A condition on the value of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PopupValue {
    /// Any value.
    Any,
    /// Exactly this value.
    Equal(String),
    /// A value that the expression matches.
    Matching(Regex),
}

/// The columns of CSV output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CsvSettings {
    /// The columns in order.
    pub fields: Vec<CsvField>,
    /// Whether the first line names the columns (default true).
    pub header: bool,
    /// The separator between two columns (default: a tab).
    pub separator: String,
}

/// One CSV column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CsvField {
    /// A tag's value.
    Tag(String),
    /// `::id`, `::count:nodes`: the name without the leading colons.
    Special(String),
}

/// A box in 1e-7 degrees, both borders included; `west > east` crosses the antimeridian.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QlBoundingBox {
    /// Southern border.
    pub south: i32,
    /// Western border.
    pub west: i32,
    /// Northern border.
    pub north: i32,
    /// Eastern border.
    pub east: i32,
    /// South, west, north and east in degrees as written. Ways are compared with these.
    pub degrees: [f64; 4],
}

/// A position in 1e-7 degrees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QlPoint {
    /// Latitude.
    pub lat: i32,
    /// Longitude.
    pub lon: i32,
}

/// The name of a set; the default set is `_`.
pub type SetName = String;

/// The direction of a recursion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recurse {
    /// `>`: the ways and nodes that the set refers to, one level of relations.
    Down,
    /// `>>`: down through relations of relations.
    DownRel,
    /// `<`: the ways and relations that refer to the set.
    Up,
    /// `<<`: up through relations of relations.
    UpRel,
}

/// The three element types of OpenStreetMap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum QlElementType {
    Node,
    Way,
    Relation,
}

/// The element types that a query statement finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum QueryType {
    Node,
    Way,
    Relation,
    Nwr,
    Nw,
    Nr,
    Wr,
    Area,
    Derived,
}

/// A POSIX extended regular expression as written; it has been checked to compile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Regex {
    /// The pattern as written (escapes of the QL string resolved).
    pub pattern: String,
    /// `,i`.
    pub ignore_case: bool,
}

/// `key=evaluator` of `make` and `convert`.
#[derive(Debug, Clone, PartialEq)]
pub struct Property {
    /// The part of the element to set.
    pub target: PropertyTarget,
    /// The set whose keys a generic property has, in place of those of the element. Only the XML form can name it.
    pub from: Option<SetName>,
    /// The new value; `None` for `!key`.
    pub value: Option<EvaluatorExpression>,
}

/// The left side of a property.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum PropertyTarget {
    /// `key = ...` or `!key`.
    Tag(String),
    /// `::id = ...`.
    Id,
    /// `::geom = ...`.
    Geometry,
    /// `:: = ...`: every key not named otherwise.
    Generic,
}
