//! Defines the filters of queries, one module each: its part of the tree, its word and attributes, and how it is
//! parsed, checked and written. To add a filter, add a module and its lines in this file. Apart from the code that runs
//! the filter, no other file lists it.

mod area;
mod around;
mod bbox;
mod brackets;
mod changed;
mod clause;
mod from_set;
mod ids;
mod if_;
mod newer;
mod pivot;
mod poly;
mod recurse;
mod recurse_all;
mod restrictions;
mod tag;
mod user;
mod way_count;

pub use area::Area;
pub use around::{Around, AroundPlace};
pub use bbox::Bbox;
pub use changed::Changed;
pub use from_set::FromSet;
pub use ids::Ids;
pub use if_::Condition;
pub use newer::Newer;
pub use pivot::Pivot;
pub use poly::Poly;
pub use recurse::{RecurseFilter, RecurseFilterKind};
pub use recurse_all::RecurseAll;
pub use tag::Tag;
pub use user::{User, UserFilter};
pub use way_count::WayCount;

pub(crate) use brackets::Brackets;
pub(crate) use from_set::{element as set_element, read_set};
pub(crate) use restrictions::restrictions;
pub(crate) use tag::read_tag;

use std::sync::LazyLock;

use clause::Clause;

use crate::code::OverpassCode;
use crate::element::SyntaxElement;
use crate::names::SyntaxNames;
use crate::parse::QlParser;
use crate::tree::{EvaluatorExpression, QueryType, SetName, SourceSpan};
use crate::{Alone, ElementMeaning, ElementSyntax, ElementTreeNode};

/// Generates the enum of filters and the table of their syntax.
macro_rules! filters {
    ($($(#[$doc:meta])* $module:ident::$name:ident,)*) => {
        /// A filter of the language.
        #[derive(Debug, Clone, PartialEq)]
        pub enum FilterKind {
            $($(#[$doc])* $name($name),)*
        }

        $(impl From<$name> for FilterKind {
            fn from(filter: $name) -> Self {
                FilterKind::$name(filter)
            }
        })*

        impl FilterKind {
            /// Returns the name of the filter's element in the XML form.
            pub(crate) fn element(&self) -> &'static str {
                match self {
                    $(FilterKind::$name(_) => $module::SYNTAX.form.name,)*
                }
            }

            fn facts(&self) -> &dyn FilterProperties {
                match self {
                    $(FilterKind::$name(filter) => filter,)*
                }
            }

            fn facts_mut(&mut self) -> &mut dyn FilterProperties {
                match self {
                    $(FilterKind::$name(filter) => filter,)*
                }
            }
        }

        /// All filters, in the order in which elements of the same name are tried.
        static ALL: &[FilterGrammar] = &[$($module::SYNTAX,)*];
    };
}

filters! {
    /// `[key]`, `[key=value]`, ...
    tag::Tag,
    /// `(12,13)`, `(id:12)`.
    ids::Ids,
    /// `(s,w,n,e)`.
    bbox::Bbox,
    /// `(around.set:radius)`, `(around:radius,lat,lon,...)`.
    around::Around,
    /// `(poly:"lat lon ...")`.
    poly::Poly,
    /// `(area.set)`, `(area:id)`.
    area::Area,
    /// `(pivot.set)`.
    pivot::Pivot,
    /// `.set`.
    from_set::FromSet,
    /// `(way_cnt:2-)`, `(way_link:3-5)`.
    way_count::WayCount,
    /// `<recurse type="down">` in a query.
    recurse_all::RecurseAll,
    /// `(w.set)`, `(r.set:"role")`, `(bn)`, `(w:1,-1)`, ...
    recurse::RecurseFilter,
    /// `(user:"a","b")`, `(uid:1,2)`.
    user::User,
    /// `(newer:"...")`.
    newer::Newer,
    /// `(changed:"a","b")`.
    changed::Changed,
    /// `(if:...)`.
    if_::Condition,
}

/// One filter of a query statement.
#[derive(Debug, Clone, PartialEq)]
pub struct Filter {
    /// The position in the text.
    pub span: SourceSpan,
    /// The kind of filter, with its contents.
    pub kind: FilterKind,
}

/// The syntax of a kind of filter.
struct FilterGrammar {
    /// The element in the XML form.
    form: ElementSyntax,
    /// The words in round brackets.
    words: &'static [&'static str],
    /// Converts the contents of the brackets to an element.
    read: for<'a> fn(&mut QlParser<'a>, &Clause<'_, 'a>) -> Option<ElementTreeNode>,
    /// Writes the filter in QL with its brackets. Returns `None` if the element belongs to another filter of the same
    /// name.
    text: fn(&ElementTreeNode) -> Option<String>,
    /// Returns the first word of a query that consists of only this filter.
    query_word: fn(&SyntaxElement) -> Option<&'static str>,
    /// Whether the reference's converter moves the filter before the others.
    leads: bool,
    /// Returns whether the element alone is equivalent to a query of this type with only this filter.
    replaces: fn(&SyntaxElement, &str) -> bool,
    /// Whether the reference's converter keeps the query's result set if this is the only filter.
    keeps_into: bool,
}

impl FilterGrammar {
    /// The defaults of most filters.
    const NONE: FilterGrammar = FilterGrammar {
        form: ElementSyntax::NONE,
        words: &[],
        read: |_, _| None,
        text: |_| None,
        query_word: |_| None,
        leads: false,
        replaces: |_, _| false,
        keeps_into: true,
    };
}

/// Properties of a filter.
trait FilterProperties {
    /// Returns the set that the filter reads.
    fn set(&self) -> Option<&SetName> {
        None
    }

    /// Returns the expression that the filter evaluates.
    fn expression(&self) -> Option<&EvaluatorExpression> {
        None
    }

    /// Returns whether the filter uses areas.
    fn asks_for_areas(&self) -> bool {
        false
    }

    /// Returns whether areas made from relations can pass.
    fn can_find_areas(&self) -> bool {
        true
    }

    /// Returns whether the reference turns a query of this type with only this filter into a separate statement.
    fn stands_alone(&self, _what: QueryType) -> bool {
        false
    }

    /// Checks the filter after all its children are known. Returns an error if it is incomplete.
    fn incomplete(&self, _children: &[ElementTreeNode]) -> Option<(OverpassCode, String)> {
        None
    }

    /// Adds the children to the tree. Returns `None` if one is missing.
    fn fill(&mut self, _children: Vec<ElementTreeNode>) -> Option<()> {
        Some(())
    }
}

impl FilterKind {
    /// Returns the set that the filter reads.
    pub fn set(&self) -> Option<&SetName> {
        self.facts().set()
    }

    /// Returns the expression that the filter evaluates.
    pub fn expression(&self) -> Option<&EvaluatorExpression> {
        self.facts().expression()
    }

    /// Returns whether the filter uses areas.
    pub fn asks_for_areas(&self) -> bool {
        self.facts().asks_for_areas()
    }

    /// Returns whether areas made from relations can pass.
    pub fn can_find_areas(&self) -> bool {
        self.facts().can_find_areas()
    }

    /// Returns whether the reference turns a query of this type with only this filter into a separate statement.
    pub fn stands_alone(&self, what: QueryType) -> bool {
        self.facts().stands_alone(what)
    }

    /// Checks the filter after all its children are known. Returns an error if it is incomplete.
    pub(crate) fn incomplete(&self, children: &[ElementTreeNode]) -> Option<(OverpassCode, String)> {
        self.facts().incomplete(children)
    }

    /// Adds the children to the tree. Returns `None` if one is missing.
    pub(crate) fn fill(&mut self, children: Vec<ElementTreeNode>) -> Option<()> {
        self.facts_mut().fill(children)
    }
}

/// Iterates over the elements of all filters.
pub(crate) fn forms() -> impl Iterator<Item = &'static ElementSyntax> {
    ALL.iter().map(|syntax| &syntax.form)
}

/// Returns the filter with a word.
fn syntax_of(word: &str) -> Option<&'static FilterGrammar> {
    static NAMES: LazyLock<SyntaxNames<FilterGrammar>> = LazyLock::new(|| {
        SyntaxNames::of(ALL.iter().flat_map(|syntax| syntax.words.iter().map(move |word| (*word, syntax))))
    });
    NAMES.first(word)
}

/// Iterates over the words of all filters.
pub(crate) fn words() -> impl Iterator<Item = &'static str> {
    ALL.iter().flat_map(|syntax| syntax.words).copied().chain(["bbox"])
}

/// Iterates over the filters with an element's name.
fn named(element: &SyntaxElement) -> impl Iterator<Item = &'static FilterGrammar> {
    static NAMES: LazyLock<SyntaxNames<FilterGrammar>> =
        LazyLock::new(|| SyntaxNames::of(ALL.iter().map(|syntax| (syntax.form.name, syntax))));
    NAMES.all(&element.name).iter().copied()
}

/// Returns the first word of a query that consists of a single filter.
pub(crate) fn query_word(element: &SyntaxElement) -> Option<&'static str> {
    named(element).find_map(|syntax| (syntax.query_word)(element))
}

/// Returns a filter in QL, with its brackets.
pub(crate) fn text(node: &ElementTreeNode) -> String {
    named(&node.element).find_map(|syntax| (syntax.text)(node)).unwrap_or_default()
}

impl ElementTreeNode {
    /// Iterates over the filters of a query in the order in which they are written.
    pub fn sorted_filters(&self) -> impl Iterator<Item = &ElementTreeNode> {
        let first = self.children.iter().filter(|node| node.leads());
        first.chain(self.children.iter().filter(|node| !node.leads()))
    }

    /// Returns the filter of a query with only one, unless it is a condition on tags or on a set.
    pub fn single_filter(&self) -> Option<&ElementTreeNode> {
        match self.children.as_slice() {
            [only] if !only.leads() => Some(only),
            _ => None,
        }
    }

    /// Returns whether it is a condition on tags or on a set. These come before the other filters of a query.
    pub fn leads(&self) -> bool {
        named(&self.element).any(|syntax| syntax.leads)
    }

    /// Returns whether the query's result set is kept if this is the only filter.
    pub fn keeps_into(&self) -> bool {
        !self.leads() && named(&self.element).all(|syntax| syntax.keeps_into)
    }

    /// Returns whether a filter in the place of a statement finds elements of a type. An unchecked filter always does.
    pub fn finds(&self, what: Option<QueryType>) -> bool {
        match &self.part {
            ElementMeaning::Filter { alone: Alone::Query(own), .. } => Some(*own) == what,
            _ => true,
        }
    }

    /// Sets the result set of a filter in the place of a statement.
    pub fn give_result(&mut self, set: SetName) {
        if set != "_" {
            self.element.attributes.push(("into".into(), set.clone()));
        }
        if let ElementMeaning::Filter { into, .. } = &mut self.part {
            *into = set;
        }
    }

    /// Returns whether the filter alone is equivalent to a query of a type with only this filter.
    pub fn replaces_query(&self, what: &str) -> bool {
        named(&self.element).any(|syntax| (syntax.replaces)(&self.element, what))
    }
}
