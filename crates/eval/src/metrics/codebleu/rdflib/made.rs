//! The parse actions of rdflib: terms from tokens, and triples from their short forms.

use super::blank::Blanks;
use super::stop::ParseStop;
use super::value::{AstValue, float};

const RDF: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";

fn rdf(name: &str) -> AstValue {
    AstValue::iri(&format!("{RDF}{name}"))
}

/// Runs the action `name` on tokens.
pub fn make(blanks: &mut Blanks<'_>, name: &str, tokens: Vec<AstValue>) -> Result<Vec<AstValue>, ParseStop> {
    Ok(match name {
        "true" | "false" => vec![AstValue::typed(name, "boolean")],
        "nil" => vec![rdf("nil")],
        "type" => vec![rdf("type")],
        "blank" => vec![blanks.next()],
        "notin" => vec![AstValue::Text("NOT IN".to_owned())],
        "negated" => vec![negated(tokens)?],
        "triples" => triples(tokens)?,
        "properties" => {
            // The tokens within brackets form one group.
            let Some(AstValue::List(inner)) = tokens.into_iter().next().map(AstValue::listed) else {
                return Err(ParseStop::Unfit);
            };
            let subject = blanks.next();
            vec![AstValue::List(triples(std::iter::once(subject).chain(inner).collect())?)]
        }
        "collection" => vec![AstValue::List(collection(blanks, tokens)?)],
        _ => tokens,
    })
}

/// Negates a number. rdflib fails to negate a decimal and rejects the query.
fn negated(tokens: Vec<AstValue>) -> Result<AstValue, ParseStop> {
    let Some(AstValue::Term { shown, text }) = tokens.into_iter().next() else { return Err(ParseStop::Unfit) };
    if shown.contains("#integer'") {
        return Ok(AstValue::typed(&if text == "0" { text } else { format!("-{text}") }, "integer"));
    }
    match text.parse::<f64>() {
        Ok(number) if shown.contains("#double'") => Ok(AstValue::typed(&float(-number), "double")),
        _ => Err(ParseStop::Broken),
    }
}

/// Evaluates rdflib's test "none of these signs" on the next token. rdflib searches for a substring; a token that is
/// not a string makes it reject the query.
fn goes_on(next: &AstValue) -> Result<bool, ParseStop> {
    match next {
        AstValue::Text(text) | AstValue::Term { text, .. } => Ok(!".,;".contains(text.as_str())),
        _ => Err(ParseStop::Broken),
    }
}

/// Expands the short forms of triples, one triple after the other.
fn triples(terms: Vec<AstValue>) -> Result<Vec<AstValue>, ParseStop> {
    let is = |value: Option<&AstValue>, sign: &str| matches!(value, Some(AstValue::Text(text)) if text == sign);
    let mut made: Vec<AstValue> = Vec::new();
    for (i, term) in terms.iter().enumerate() {
        let next = terms.get(i + 1);
        match term {
            AstValue::Text(sign) if sign == "," => {
                let [.., subject, verb, _] = made.as_slice() else { return Err(ParseStop::Unfit) };
                let both = [subject.clone(), verb.clone()];
                made.extend(both);
            }
            AstValue::Text(sign) if sign == ";" => {
                if next.is_some() && !is(next, ";") && !is(next, ".") {
                    made.push(made.first().cloned().ok_or(ParseStop::Unfit)?);
                }
            }
            AstValue::Text(sign) if sign == "." => {}
            AstValue::List(inner) => {
                let first = inner.first().ok_or(ParseStop::Unfit)?;
                if made.len() % 3 == 2 {
                    made.push(first.clone());
                }
                if inner.len() > 1 {
                    made.extend(inner.iter().cloned());
                }
                if let Some(next) = next
                    && goes_on(next)?
                {
                    made.push(first.clone());
                }
            }
            other => made.push(other.clone()),
        }
    }
    Ok(made)
}

/// Expands a collection.
fn collection(blanks: &mut Blanks<'_>, items: Vec<AstValue>) -> Result<Vec<AstValue>, ParseStop> {
    let mut made: Vec<AstValue> = Vec::new();
    let mut others = Vec::new();
    let mut last = None;
    for item in items {
        let item = match item {
            AstValue::List(inner) => {
                let first = inner.first().cloned().ok_or(ParseStop::Unfit)?;
                others.extend(inner);
                first
            }
            other => other,
        };
        let node = blanks.next();
        if let Some(before) = made.len().checked_sub(3).and_then(|at| made.get(at)).cloned() {
            made.extend([before, rdf("rest"), node.clone()]);
        }
        made.extend([node.clone(), rdf("first"), item]);
        last = Some(node);
    }
    made.extend([last.ok_or(ParseStop::Unfit)?, rdf("rest"), rdf("nil")]);
    made.extend(others);
    Ok(made)
}
