//! The canonical form of OverpassQL.
//!
//! A set is represented by the digest of its definition, with the digests of the sets that it reads. Names therefore
//! do not matter, and statements without effect on the output disappear. The form lists the output statements in
//! their order. Loops, conditions and statements that make elements depend on the order of execution: for queries
//! with them, only names, filters and settings are normalised (`renamed`).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use blake3::Hash;
use terrapin_budget as budget;
use terrapin_overpass::convert::{self, ConversionForm};
use terrapin_overpass::syntax::{
    Area, Around, AroundPlace, BinaryOperator, EvaluatorExpression, EvaluatorFunction, ExprKind, Filter, FilterKind,
    FromSet, Ids, IsIn, IsInPlace, Item, Out, Pivot, Query, QueryType, RecurseAll, RecurseFilter, Recursion, Script,
    Statement, StatementKind, Tag, User, UserFilter, WayCount,
};

use super::list::list;
use super::places::expanded;
use crate::metrics::query_tree::QueryTree;

/// The name of the default set.
const DEFAULT: &str = "_";
/// Attributes of the XML form with the name of a set.
const NAMES: [&str; 3] = ["from", "into", "set"];
/// Attributes of the XML form that do not change the elements.
const WITHOUT_EFFECT: [&str; 4] = ["output", "output-config", "timeout", "element-limit"];

/// The maximum number of definitions of a set; a larger union is one definition, so that chains of unions take linear
/// memory and time.
const MOST_PARTS: usize = 256;

/// Reports whether two queries have the same canonical form.
pub fn equal(gold: &str, pred: &str) -> bool {
    canonical(gold).is_some_and(|gold| canonical(pred) == Some(gold))
}

/// Returns the canonical form; `None` if the query cannot be parsed.
pub fn canonical(query: &str) -> Option<String> {
    let text = expanded(query)?;
    let script = terrapin_overpass::parse(&text).ok()?;
    SetValues::default().script(&script).or_else(|| renamed(&text))
}

/// A set: the union of some definitions, each by its digest. The empty one is the empty set.
type SetValue = BTreeSet<[u8; 32]>;

/// The sets of a query at a point of its execution.
#[derive(Default)]
struct SetValues {
    sets: BTreeMap<String, SetValue>,
}

fn single(definition: &str) -> SetValue {
    BTreeSet::from([*blake3::hash(definition.as_bytes()).as_bytes()])
}

fn digest(value: &SetValue) -> String {
    let mut hasher = blake3::Hasher::new();
    for digest in value {
        hasher.update(digest);
    }
    Hash::to_hex(&hasher.finalize()).to_string()
}

impl SetValues {
    /// Returns the form of a script; `None` if it has statements that depend on the order of execution.
    fn script(mut self, script: &Script) -> Option<String> {
        let mut text = format!("{:?} {:?}", script.settings.bbox, script.settings.time);
        for statement in &script.statements {
            match &statement.kind {
                StatementKind::Out(out) => {
                    let Out { from, detail, noids, geometry, bbox, order, limit } = out;
                    let _ = write!(
                        text,
                        "\nout {detail:?} {noids} {geometry:?} {bbox:?} {order:?} {limit:?} {}",
                        digest(&self.read(from))
                    );
                }
                _ => drop(self.statement(statement)?),
            }
        }
        Some(text)
    }

    fn read(&self, name: &str) -> SetValue {
        self.sets.get(name).cloned().unwrap_or_default()
    }

    fn name(&self, set: &str) -> String {
        digest(&self.read(set))
    }

    /// Executes a statement and returns its result.
    fn statement(&mut self, statement: &Statement) -> Option<SetValue> {
        budget::checkpoint();
        let (value, into) = match &statement.kind {
            StatementKind::Query(query) => (self.query(query), &query.into),
            StatementKind::Union(union) => {
                let mut all = SetValue::new();
                for member in &union.members {
                    all.append(&mut self.statement(member)?);
                }
                if all.len() > MOST_PARTS {
                    all = single(&format!("union {}", digest(&all)));
                }
                (all, &union.into)
            }
            StatementKind::Difference(difference) => {
                let [base, rest @ ..] = difference.operands.as_slice() else { return Some(SetValue::new()) };
                let base = self.statement(base)?;
                self.sets.insert(difference.into.clone(), base.clone());
                let mut text = format!("difference {}", digest(&base));
                for minus in rest {
                    let _ = write!(text, " {}", digest(&self.statement(minus)?));
                }
                (single(&text), &difference.into)
            }
            StatementKind::Item(Item { from, into }) => (self.read(from), into),
            StatementKind::Recursion(Recursion { kind, from, into }) => {
                (single(&format!("recursion {kind:?} {}", self.name(from))), into)
            }
            StatementKind::IsIn(IsIn { place, into }) => match place {
                IsInPlace::Set(set) => (single(&format!("is_in {}", self.name(set))), into),
                IsInPlace::Point(point) => (single(&format!("is_in {point:?}")), into),
            },
            StatementKind::MapToArea(map) => (single(&format!("map_to_area {}", self.name(&map.from))), &map.into),
            _ => return None,
        };
        self.sets.insert(into.clone(), value.clone());
        Some(value)
    }

    fn query(&self, Query { what, filters, .. }: &Query) -> SetValue {
        // The result of a query that reads only sets is the empty set or a part of them; that is its definition.
        let mut texts: BTreeSet<String> = filters.iter().map(|filter| self.filter(filter)).collect();
        for filter in filters {
            // `[k]` follows from `[k=v]` and `[k~v]`.
            if let FilterKind::Tag(Tag::Equals { key, .. } | Tag::Matches { key, .. }) = &filter.kind {
                texts.remove(&format!("{:?}", Tag::HasKey { key: key.clone() }));
            }
        }
        let of = |what: QueryType| single(&format!("query {what:?} {}", list(texts.iter().cloned())));
        let types: &[QueryType] = match what {
            QueryType::Nwr => &[QueryType::Node, QueryType::Way, QueryType::Relation],
            QueryType::Nw => &[QueryType::Node, QueryType::Way],
            QueryType::Nr => &[QueryType::Node, QueryType::Relation],
            QueryType::Wr => &[QueryType::Way, QueryType::Relation],
            _ => return of(*what),
        };
        if filters.iter().all(|filter| is_of_one_element(&filter.kind)) {
            types.iter().flat_map(|what| of(*what)).collect()
        } else {
            of(*what)
        }
    }

    fn filter(&self, filter: &Filter) -> String {
        match &filter.kind {
            FilterKind::Tag(tag) => format!("{:?}", plain(tag)),
            FilterKind::Ids(Ids::List(ids)) => format!("ids {:?}", ids.iter().collect::<BTreeSet<_>>()),
            FilterKind::Around(Around { radius, place: AroundPlace::Set(set) }) => {
                format!("around {radius:?} {}", self.name(set))
            }
            FilterKind::Area(Area::Set(set)) => format!("area {}", self.name(set)),
            FilterKind::Pivot(Pivot { set }) => format!("pivot {}", self.name(set)),
            FilterKind::FromSet(FromSet { set }) => format!("set {}", self.name(set)),
            FilterKind::WayCount(WayCount { link, set, lower, upper }) => {
                format!("way count {link} {lower} {upper:?} {}", self.name(set))
            }
            FilterKind::RecurseAll(RecurseAll { kind, set }) => format!("recursion {kind:?} {}", self.name(set)),
            FilterKind::RecurseFilter(RecurseFilter { kind, set, role, positions }) => {
                format!("recursion {kind:?} {role:?} {positions:?} {}", self.name(set))
            }
            FilterKind::User(User { who, touched }) => match who {
                UserFilter::Names(names) => format!("user {touched} {:?}", names.iter().collect::<BTreeSet<_>>()),
                UserFilter::Ids(ids) => format!("user {touched} {:?}", ids.iter().collect::<BTreeSet<_>>()),
            },
            FilterKind::Condition(condition) => format!("if {}", self.expression(&condition.holds)),
            kind @ (FilterKind::Ids(_)
            | FilterKind::Bbox(_)
            | FilterKind::Around(_)
            | FilterKind::Poly(_)
            | FilterKind::Area(_)
            | FilterKind::Newer(_)
            | FilterKind::Changed(_)) => format!("{kind:?}"),
        }
    }

    fn expression(&self, expression: &EvaluatorExpression) -> String {
        match &expression.kind {
            ExprKind::Fixed(text) => format!("{text:?}"),
            ExprKind::Tag(key) => format!("t[{}]", self.expression(key)),
            ExprKind::GenericTag => "::".to_owned(),
            ExprKind::SetKey { set, key } => format!("{}.{key:?}", self.name(set)),
            ExprKind::Call { function, set, args } => {
                let args = list(args.iter().map(|arg| self.expression(arg)));
                let set = match set {
                    Some(set) => self.name(set),
                    None if reads_set(*function) => self.name(DEFAULT),
                    None => String::new(),
                };
                format!("{function:?} {set} {args}")
            }
            ExprKind::Unary { operator, operand } => format!("{operator:?} ({})", self.expression(operand)),
            ExprKind::Binary { operator, left, right } => {
                let mut sides = [self.expression(left), self.expression(right)];
                if let BinaryOperator::And | BinaryOperator::Or | BinaryOperator::Equal | BinaryOperator::NotEqual =
                    operator
                {
                    sides.sort();
                }
                format!("{operator:?} {}", list(sides))
            }
            ExprKind::Ternary { condition, then, otherwise } => {
                let parts = [condition, then, otherwise].map(|part| self.expression(part));
                format!("? {}", list(parts))
            }
        }
    }
}

/// Reports whether a function reads a set.
fn reads_set(function: EvaluatorFunction) -> bool {
    use EvaluatorFunction::{Count, Gcat, Max, Min, Set, Sum, Union, Val};
    matches!(function, Count | Union | Min | Max | Sum | Set | Gcat | Val)
}

/// Reports whether a filter tests each element on its own, so that a query for several types is the union of those for
/// each.
fn is_of_one_element(filter: &FilterKind) -> bool {
    matches!(
        filter,
        FilterKind::Tag(_)
            | FilterKind::Ids(Ids::List(_))
            | FilterKind::Bbox(_)
            | FilterKind::Around(_)
            | FilterKind::Poly(_)
            | FilterKind::Area(_)
            | FilterKind::FromSet(_)
            | FilterKind::User(_)
            | FilterKind::Newer(_)
            | FilterKind::Changed(_)
    )
}

/// Replaces a regular expression that matches one text by the test for equality.
fn plain(tag: &Tag) -> Tag {
    let text = |regex: &terrapin_overpass::syntax::Regex| {
        let inner = regex.pattern.strip_prefix('^')?.strip_suffix('$')?;
        let is_plain = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '_' | '-' | ':');
        (!regex.ignore_case && !inner.is_empty() && inner.chars().all(is_plain)).then(|| inner.to_owned())
    };
    match tag {
        Tag::Matches { key, value } => match text(value) {
            Some(value) => Tag::Equals { key: key.clone(), value },
            None => tag.clone(),
        },
        Tag::NotMatches { key, value } => match text(value) {
            Some(value) => Tag::NotEquals { key: key.clone(), value },
            None => tag.clone(),
        },
        _ => tag.clone(),
    }
}

/// Returns the XML form with sets named by their first occurrence, sorted filters, and without settings of the output.
fn renamed(text: &str) -> Option<String> {
    let converted =
        convert::convert(text, ConversionForm::Xml).ok().filter(|converted| converted.problems.is_none())?;
    let tree = QueryTree::of_xml(&converted.text);
    let mut names = BTreeMap::new();
    let mut form = String::new();
    write_node(&tree, 0, &mut names, &mut form);
    Some(form)
}

fn write_node(tree: &QueryTree, at: usize, names: &mut BTreeMap<String, usize>, form: &mut String) {
    let Some(node) = tree.nodes.get(at) else { return };
    let _ = write!(form, "<{}", node.name);
    let mut attributes: Vec<&(String, String)> = node.attributes.iter().collect();
    attributes.sort();
    for (name, value) in attributes {
        if at == 0 && WITHOUT_EFFECT.contains(&name.as_str()) {
            continue;
        }
        // At the root, `from` is the date of `[diff:]` and `[adiff:]`.
        if at > 0 && NAMES.contains(&name.as_str()) && value != DEFAULT {
            let next = names.len();
            let _ = write!(form, " {name}=#{}", names.entry(value.clone()).or_insert(next));
        } else {
            let _ = write!(form, " {name}={value:?}");
        }
    }
    form.push('>');
    let mut children = node.children.clone();
    if node.name == "query" {
        // By the form without the names of sets, which are not known before.
        children.sort_by_cached_key(|child| nameless(tree, *child));
    }
    children.iter().for_each(|child| write_node(tree, *child, names, form));
    form.push_str("</>");
}

/// Returns the XML form of a node without the names of sets.
fn nameless(tree: &QueryTree, at: usize) -> String {
    let Some(node) = tree.nodes.get(at) else { return String::new() };
    let attributes: Vec<_> = node.attributes.iter().filter(|(name, _)| !NAMES.contains(&name.as_str())).collect();
    let children = list(node.children.iter().map(|child| nameless(tree, *child)));
    format!("{} {attributes:?} {children}", node.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_without_effect_do_not_count() {
        for (one, other) in [
            ("node[a=b](1,2,3,4);out;", "[timeout:9][out:json];node(1,2,3,4)[\"a\"=\"b\"]->.x;.x out;"),
            ("(node[a];way[a];);out;", "(way[a];node[a];)->.all;.all out body;"),
            ("nwr[a](1,2,3,4);out;", "(node(1,2,3,4)[a];way[a](1,2,3,4);rel[a](1,2,3,4););out;"),
            ("(node[a];);out;", "node[a];out;"),
            ("((node[a];way[b];);rel[c];);out;", "(node[a];way[b];rel[c];node[a];);out;"),
            ("area(1)->.a;node[b](area.a);out;", "area(1);node[b](area);out;"),
            ("node[a][a=b];out;", "node[a~\"^b$\"];out;"),
            ("way[a];(._;>;);out;", "way[a]->.w;(.w;.w>;);out;"),
            ("node[a]->.unused;way[b];out;", "way[b];out;"),
            ("node(id:3,1);out;", "node(id:1,3,1);out;"),
            ("node[a](if:t[\"x\"]==1&&id()>2);out;", "node(if:id()>2&&1==t[\"x\"])[a];out;"),
            ("node({{bbox}})[a];out;", "node[a]({{bbox}});out;"),
            ("{{geocodeArea:Rome}}->.x;node[a](area.x);out;", "{{geocodeArea:Rome}};node[a](area);out;"),
            ("node[a]->.x;foreach.x->.y(.y out;);", "node[a]->.b;foreach.b->.c(.c out;);"),
        ] {
            assert!(equal(one, other), "{one}\n{other}\n{:?}\n{:?}", canonical(one), canonical(other));
        }
    }

    #[test]
    fn other_meanings_are_not_equal() {
        for (one, other) in [
            ("node[a=b];out;", "node[a=c];out;"),
            ("node[a];out;", "way[a];out;"),
            ("node[a];out;", "node[a];out center;"),
            ("node[a];way[b];out;", "way[b];node[a];out;"),
            ("node[a];out;way[b];out;", "way[b];out;node[a];out;"),
            ("(node[a];-node[b];);out;", "(node[b];-node[a];);out;"),
            ("(node[a];-node[b];);out;", "(node[a];node[b];);out;"),
            ("{{geocodeArea:Rome}}->.x;node[a](area.x);out;", "{{geocodeArea:Bonn}}->.x;node[a](area.x);out;"),
            ("way[a];>;out;", "way[a];>>;out;"),
            ("node[a~\"^b.$\"];out;", "node[a=\"b.\"];out;"),
            ("node[a~\"^b$\",i];out;", "node[a=b];out;"),
            ("[date:\"2020-01-01T00:00:00Z\"];node[a];out;", "node[a];out;"),
            (
                "[diff:\"2012-09-14T15:00:00Z\"];node[a];foreach(out;);",
                "[diff:\"2015-09-14T15:00:00Z\"];node[a];foreach(out;);",
            ),
            ("node[a]({{bbox}});out;", "node[a](0,0,1,1);out;"),
            ("node[a](newer:\"{{date:1 day}}\");out;", "node[a](newer:\"2019-12-31T00:00:00Z\");out;"),
            ("node[a](if:id()-2>1);out;", "node[a](if:2-id()>1);out;"),
            ("node[a]->.x;foreach.x->.y(.y out;);", "node[a]->.x;foreach.x->.y(.x out;);"),
        ] {
            assert!(!equal(one, other), "{one}\n{other}");
        }
        assert_eq!(canonical("node[a;out;"), None);
    }

    #[test]
    fn large_unions_are_one_definition() {
        let tags = |range: std::ops::Range<usize>| range.map(|n| format!("node[a{n}];")).collect::<Vec<_>>();
        let (mut forward, mut backward) = (tags(0..300), tags(0..300));
        let union = |members: &[String]| format!("({});out;", members.concat());
        backward.reverse();
        assert!(equal(&union(&forward), &union(&backward)));
        forward.pop();
        assert!(!equal(&union(&forward), &union(&backward)));
        // Each union reads the one before.
        let chain: String = (0..5_000).map(|n| format!("(._;node[a{n}];);")).collect();
        let mut sets = SetValues::default();
        for statement in &terrapin_overpass::parse(&chain).unwrap().statements {
            assert!(sets.statement(statement).unwrap().len() <= MOST_PARTS);
        }
    }
}
