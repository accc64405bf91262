//! Function calls: built-in functions by a table of names and arities, aggregates, and functions named by an IRI.

use oxrdf::NamedNode;

use super::Dialect;
use super::parser::{Extension, QueryParser};
use super::pattern::filtered;
use super::qlever::{looks_outside, without_outside};
use super::token::{SparqlToken, TokenKind};
use super::tree::DepthTree;
use crate::algebra::{AggregateCall, AggregateFunction, Binary, Expression, Function};
use crate::error::{Result, SparqlCode, SparqlError};
use crate::expression::not;
use terrapin_diagnostic::TextEdit;

/// Built-in functions that are plain calls: name, function, minimum and maximum number of arguments.
const FUNCTIONS: [(&str, Function, usize, usize); 61] = [
    ("STR", Function::Str, 1, 1),
    ("LANG", Function::Lang, 1, 1),
    ("LANGMATCHES", Function::LangMatches, 2, 2),
    ("DATATYPE", Function::Datatype, 1, 1),
    ("IRI", Function::Iri, 1, 1),
    ("URI", Function::Iri, 1, 1),
    ("BNODE", Function::BNode, 0, 1),
    ("RAND", Function::Rand, 0, 0),
    ("ABS", Function::Abs, 1, 1),
    ("CEIL", Function::Ceil, 1, 1),
    ("FLOOR", Function::Floor, 1, 1),
    ("ROUND", Function::Round, 1, 1),
    ("CONCAT", Function::Concat, 0, usize::MAX),
    ("SUBSTR", Function::SubStr, 2, 3),
    ("STRLEN", Function::StrLen, 1, 1),
    ("REPLACE", Function::Replace, 3, 4),
    ("UCASE", Function::UCase, 1, 1),
    ("LCASE", Function::LCase, 1, 1),
    ("ENCODE_FOR_URI", Function::EncodeForUri, 1, 1),
    ("CONTAINS", Function::Contains, 2, 2),
    ("STRSTARTS", Function::StrStarts, 2, 2),
    ("STRENDS", Function::StrEnds, 2, 2),
    ("STRBEFORE", Function::StrBefore, 2, 2),
    ("STRAFTER", Function::StrAfter, 2, 2),
    ("YEAR", Function::Year, 1, 1),
    ("MONTH", Function::Month, 1, 1),
    ("DAY", Function::Day, 1, 1),
    ("HOURS", Function::Hours, 1, 1),
    ("MINUTES", Function::Minutes, 1, 1),
    ("SECONDS", Function::Seconds, 1, 1),
    ("TIMEZONE", Function::Timezone, 1, 1),
    ("TZ", Function::Tz, 1, 1),
    ("NOW", Function::Now, 0, 0),
    ("UUID", Function::Uuid, 0, 0),
    ("STRUUID", Function::StrUuid, 0, 0),
    ("MD5", Function::Md5, 1, 1),
    ("SHA1", Function::Sha1, 1, 1),
    ("SHA256", Function::Sha256, 1, 1),
    ("SHA384", Function::Sha384, 1, 1),
    ("SHA512", Function::Sha512, 1, 1),
    ("STRLANG", Function::StrLang, 2, 2),
    ("STRDT", Function::StrDt, 2, 2),
    ("ISIRI", Function::IsIri, 1, 1),
    ("ISURI", Function::IsIri, 1, 1),
    ("ISBLANK", Function::IsBlank, 1, 1),
    ("ISLITERAL", Function::IsLiteral, 1, 1),
    ("ISNUMERIC", Function::IsNumeric, 1, 1),
    ("REGEX", Function::Regex, 2, 3),
    ("ADJUST", Function::Adjust, 2, 2),
    ("LANGDIR", Function::LangDir, 1, 1),
    ("STRLANGDIR", Function::StrLangDir, 3, 3),
    ("HASLANG", Function::HasLang, 1, 1),
    ("HASLANGDIR", Function::HasLangDir, 1, 1),
    ("TRIPLE", Function::Triple, 3, 3),
    ("SUBJECT", Function::Subject, 1, 1),
    ("PREDICATE", Function::Predicate, 1, 1),
    ("OBJECT", Function::Object, 1, 1),
    ("ISTRIPLE", Function::IsTriple, 1, 1),
    // Names of SPARQL functions in other tools.
    ("SUBSTRING", Function::SubStr, 2, 3),
    ("UPPER", Function::UCase, 1, 1),
    ("LOWER", Function::LCase, 1, 1),
];

/// Number of entries at the end of [`FUNCTIONS`] that are not SPARQL names and only lead to advice.
const FOREIGN: usize = 3;

/// Functional forms, which have nodes of their own: name, minimum and maximum number of arguments.
const FORMS: [(&str, usize, usize); 3] = [("COALESCE", 0, usize::MAX), ("IF", 3, 3), ("SAMETERM", 2, 2)];

/// Iterates over the built-in functions and functional forms whose arguments are expressions: name, minimum and maximum
/// number of arguments.
pub(crate) fn builtins() -> impl Iterator<Item = (&'static str, usize, usize)> {
    let functions = FUNCTIONS.iter().take(FUNCTIONS.len() - FOREIGN);
    functions.map(|(name, _, least, most)| (*name, *least, *most)).chain(FORMS)
}

/// Namespace of the XPath functions by which SPARQL defines its own; WDQS accepts some of these names.
const XPATH: &str = "http://www.w3.org/2005/xpath-functions#";
/// XPath names and the equivalent SPARQL names.
const XPATH_NAMES: [(&str, &str); 22] = [
    ("concat", "CONCAT"),
    ("contains", "CONTAINS"),
    ("day-from-dateTime", "DAY"),
    ("encode-for-uri", "ENCODE_FOR_URI"),
    ("ends-with", "STRENDS"),
    ("hours-from-dateTime", "HOURS"),
    ("lower-case", "LCASE"),
    ("minutes-from-dateTime", "MINUTES"),
    ("month-from-dateTime", "MONTH"),
    ("numeric-abs", "ABS"),
    ("numeric-ceil", "CEIL"),
    ("numeric-floor", "FLOOR"),
    ("numeric-round", "ROUND"),
    ("replace", "REPLACE"),
    ("seconds-from-dateTime", "SECONDS"),
    ("starts-with", "STRSTARTS"),
    ("string-length", "STRLEN"),
    ("substring", "SUBSTR"),
    ("substring-after", "STRAFTER"),
    ("substring-before", "STRBEFORE"),
    ("upper-case", "UCASE"),
    ("year-from-dateTime", "YEAR"),
];

/// Namespaces of GeoSPARQL functions: the standard's, and the variant of WDQS.
const GEOSPARQL: [&str; 2] =
    ["http://www.opengis.net/def/function/geosparql/", "http://www.opengis.net/def/geosparql/function/"];
/// The supported GeoSPARQL aggregates.
const OF_GEOMETRIES: [&str; 4] = ["aggBoundingBox", "aggCentroid", "aggConvexHull", "aggUnion"];

const AGGREGATES: [&str; 8] = ["COUNT", "SUM", "MIN", "MAX", "AVG", "SAMPLE", "GROUP_CONCAT", "STDEV"];
/// The name of QLever's aggregate `STDEV`, the standard deviation of a sample.
pub const STANDARD_DEVIATION: &str = "urn:terrapin:aggregate:deviation";

/// Applies an operator to two arguments. Any other number, which the caller has already rejected, is kept in a
/// COALESCE.
fn pair(list: Vec<Expression>, operator: Binary) -> Expression {
    match <[Expression; 2]>::try_from(list) {
        Ok([a, b]) => Expression::binary(operator, a, b),
        Err(list) => Expression::Coalesce(list),
    }
}

/// Applies a form to three arguments, like [`pair`].
fn triple(
    list: Vec<Expression>,
    make: fn(Box<Expression>, Box<Expression>, Box<Expression>) -> Expression,
) -> Expression {
    match <[Expression; 3]>::try_from(list) {
        Ok([a, b, c]) => make(Box::new(a), Box::new(b), Box::new(c)),
        Err(list) => Expression::Coalesce(list),
    }
}

impl QueryParser<'_> {
    /// Parses a built-in call or an aggregate, if one starts here.
    pub fn maybe_builtin(&mut self) -> Result<Option<DepthTree<Expression>>> {
        let token = self.peek();
        if token.kind != TokenKind::Word {
            return Ok(None);
        }
        if self.word("EXISTS") {
            return Ok(Some(self.exists()?));
        }
        if self.is_word("NOT") && self.is_word_at(1, "EXISTS") {
            self.at += 2;
            return Ok(Some(not(self.exists()?)?));
        }
        // These keywords also precede brackets but are not functions.
        let reserved = ["HAVING", "VALUES", "FILTER", "BIND", "AS"].iter().any(|word| self.is_word(word));
        if reserved || self.ahead(1).kind != TokenKind::Mark("(") {
            return Ok(None);
        }
        let name = self.slice(token).to_ascii_uppercase();
        if name == "STDEV" {
            self.extend(token, Extension::StandardDeviation, "the aggregate STDEV is QLever's")?;
        }
        if AGGREGATES.contains(&name.as_str()) {
            self.at += 1;
            let aggregate = self.aggregate(&name)?;
            return Ok(Some(self.add_aggregate(token, aggregate)?.into()));
        }
        self.at += 1;
        if name == "BOUND" {
            self.expect("(")?;
            let variable = self.variable()?;
            self.expect(")")?;
            return Ok(Some(DepthTree::of_part(Expression::Bound(variable))));
        }
        if let Some((name, least, most)) = FORMS.into_iter().find(|(form, ..)| *form == name) {
            return Ok(Some(self.functional_form(token, name, (least, most))?));
        }
        let known = FUNCTIONS.iter().position(|(known, ..)| *known == name);
        let own = known.filter(|i| *i < FUNCTIONS.len() - FOREIGN).and_then(|i| FUNCTIONS.get(i));
        let Some((_, function, least, most)) = own else { return Err(self.unknown_function(token, known)) };
        if *function == Function::Adjust {
            self.extend(token, Extension::Adjust, "the function ADJUST is not part of SPARQL 1.1")?;
        }
        let arguments = self.expression_list()?;
        if arguments.len() < *least || arguments.len() > *most {
            return Err(self.arity(token, *least, *most, arguments.len()));
        }
        Ok(Some(arguments.under(|arguments| Expression::Call(function.clone(), arguments))?))
    }

    /// Parses a functional form, which has a node of its own.
    fn functional_form(
        &mut self,
        token: SparqlToken,
        name: &str,
        (least, most): (usize, usize),
    ) -> Result<DepthTree<Expression>> {
        let arguments = self.expression_list()?;
        let count = arguments.len();
        if count < least || count > most {
            return Err(self.arity(token, least, most, count));
        }
        arguments.under(|arguments| match name {
            "COALESCE" => Expression::Coalesce(arguments),
            "IF" => triple(arguments, Expression::If),
            _ => pair(arguments, Binary::SameTerm),
        })
    }

    fn exists(&mut self) -> Result<DepthTree<Expression>> {
        let token = self.peek();
        let (group, filter) = self.group_and_filter()?;
        let filter = match filter {
            Some(filter) if self.dialect == Dialect::Qlever && looks_outside(&group, &filter) => {
                self.extend(token, Extension::GroupScope, "a FILTER that sees only its group is QLever's")?;
                let mut filter = filter.into_part();
                without_outside(&group, &mut filter);
                Some(DepthTree::of_part(filter))
            }
            filter => filter,
        };
        filtered(group, filter)?.under(|group| Expression::Exists(Box::new(group)))
    }

    fn arity(&self, token: SparqlToken, least: usize, most: usize, found: usize) -> SparqlError {
        let wanted = if least == most { least.to_string() } else { format!("{least} to {most}") };
        let message = format!("{} takes {wanted} arguments, found {found}", self.slice(token));
        self.error_at(token, SparqlCode::Arity, message)
    }

    fn unknown_function(&self, token: SparqlToken, foreign: Option<usize>) -> SparqlError {
        let error =
            self.error_at(token, SparqlCode::UnknownFunction, format!("unknown function {}", self.slice(token)));
        let function = foreign.and_then(|i| FUNCTIONS.get(i)).map(|(_, function, ..)| function);
        let meant = function.and_then(|f| FUNCTIONS.iter().find(|(_, known, ..)| known == f));
        match meant {
            Some((name, ..)) => {
                let edit = TextEdit { start: token.start, end: token.end, text: (*name).to_owned() };
                error.help(format!("did you mean {name}?")).edit(edit)
            }
            None => error,
        }
    }

    fn aggregate(&mut self, name: &str) -> Result<DepthTree<AggregateCall>> {
        if self.is_in_aggregate && self.dialect != Dialect::Wdqs {
            let message = "an aggregate cannot be in the argument of another";
            return Err(self.error_at(self.peek(), SparqlCode::Aggregate, message));
        }
        self.expect("(")?;
        let distinct = self.word("DISTINCT");
        if name == "COUNT" && self.mark("*") {
            self.expect(")")?;
            return Ok(DepthTree::of_part(AggregateCall::CountSolutions { distinct }));
        }
        let around = std::mem::replace(&mut self.is_in_aggregate, true);
        let argument = self.expression()?;
        self.is_in_aggregate = around;
        let function = match name {
            "COUNT" => AggregateFunction::Count,
            "SUM" => AggregateFunction::Sum,
            "MIN" => AggregateFunction::Min,
            "MAX" => AggregateFunction::Max,
            "AVG" => AggregateFunction::Avg,
            "SAMPLE" => AggregateFunction::Sample,
            "STDEV" => AggregateFunction::Custom(NamedNode::new_unchecked(STANDARD_DEVIATION)),
            _ => {
                let mut separator = None;
                let token = self.peek();
                let is_comma = self.mark(",");
                if is_comma {
                    self.extend(token, Extension::SeparatorComma, "a semicolon precedes SEPARATOR")?;
                }
                if is_comma || self.mark(";") {
                    self.expect_word("SEPARATOR")?;
                    self.expect("=")?;
                    separator = Some(self.string()?);
                }
                AggregateFunction::GroupConcat { separator }
            }
        };
        self.expect(")")?;
        argument.under(|argument| AggregateCall::Call { function, argument, distinct })
    }

    /// Returns the variable for an aggregate's value; equal aggregates share one.
    fn add_aggregate(&mut self, token: SparqlToken, aggregate: DepthTree<AggregateCall>) -> Result<oxrdf::Variable> {
        let variable = self.helper();
        let Some(list) = self.aggregates.last_mut() else {
            let message = format!("the aggregate {} is not allowed here", self.slice(token));
            return Err(self
                .error_at(token, SparqlCode::Aggregate, message)
                .help("aggregates are allowed in SELECT, HAVING and ORDER BY"));
        };
        if let Some((known, _)) = list.iter().find(|(_, known)| *known == aggregate) {
            return Ok(known.clone());
        }
        list.push((variable.clone(), aggregate));
        Ok(variable)
    }

    /// Parses the arguments of a function or an aggregate named by an IRI.
    pub fn custom_call(&mut self, token: SparqlToken, name: NamedNode) -> Result<DepthTree<Expression>> {
        let of_geometries = GEOSPARQL.iter().find_map(|space| name.as_str().strip_prefix(space));
        if let Some(local) = of_geometries.filter(|local| OF_GEOMETRIES.contains(local)) {
            let name = NamedNode::new_unchecked(format!("{}{local}", GEOSPARQL[0]));
            self.expect("(")?;
            let distinct = self.word("DISTINCT");
            let argument = self.expression()?;
            self.expect(")")?;
            let function = AggregateFunction::Custom(name);
            let aggregate = argument.under(|argument| AggregateCall::Call { function, argument, distinct })?;
            return Ok(self.add_aggregate(token, aggregate)?.into());
        }
        if self.ahead(1).kind == TokenKind::Word && self.is_word_at(1, "DISTINCT") {
            let message = format!("{} is not an aggregate, so DISTINCT is not allowed", self.slice(token));
            return Err(self.error_at(token, SparqlCode::Aggregate, message));
        }
        let arguments = self.expression_list()?;
        let known = name.as_str().strip_prefix(XPATH).filter(|_| self.dialect != Dialect::Standard);
        let known = known.and_then(|local| XPATH_NAMES.iter().find(|(name, _)| *name == local));
        let own = known.and_then(|(_, name)| FUNCTIONS.iter().find(|(other, ..)| other == name));
        let Some((_, function, least, most)) = own else {
            return arguments.under(|arguments| Expression::Call(Function::Custom(name), arguments));
        };
        if arguments.len() < *least || arguments.len() > *most {
            return Err(self.arity(token, *least, *most, arguments.len()));
        }
        arguments.under(|arguments| Expression::Call(function.clone(), arguments))
    }
}
