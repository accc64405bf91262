//! Rules of SPARQL 1.2 for triples about triples: triple terms `<<( s p o )>>`, reified triples `<< s p o ~ r >>`, and
//! annotations `~ r {| p o |}` after an object.
//!
//! A reifier is a term with the triple `r rdf:reifies <<( s p o )>>`. Reified triples and annotations are short forms of
//! such triples (<https://www.w3.org/TR/sparql12-query/#reified-triples>).

use oxrdf::vocab::rdf;
use oxrdf::{NamedNode, Term};

use super::parser::QueryParser;
use super::statements::{Annotation, Object, Properties, Triple, Verb, triple};
use super::token::TokenKind;
use super::tree::DepthTree;
use crate::algebra::{Expression, Function, NamedNodePattern, Path, TermPattern, TriplePattern};
use crate::error::{Result, SparqlCode};

/// Maximum number of bytes of the terms that short forms of triples repeat: the subject and the predicates of a list of
/// properties, and the triple of several annotations.
const MAX_REPEATED: usize = 64 << 20;

/// Returns the length of a term's text in bytes.
fn text_len(term: &TermPattern) -> usize {
    match term {
        TermPattern::NamedNode(node) => node.as_str().len(),
        TermPattern::BlankNode(node) => node.as_str().len(),
        TermPattern::Literal(literal) => literal.value().len(),
        TermPattern::Variable(variable) => variable.as_str().len(),
        TermPattern::Triple(triple) => triple_len(triple),
    }
}

fn triple_len(triple: &TriplePattern) -> usize {
    let predicate = match &triple.predicate {
        NamedNodePattern::NamedNode(node) => node.as_str().len(),
        NamedNodePattern::Variable(variable) => variable.as_str().len(),
    };
    size_of::<TriplePattern>() + text_len(&triple.subject) + predicate + text_len(&triple.object)
}

/// Returns the length of the IRIs and variables of a predicate in bytes.
fn verb_len(verb: &Verb) -> usize {
    match verb {
        Verb::Variable(variable) => variable.as_str().len(),
        Verb::InLanguage(node, language) => node.as_str().len() + language.len(),
        Verb::Path(path) => path_len(path),
    }
}

fn path_len(path: &Path) -> usize {
    let length = match path {
        Path::NamedNode(node) => node.as_str().len(),
        Path::Reverse(path) | Path::ZeroOrMore(path) | Path::OneOrMore(path) | Path::ZeroOrOne(path) => path_len(path),
        Path::Sequence(first, second) | Path::Alternative(first, second) => path_len(first) + path_len(second),
        Path::NegatedPropertySet(nodes) => nodes.iter().map(|node| node.as_str().len() + size_of::<NamedNode>()).sum(),
    };
    size_of::<Path>() + length
}

/// Returns the predicate of a path of one step.
pub(super) fn simple(path: &Path) -> Option<NamedNodePattern> {
    match path {
        Path::NamedNode(node) => Some(node.clone().into()),
        _ => None,
    }
}

/// Returns the triple that connects a reifier with its triple term.
pub(super) fn reifies(reifier: TermPattern, reified: TriplePattern) -> Triple {
    Triple::Plain(triple(reifier, rdf::REIFIES.into_owned(), TermPattern::from(reified)))
}

impl QueryParser<'_> {
    /// Parses a triple term: `<<( s p o )>>`.
    pub fn triple_term(&mut self) -> Result<TermPattern> {
        self.nested(|p| {
            p.expect("<<(")?;
            let subject = p.reified_end("a triple term")?;
            let predicate = p.simple_verb()?;
            let object = p.reified_end("a triple term")?;
            p.expect(")>>")?;
            Ok(triple(subject, predicate, object).into())
        })
    }

    /// Parses a reified triple, `<< s p o ~ r >>`, and returns its reifier.
    pub fn reified_triple(&mut self, out: &mut Vec<Triple>) -> Result<TermPattern> {
        self.nested(|p| {
            p.expect("<<")?;
            let subject = p.reified_or_end(out)?;
            let predicate = p.simple_verb()?;
            let object = p.reified_or_end(out)?;
            let reifier = if p.mark("~") { p.reifier()? } else { p.anonymous().into() };
            p.expect(">>")?;
            out.push(reifies(reifier.clone(), triple(subject, predicate, object)));
            Ok(reifier)
        })
    }

    fn reified_or_end(&mut self, out: &mut Vec<Triple>) -> Result<TermPattern> {
        if self.is_mark("<<") { self.reified_triple(out) } else { self.reified_end("a reified triple") }
    }

    /// Parses the subject or object of a triple term or a reified triple: a term, but no list.
    fn reified_end(&mut self, of: &str) -> Result<TermPattern> {
        if self.is_mark("(") {
            let message = format!("{of} cannot contain a list");
            return Err(self
                .error_at(self.peek(), SparqlCode::Syntax, message)
                .help("write the list's triples in full"));
        }
        self.term()
    }

    /// Parses a reifier after `~`; without one it is a new blank node.
    fn reifier(&mut self) -> Result<TermPattern> {
        let is_blank = self.peek().kind == TokenKind::Blank || self.is_anonymous();
        if is_blank || self.is_iri() || self.peek().kind == TokenKind::Variable {
            return self.term();
        }
        Ok(self.anonymous().into())
    }

    /// Parses the annotations after an object.
    pub fn annotations(&mut self, paths: bool) -> Result<Vec<Annotation>> {
        let mut annotations: Vec<Annotation> = Vec::new();
        // Whether a block belongs to the last reifier.
        let mut open = false;
        loop {
            let token = self.peek();
            self.check_variables()?;
            if self.mark("~") {
                let reifier = self.reifier()?;
                annotations.push(Annotation { reifier, properties: Properties::default(), token });
                open = true;
            } else if self.is_mark("{|") {
                let properties = self.nested(|p| {
                    p.at += 1;
                    let properties = p.properties(paths)?;
                    p.expect("|}")?;
                    Ok(properties)
                })?;
                match annotations.last_mut().filter(|_| open) {
                    Some(annotation) => annotation.properties = properties,
                    None => annotations.push(Annotation { reifier: self.anonymous().into(), properties, token }),
                }
                open = false;
            } else {
                return Ok(annotations);
            }
        }
    }

    /// Counts a subject and a predicate that are repeated; rejects too much text.
    pub(super) fn repeat(&mut self, subject: &TermPattern, verb: &Verb) -> Result<()> {
        self.repeat_bytes(text_len(subject) + verb_len(verb))
    }

    fn repeat_bytes(&mut self, bytes: usize) -> Result<()> {
        self.repeated = self.repeated.saturating_add(bytes);
        if self.repeated <= MAX_REPEATED {
            return Ok(());
        }
        let message = format!("lists of properties and annotations repeat more than {MAX_REPEATED} bytes of terms");
        Err(self.error_at(self.peek(), SparqlCode::TooLong, message))
    }

    /// Adds the triples of an object's annotations.
    pub(super) fn annotate(
        &mut self,
        subject: &TermPattern,
        predicate: Option<NamedNodePattern>,
        object: Object,
        out: &mut Vec<Triple>,
    ) -> Result<()> {
        for Annotation { reifier, properties, token } in object.annotations {
            let Some(predicate) = predicate.clone() else {
                let message = "only a triple with a single predicate or a variable as its predicate has annotations";
                return Err(self
                    .error_at(token, SparqlCode::Syntax, message)
                    .help("write the path's steps as triples"));
            };
            let reified = triple(subject.clone(), predicate, object.term.clone());
            self.repeat_bytes(triple_len(&reified))?;
            out.push(reifies(reifier.clone(), reified));
            self.attach(&reifier, properties, out)?;
        }
        Ok(())
    }

    /// Parses a predicate that is no path: a variable, an IRI or `a`.
    fn simple_verb(&mut self) -> Result<NamedNodePattern> {
        match self.maybe_variable() {
            Some(variable) => Ok(variable.into()),
            None => Ok(self.predicate()?.into()),
        }
    }

    /// Parses a triple term in an expression, which is a call of TRIPLE.
    pub fn triple_expression(&mut self) -> Result<DepthTree<Expression>> {
        self.nested(|p| {
            p.expect("<<(")?;
            let subject = match p.maybe_variable() {
                Some(variable) => variable.into(),
                None if p.is_iri() => p.iri()?.into(),
                None => return Err(p.expected("a variable or an IRI (a triple term's subject)")),
            };
            let predicate = match p.simple_verb()? {
                NamedNodePattern::Variable(variable) => variable.into(),
                NamedNodePattern::NamedNode(node) => node.into(),
            };
            let object = if p.is_mark("<<(") {
                p.triple_expression()?
            } else if let Some(variable) = p.maybe_variable() {
                variable.into()
            } else if p.is_iri() {
                p.iri()?.into()
            } else {
                match p.maybe_literal()? {
                    Some(literal) => literal.into(),
                    None => return Err(p.expected("a variable, an IRI, a literal or a triple term")),
                }
            };
            p.expect(")>>")?;
            DepthTree::list(vec![subject, predicate, object]).under(|list| Expression::Call(Function::Triple, list))
        })
    }

    /// Parses a triple term in VALUES, which has no variables and no blank nodes.
    pub fn triple_value(&mut self) -> Result<Term> {
        self.nested(|p| {
            p.expect("<<(")?;
            if !p.is_iri() {
                return Err(p.expected("an IRI (a triple term's subject in VALUES)"));
            }
            let subject = p.iri()?;
            let predicate: NamedNode = p.predicate()?;
            let object = if p.is_mark("<<(") {
                p.triple_value()?
            } else if p.is_iri() {
                p.iri()?.into()
            } else {
                match p.maybe_literal()? {
                    Some(literal) => literal.into(),
                    None => return Err(p.expected("an IRI, a literal or a triple term")),
                }
            };
            p.expect(")>>")?;
            Ok(oxrdf::Triple::new(subject, predicate, object).into())
        })
    }
}
