//! Machine-readable codes of SPARQL errors.

use terrapin_budget::{ExceededLimit, codes};

codes! {
    /// The reason why a query was rejected or aborted. `terrapin query --lang sparql --json` prints its name.
    pub enum SparqlCode {
        // Codes of syntax errors.
        TooLong = "too-long", "The query, a group or a chain of operators is longer than its limit.";
        TooDeep = "too-deep", "The query is nested deeper than the limit.";
        TooLarge = "too-large", "The query has too many variables, path steps, or patterns that build on each other.";
        Syntax = "syntax", "A syntax error: another token is expected here.";
        BadToken = "bad-token", "These characters do not form a token.";
        BadEscape = "bad-escape", "A string has an unknown escape sequence.";
        BadIri = "bad-iri", "An IRI is invalid, or relative without a base.";
        LanguageTag = "language-tag", "A language tag is invalid.";
        UnknownPrefix = "unknown-prefix", "A prefix is not declared.";
        BlankNode = "blank-node", "A blank node is used in two groups.";
        Values = "values", "A row of VALUES has more or fewer values than there are variables.";
        NamedSubquery = "named-subquery", "A named subquery is not defined, defined twice, or includes itself.";
        Arity = "arity", "A function is called with the wrong number of arguments.";
        Aggregate = "aggregate", "An aggregate, or DISTINCT in a call, is not allowed here.";
        Pattern = "pattern", "A regular expression or its replacement is wrong, not supported, or takes too many steps.";
        // Codes of queries that a snapshot cannot answer.
        UnknownFunction = "unknown-function", "The function does not exist.";
        UnknownService = "unknown-service", "The service does not exist.";
        LiveService = "live-service", "A service needs access to the live web.";
        Untranslatable = "untranslatable", "A construct has no equivalent in the dialect to translate to.";
        ServiceParameter = "service-parameter", "A service lacks a parameter, or a parameter has an invalid value.";
        // Codes of failed executions.
        Timeout = "timeout", "The query reached its timeout.";
        Memory = "memory", "The query reached its memory limit.";
        Work = "work", "The query reached its limit of work (triples read).";
        Rows = "rows", "The answer reached the limit of rows.";
        Cancelled = "cancelled", "The query was stopped: its client disconnected, or an operator cancelled it.";
        Format = "format", "The answer has a term that its format cannot represent: choose another format.";
        Output = "output", "The answer cannot be written, usually because the client disconnected.";
        Snapshot = "snapshot", "The snapshot is damaged.";
        Relation = "relation", "Computed triples could not be read.";
        Evaluation = "evaluation", "The evaluator failed.";
        Panic = "panic", "The query failed because of a bug in the program.";
        Explain = "explain", "The plan could not be written.";
    }
}

impl From<ExceededLimit> for SparqlCode {
    fn from(exceeded: ExceededLimit) -> Self {
        match exceeded {
            ExceededLimit::Cancelled => SparqlCode::Cancelled,
            ExceededLimit::Time(_) => SparqlCode::Timeout,
            ExceededLimit::Work(_) => SparqlCode::Work,
            ExceededLimit::Memory(_) => SparqlCode::Memory,
        }
    }
}
