//! The codes by which programs identify errors in OverpassQL.

use terrapin_budget::{ExceededLimit, codes};
use terrapin_diagnostic::{Diagnostic, DiagnosticClass, DiagnosticCode};

codes! {
    /// The reason why a query is rejected or was stopped. `terrapin query --json`, `terrapin feedback` and `/feedback`
    /// report its name.
    pub enum OverpassCode {
        // Errors in the text.
        TooLong = "too-long", "The text is longer than what is read.";
        EmptyQuery = "empty-query", "There is no text, or a query statement without a filter.";
        IncompleteQuery = "incomplete-query", "Nothing is wrong with any part, and the whole is no query.";
        BrokenXml = "broken-xml", "The XML is not well-formed, or nested too deep.";
        UnexpectedToken = "unexpected-token", "Another token, or another kind of token, has to stand here.";
        UnexpectedEnd = "unexpected-end", "The text ends within a statement.";
        UnmatchedBracket = "unmatched-bracket", "A bracket closes nothing.";
        UnclosedBracket = "unclosed-bracket", "A bracket is never closed.";
        NestedTooDeep = "nested-too-deep", "Blocks or operators are nested deeper than what is read.";
        // Errors in statements and settings.
        UnknownStatement = "unknown-statement", "A word begins no statement.";
        UnknownParameter = "unknown-parameter", "A word is no parameter of out.";
        UnknownOutputFormat = "unknown-output-format", "The setting out names no format.";
        DiffFormat = "diff-format", "The output format cannot tell what has changed.";
        DifferenceOperands = "difference-operands", "A difference is not of two statements.";
        UnknownElement = "unknown-element", "The language has no element of this name.";
        UnknownAttribute = "unknown-attribute", "The element has no attribute of this name.";
        MisplacedElement = "misplaced-element", "The element cannot stand in the one around it.";
        TextInElement = "text-in-element", "There is text where only elements may be.";
        IncompleteStatement = "incomplete-statement", "The element has too few or too many others in it.";
        SetTwice = "set-twice", "A property is set for the second time.";
        BadValue = "bad-value", "An attribute takes no such value, or not together with another one.";
        NoQlSyntax = "no-ql-syntax", "QL has no syntax for a part of a query in XML.";
        BadTimestamp = "bad-timestamp", "A moment is not written as moments are.";
        // Errors in filters.
        UnknownFilter = "unknown-filter", "There is no filter of this name.";
        IncompleteBox = "incomplete-box", "A box has fewer than four sides.";
        MissingRadius = "missing-radius", "around has no radius.";
        OddCoordinates = "odd-coordinates", "around has a latitude without a longitude.";
        WrongType = "wrong-type", "The recursion gives elements of another type, or takes no restriction.";
        KeyPatternAlone = "key-pattern-alone", "A regular expression for keys has none for values beside it.";
        InvalidRegularExpression = "invalid-regular-expression", "A regular expression is none.";
        Unsupported = "unsupported", "A regular expression refers back to a group, or is too large.";
        // Errors in evaluators.
        MissingEvaluator = "missing-evaluator", "An evaluator has to stand here.";
        WrongEvaluator = "wrong-evaluator", "The evaluator gives another type, or is one too many.";
        UnknownFunction = "unknown-function", "There is no function of this name.";
        WrongArgument = "wrong-argument", "The function takes other arguments.";
        WrongContext = "wrong-context", "What is evaluated has no element or no member here.";
        WrongOperator = "wrong-operator", "The sign is no operator, or not with so many operands.";
        OperatorExpected = "operator-expected", "Two operands have no operator between them.";
        MissingOperand = "missing-operand", "An operator or a filter lacks an operand.";
        UnquotedWord = "unquoted-word", "A word has to stand in quotation marks.";
        UnknownProperty = "unknown-property", "No property begins with :: and has this name.";
        // Errors while the query runs.
        TooDeep = "too-deep", "Statements or evaluators are nested deeper than what is run.";
        TooWeak = "too-weak", "A query statement would go through all elements.";
        DiffInALoop = "diff-in-a-loop", "An out in a loop cannot tell what has changed.";
        Timeout = "timeout", "The time is over.";
        Memory = "memory", "More memory is needed than the query may hold.";
        Work = "work", "More elements have to be looked at than the query may.";
        Cancelled = "cancelled", "The query was stopped: nobody waits for it, or an operator ended it.";
        ClientGone = "client-gone", "Whoever reads the answer has gone.";
        Damaged = "damaged", "The snapshot does not hold what it should.";
        Temporary = "temporary", "Temporary files cannot be written.";
        Internal = "internal", "The query could not be run, by a fault of the program.";
        // Errors outside of a run: of `terrapin query` and of feedback.
        Shortcut = "shortcut", "A shortcut of Overpass Turbo's cannot be replaced.";
        Defect = "defect", "Feedback could not be given, by a fault of the program.";
    }
}

/// An error in OverpassQL: the message and line are the reference's.
pub type OverpassDiagnostic = Diagnostic<OverpassCode>;

impl DiagnosticCode for OverpassCode {
    type Class = DiagnosticClass;

    fn name(self) -> &'static str {
        OverpassCode::name(self)
    }

    fn shared(class: DiagnosticClass) -> DiagnosticClass {
        class
    }
}

impl From<ExceededLimit> for OverpassCode {
    fn from(exceeded: ExceededLimit) -> Self {
        match exceeded {
            ExceededLimit::Cancelled => OverpassCode::Cancelled,
            ExceededLimit::Time(_) => OverpassCode::Timeout,
            ExceededLimit::Work(_) => OverpassCode::Work,
            ExceededLimit::Memory(_) => OverpassCode::Memory,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_the_text_has_the_code_that_the_renderer_knows() {
        assert_eq!(OverpassCode::UnexpectedEnd.name(), terrapin_diagnostic::UNEXPECTED_END);
    }
}
