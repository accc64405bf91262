//! Machine-readable codes of SPARQL errors.

use terrapin_budget::{Exceeded, codes};

codes! {
    /// The reason why a query was rejected or aborted. `terrapin query --lang sparql --json` prints its name.
    pub enum Code {
        // Codes of syntax errors.
        TooLong = "too-long", "The text, a group or a chain of operators is longer than what is read.";
        TooDeep = "too-deep", "The query is nested deeper than what is read.";
        TooLarge = "too-large", "More builds on each other than what is run, or there are too many variables or steps.";
        Syntax = "syntax", "Something else has to stand here.";
        BadToken = "bad-token", "The signs here are no token.";
        BadEscape = "bad-escape", "A string has an escape that SPARQL does not know.";
        BadIri = "bad-iri", "An IRI is none, or relative without a base.";
        LanguageTag = "language-tag", "A language tag is none.";
        UnknownPrefix = "unknown-prefix", "A prefix is not declared.";
        BlankNode = "blank-node", "A blank node is used in two groups.";
        Values = "values", "A row of VALUES has more or fewer values than there are variables.";
        NamedSubquery = "named-subquery", "A named subquery is not defined, defined twice, or includes itself.";
        Arity = "arity", "A function takes more or fewer arguments.";
        Aggregate = "aggregate", "An aggregate, or what only aggregates take, cannot stand here.";
        Pattern = "pattern", "A regular expression or its replacement is wrong, not supported, or takes too many steps.";
        // Codes of queries that a snapshot cannot answer.
        UnknownFunction = "unknown-function", "There is no function of this name.";
        UnknownService = "unknown-service", "Wikidata's query service has no service of this name.";
        LiveService = "live-service", "A service would need the live web.";
        ServiceParameter = "service-parameter", "A service lacks a parameter, or takes no such value for one.";
        // Codes of failed executions.
        Timeout = "timeout", "The time is over.";
        Memory = "memory", "More memory is needed than the query may hold.";
        Work = "work", "More triples have to be looked at than the query may.";
        Rows = "rows", "The answer has more rows than it may have.";
        Cancelled = "cancelled", "The query was stopped: nobody waits for it, or an operator ended it.";
        Format = "format", "The answer has a term that its format cannot represent: choose another format.";
        Output = "output", "The answer cannot be written: mostly, whoever reads it has gone.";
        Snapshot = "snapshot", "The snapshot does not hold what it should.";
        Relation = "relation", "Triples that are computed for the query could not be read.";
        Evaluation = "evaluation", "The evaluator failed.";
        Panic = "panic", "The query could not be run, by a fault of the program.";
        Explain = "explain", "The plan could not be written.";
    }
}

impl From<Exceeded> for Code {
    fn from(exceeded: Exceeded) -> Self {
        match exceeded {
            Exceeded::Cancelled => Code::Cancelled,
            Exceeded::Time(_) => Code::Timeout,
            Exceeded::Work(_) => Code::Work,
            Exceeded::Memory(_) => Code::Memory,
        }
    }
}
