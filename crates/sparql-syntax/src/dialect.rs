//! The dialects of SPARQL.

/// A dialect of SPARQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Dialect {
    /// The language that the Wikidata Query Service accepts.
    Wdqs,
    /// The language that QLever accepts (<https://docs.qlever.dev>), with the predeclared prefixes of WDQS.
    Qlever,
    /// SPARQL 1.2 only, without predeclared prefixes.
    Standard,
    /// QLever's for a query with one of its constructs, otherwise that of WDQS: see [`crate::detect`].
    #[default]
    Auto,
}

impl Dialect {
    /// All dialects.
    pub const ALL: [Dialect; 4] = [Dialect::Auto, Dialect::Wdqs, Dialect::Qlever, Dialect::Standard];

    /// Parses the name of a dialect, ignoring case: `auto`, `wdqs`, `qlever` or `standard`.
    pub fn named(name: &str) -> Option<Dialect> {
        Dialect::ALL.into_iter().find(|dialect| dialect.name().eq_ignore_ascii_case(name))
    }

    /// Returns the dialect's name in options and requests.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::Auto => "auto",
            Dialect::Wdqs => "wdqs",
            Dialect::Qlever => "qlever",
            Dialect::Standard => "standard",
        }
    }
}
