//! The filters of queries, a file each: its part of the tree, its word and attributes, how it is read, checked and
//! written, and what others ask of it. A new one is a file here and its lines in this one; nothing else names it but what
//! runs it.

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
pub use user::{User, Users};
pub use way_count::WayCount;

pub(crate) use brackets::Brackets;
pub(crate) use from_set::{element as set_element, read_set};
pub(crate) use restrictions::restrictions;
pub(crate) use tag::read_tag;

use std::sync::LazyLock;

use clause::Clause;

use crate::code::Code;
use crate::element::Element;
use crate::names::Names;
use crate::parse::Parser;
use crate::tree::{Expr, QueryType, SetName, Span};
use crate::{Alone, Form, Node, Part};

/// Makes the tree's kinds of filter and the table of what there is to know of them.
macro_rules! filters {
    ($($(#[$doc:meta])* $module:ident::$name:ident,)*) => {
        /// Every filter of the language.
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
            /// The name of its element in the XML form.
            pub(crate) fn element(&self) -> &'static str {
                match self {
                    $(FilterKind::$name(_) => $module::SYNTAX.form.name,)*
                }
            }

            fn facts(&self) -> &dyn Facts {
                match self {
                    $(FilterKind::$name(filter) => filter,)*
                }
            }

            fn facts_mut(&mut self) -> &mut dyn Facts {
                match self {
                    $(FilterKind::$name(filter) => filter,)*
                }
            }
        }

        /// All filters, in the order in which elements of the same name are tried.
        static ALL: &[Syntax] = &[$($module::SYNTAX,)*];
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
    /// Where it stands.
    pub span: Span,
    /// What it is.
    pub kind: FilterKind,
}

/// What there is to know of a filter before there is one.
struct Syntax {
    /// Its element in the XML form.
    form: Form,
    /// Its words in round brackets.
    words: &'static [&'static str],
    /// Makes an element of what is in the brackets.
    read: for<'a> fn(&mut Parser<'a>, &Clause<'_, 'a>) -> Option<Node>,
    /// Writes it in QL with its brackets; nothing if it is not the one of its name that this tells of.
    text: fn(&Node) -> Option<String>,
    /// The word with which a query begins that is this filter alone.
    query_word: fn(&Element) -> Option<&'static str>,
    /// Whether the reference's converter puts it before other filters.
    leads: bool,
    /// Whether the element means, by itself, the same as a query of this type that has it only.
    replaces: fn(&Element, &str) -> bool,
    /// Whether the reference's converter keeps the set that its query fills, where it is alone.
    keeps_into: bool,
}

impl Syntax {
    /// What most filters have.
    const NONE: Syntax = Syntax {
        form: Form::NONE,
        words: &[],
        read: |_, _| None,
        text: |_| None,
        query_word: |_| None,
        leads: false,
        replaces: |_, _| false,
        keeps_into: true,
    };
}

/// What every filter says of itself.
trait Facts {
    /// The set that it reads.
    fn set(&self) -> Option<&SetName> {
        None
    }

    /// The expression that it evaluates.
    fn expression(&self) -> Option<&Expr> {
        None
    }

    /// Whether it asks for areas.
    fn asks_for_areas(&self) -> bool {
        false
    }

    /// Whether areas that are made from relations can pass.
    fn can_find_areas(&self) -> bool {
        true
    }

    /// Whether the reference makes a statement of its own of it, where it is the only filter in a query of this type.
    fn stands_alone(&self, _what: QueryType) -> bool {
        false
    }

    /// What is wrong with it when all that is in it is known, if there is anything.
    fn incomplete(&self, _children: &[Node]) -> Option<(Code, String)> {
        None
    }

    /// Puts into the tree what stands in it. Nothing if something is missing.
    fn fill(&mut self, _children: Vec<Node>) -> Option<()> {
        Some(())
    }
}

impl FilterKind {
    /// The set that it reads.
    pub fn set(&self) -> Option<&SetName> {
        self.facts().set()
    }

    /// The expression that it evaluates.
    pub fn expression(&self) -> Option<&Expr> {
        self.facts().expression()
    }

    /// Whether it asks for areas.
    pub fn asks_for_areas(&self) -> bool {
        self.facts().asks_for_areas()
    }

    /// Whether areas that are made from relations can pass.
    pub fn can_find_areas(&self) -> bool {
        self.facts().can_find_areas()
    }

    /// Whether the reference makes a statement of its own of it, where it is the only filter in a query of this type.
    pub fn stands_alone(&self, what: QueryType) -> bool {
        self.facts().stands_alone(what)
    }

    /// What is wrong with it when all that is in it is known, if there is anything.
    pub(crate) fn incomplete(&self, children: &[Node]) -> Option<(Code, String)> {
        self.facts().incomplete(children)
    }

    /// Puts into the tree what stands in it. Nothing if something is missing.
    pub(crate) fn fill(&mut self, children: Vec<Node>) -> Option<()> {
        self.facts_mut().fill(children)
    }
}

/// The elements of all filters.
pub(crate) fn forms() -> impl Iterator<Item = &'static Form> {
    ALL.iter().map(|syntax| &syntax.form)
}

/// The filter of a word.
fn syntax_of(word: &str) -> Option<&'static Syntax> {
    static NAMES: LazyLock<Names<Syntax>> =
        LazyLock::new(|| Names::of(ALL.iter().flat_map(|syntax| syntax.words.iter().map(move |word| (*word, syntax)))));
    NAMES.first(word)
}

/// The words of all filters.
pub(crate) fn words() -> impl Iterator<Item = &'static str> {
    ALL.iter().flat_map(|syntax| syntax.words).copied().chain(["bbox"])
}

/// The filters of an element's name.
fn named(element: &Element) -> impl Iterator<Item = &'static Syntax> {
    static NAMES: LazyLock<Names<Syntax>> =
        LazyLock::new(|| Names::of(ALL.iter().map(|syntax| (syntax.form.name, syntax))));
    NAMES.all(&element.name).iter().copied()
}

/// The word with which a query begins that is a single filter.
pub(crate) fn query_word(element: &Element) -> Option<&'static str> {
    named(element).find_map(|syntax| (syntax.query_word)(element))
}

/// A filter in QL, with its brackets.
pub(crate) fn text(node: &Node) -> String {
    named(&node.element).find_map(|syntax| (syntax.text)(node)).unwrap_or_default()
}

impl Node {
    /// The filters of a query in the order in which they are written.
    pub fn sorted_filters(&self) -> impl Iterator<Item = &Node> {
        let first = self.children.iter().filter(|node| node.leads());
        first.chain(self.children.iter().filter(|node| !node.leads()))
    }

    /// The filter of a query that has only one, if it is not a condition on tags or on a set.
    pub fn single_filter(&self) -> Option<&Node> {
        match self.children.as_slice() {
            [only] if !only.leads() => Some(only),
            _ => None,
        }
    }

    /// Whether it is a condition on tags or on a set: these come before the other filters of a query.
    fn leads(&self) -> bool {
        named(&self.element).any(|syntax| syntax.leads)
    }

    /// Whether a filter keeps the name of the set that its query fills, if it is the only one.
    pub fn keeps_into(&self) -> bool {
        !self.leads() && named(&self.element).all(|syntax| syntax.keeps_into)
    }

    /// Whether a filter that stands alone finds what a query for a type would; what is not checked is taken to.
    pub fn finds(&self, what: Option<QueryType>) -> bool {
        match &self.part {
            Part::Filter { alone: Alone::Query(own), .. } => Some(*own) == what,
            _ => true,
        }
    }

    /// Makes a filter that stands alone fill a set.
    pub fn give_result(&mut self, set: SetName) {
        if set != "_" {
            self.element.attributes.push(("into".into(), set.clone()));
        }
        if let Part::Filter { into, .. } = &mut self.part {
            *into = set;
        }
    }

    /// Whether a filter is a statement that means the same as a query of a type in which it is the only one.
    pub fn replaces_query(&self, what: &str) -> bool {
        named(&self.element).any(|syntax| (syntax.replaces)(&self.element, what))
    }
}
