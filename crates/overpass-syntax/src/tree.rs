//! The syntax tree of OverpassQL. The QL and the XML front ends meet here, and the XML and QL writers leave from
//! here. The tree holds what was written, already checked for form (numbers are numbers, a box has four sides, a
//! regular expression compiles), and knows nothing of any data.

mod evaluator;
mod out;

pub use evaluator::{BinaryOperator, Expr, ExprKind, Function, UnaryOperator};
pub use out::{Detail, Order, Out, OutGeometry};

/// Where something stands in the query text: bytes `start..end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// A whole query.
#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    /// The settings that stand before the first statement.
    pub settings: Settings,
    /// The statements, in order.
    pub statements: Vec<Statement>,
}

/// `[out:...][timeout:...]...`; the defaults are the language's.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// `[timeout:]`, seconds.
    pub timeout: u64,
    /// `[maxsize:]`, bytes.
    pub maxsize: u64,
    /// `[bbox:]`, applies to every query statement that has no place of its own.
    pub bbox: Option<BoundingBox>,
    /// `[out:]`.
    pub output: OutputFormat,
    /// `[date:]`, `[diff:]`, `[adiff:]`.
    pub time: TimeFrame,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { timeout: 180, maxsize: 512 << 20, bbox: None, output: OutputFormat::Xml, time: TimeFrame::Now }
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
        /// The newer moment, else now.
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

/// One block of a popup: a heading and what stands below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PopupBlock {
    /// The heading.
    pub title: String,
    /// What belongs here passes at least one of them.
    pub tests: Vec<PopupTest>,
    /// The key whose value names an element; empty for none.
    pub title_key: String,
}

/// A condition on the tags of an element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PopupTest {
    /// The key.
    pub key: String,
    /// What its value must be.
    pub value: PopupValue,
    /// Whether all others pass instead.
    pub negated: bool,
}

/// What the value of a key must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PopupValue {
    /// Anything.
    Any,
    /// This.
    Equal(String),
    /// Something that the expression is found in.
    Matching(Regex),
}

/// The columns of CSV output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CsvSettings {
    /// The columns in order.
    pub fields: Vec<CsvField>,
    /// Whether the first line names the columns (default true).
    pub header: bool,
    /// What stands between two columns (default a tab).
    pub separator: String,
}

/// One CSV column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CsvField {
    /// A tag's value.
    Tag(String),
    /// `::id`, `::count:nodes`: the name without the colons that lead it.
    Special(String),
}

/// A box in 1e-7 degrees, both borders included; `west > east` crosses the antimeridian.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoundingBox {
    /// Southern border.
    pub south: i32,
    /// Western border.
    pub west: i32,
    /// Northern border.
    pub north: i32,
    /// Eastern border.
    pub east: i32,
    /// South, west, north and east in degrees as they are written: what ways are held against.
    pub degrees: [f64; 4],
}

/// A position in 1e-7 degrees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Point {
    /// Latitude.
    pub lat: i32,
    /// Longitude.
    pub lon: i32,
}

/// The name of a set; the default set is `_`.
pub type SetName = String;

/// One statement.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// Where it stands.
    pub span: Span,
    /// The line (from 1) that the reference names in errors about it.
    pub line: u32,
    /// What it is.
    pub kind: StatementKind,
}

/// A block of statements.
pub type Block = Vec<Statement>;

/// Every statement of the language.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum StatementKind {
    /// `node[...](...)->.into`.
    Query(Query),
    /// `( ...; ...; )->.into`.
    Union { members: Block, into: SetName },
    /// `( base; - minus; )->.into`.
    Difference { base: Box<Statement>, minus: Box<Statement>, into: SetName },
    /// `.from` on its own: in a union it contributes its set.
    Item { from: SetName, into: SetName },
    /// `>`, `>>`, `<`, `<<`.
    Recurse { kind: Recurse, from: SetName, into: SetName },
    /// `is_in`, of a set or of a point.
    IsIn { place: IsInPlace, into: SetName },
    /// `map_to_area`.
    MapToArea { from: SetName, into: SetName },
    /// `foreach.from->.into( body )`.
    Foreach { from: SetName, into: SetName, body: Block },
    /// `for.from->.into(evaluator) { body }`.
    For { from: SetName, into: SetName, key: Expr, body: Block },
    /// `if (condition) { then } else { otherwise }`.
    If { condition: Expr, then: Block, otherwise: Block },
    /// `complete.from->.into(limit) { body }`.
    Complete { from: SetName, into: SetName, limit: u64, body: Block },
    /// `retro(evaluator) { body }`.
    Retro { at: Expr, body: Block },
    /// `compare.from->.into(delta: evaluator) { body }`.
    Compare { from: SetName, into: SetName, delta: Option<Expr>, body: Block },
    /// `timeline(type, id, version)`.
    Timeline { kind: ElementType, id: i64, version: Option<i64>, into: SetName },
    /// `make type key=evaluator,...`.
    Make { from: SetName, into: SetName, type_name: String, properties: Vec<Property> },
    /// `convert type key=evaluator,...`.
    Convert { from: SetName, into: SetName, type_name: String, properties: Vec<Property> },
    /// `.from local detail (bbox)`.
    Local { from: SetName, into: SetName, detail: LocalDetail, bbox: Option<BoundingBox> },
    /// `.from out mode ...`.
    Out(Out),
}

/// `local ll`, `local llb` or plain `local`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs)]
pub enum LocalDetail {
    #[default]
    Full,
    Ll,
    Llb,
}

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

/// What `is_in` starts from.
#[derive(Debug, Clone, PartialEq)]
pub enum IsInPlace {
    /// The nodes of a set.
    Set(SetName),
    /// `is_in(lat,lon)`.
    Point(Point),
}

/// The three kinds of element of OpenStreetMap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum ElementType {
    Node,
    Way,
    Relation,
}

/// What a query statement looks for.
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

/// A query statement: a type and the filters that all must hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// The type.
    pub what: QueryType,
    /// The filters, as written.
    pub filters: Vec<Filter>,
    /// Where the result goes.
    pub into: SetName,
}

/// One filter of a query statement.
#[derive(Debug, Clone, PartialEq)]
pub struct Filter {
    /// Where it stands.
    pub span: Span,
    /// What it is.
    pub kind: FilterKind,
}

/// Every filter of the language.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum FilterKind {
    /// `[key]`.
    HasKey { key: String },
    /// `[!key]`.
    NotKey { key: String },
    /// `[key=value]`.
    Equals { key: String, value: String },
    /// `[key!=value]`: also true where the key is absent.
    NotEquals { key: String, value: String },
    /// `[key~value]`, `[key~value,i]`.
    Matches { key: String, value: Regex },
    /// `[key!~value]`: also true where the key is absent.
    NotMatches { key: String, value: Regex },
    /// `[~key~value]`.
    KeyMatches { key: Regex, value: Regex },
    /// `[~key!~value]`: a key matches and no such key's value does.
    KeyNotMatches { key: Regex, value: Regex },
    /// `(12,13)`, `(id:12)`.
    Ids(Vec<i64>),
    /// `<id-query lower upper>`, both included; the QL form has no word for it.
    IdRange { lower: u64, upper: u64 },
    /// `(s,w,n,e)`.
    Bbox(BoundingBox),
    /// `(around.set:radius)`, radius in metres.
    AroundSet { set: SetName, radius: f64 },
    /// `(around:radius,lat,lon,...)`: a point, or a line of several.
    AroundPoints { radius: f64, points: Vec<Point> },
    /// `(poly:"lat lon ...")`.
    Poly(Vec<Point>),
    /// `(area.set)`.
    AreaSet(SetName),
    /// `(area:id)`.
    AreaId(i64),
    /// `(pivot.set)`.
    Pivot(SetName),
    /// `.set`: what is in that set too.
    Set(SetName),
    /// `(w.set)`, `(r.set:"role")`, `(bn)`, `(w:1,-1)`, ...
    Recurse(RecurseFilter),
    /// `<recurse type="down">` in a query; the QL form has no word for it.
    RecurseAll { kind: Recurse, set: SetName },
    /// `(way_cnt:2-)`, `(way_link:3-5)`.
    WayCount { link: bool, set: SetName, lower: u64, upper: Option<u64> },
    /// `(user:"a","b")`; `touched` for `user_touched`.
    User { names: Vec<String>, touched: bool },
    /// `(uid:1,2)`; `touched` for `uid_touched`.
    Uid { uids: Vec<i64>, touched: bool },
    /// `(newer:"...")`.
    Newer(Timestamp),
    /// `(changed)`, `(changed:"a")`, `(changed:"a","b")`.
    Changed { since: Option<Timestamp>, until: Option<Timestamp> },
    /// `(if:...)`.
    If(Expr),
}

/// The recursion filters.
#[derive(Debug, Clone, PartialEq)]
pub struct RecurseFilter {
    /// Which relationship.
    pub kind: RecurseFilterKind,
    /// The set at its other end.
    pub set: SetName,
    /// `:"role"`; the empty role is a role.
    pub role: Option<String>,
    /// `:1,2,-1`: positions of the nodes in the way, from 1, or from -1 backwards.
    pub positions: Vec<i64>,
}

/// Which relationship a recursion filter follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecurseFilterKind {
    /// `(w)`: nodes of the ways in the set.
    W,
    /// `(r)`: members of the relations in the set.
    R,
    /// `(bn)`: what has a node of the set.
    Bn,
    /// `(bw)`: relations with a way of the set.
    Bw,
    /// `(br)`: relations with a relation of the set.
    Br,
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
    /// What is set.
    pub target: PropertyTarget,
    /// To what; `None` for `!key`.
    pub value: Option<Expr>,
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
