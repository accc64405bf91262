//! Rules for triples, paths and terms.

use oxrdf::vocab::{rdf, xsd};
use oxrdf::{BaseDirection, BlankNode, Literal, NamedNode};

use super::dialect::Dialect;
use super::parser::{QueryParser, code_point};
use super::reified::simple;
use super::statements::{Object, Properties, Triple, Verb, triple};
use super::token::TokenKind;
use super::tree::{DepthTree, reduce};
use crate::algebra::{NamedNodePattern, Path, QueryPattern, TermPattern};
use crate::error::{Result, SparqlCode};
use crate::hints;

impl QueryParser<'_> {
    /// Returns whether a triple can start here.
    pub fn starts_triple(&self) -> bool {
        match self.peek().kind {
            TokenKind::Variable
            | TokenKind::Iri
            | TokenKind::Prefixed { .. }
            | TokenKind::Blank
            | TokenKind::Text { .. } => true,
            TokenKind::Integer | TokenKind::Decimal | TokenKind::Double => true,
            TokenKind::Mark(mark) => matches!(mark, "[" | "(" | "+" | "-" | "<<" | "<<("),
            TokenKind::Word => self.is_word("true") || self.is_word("false"),
            _ => false,
        }
    }

    /// Parses consecutive triples; `paths` permits property paths.
    pub fn triples_block(&mut self, paths: bool) -> Result<Vec<Triple>> {
        let mut triples = Vec::new();
        while self.starts_triple() {
            self.same_subject(paths, &mut triples)?;
            if !self.mark(".") {
                break;
            }
        }
        Ok(triples)
    }

    fn same_subject(&mut self, paths: bool, out: &mut Vec<Triple>) -> Result<()> {
        let is_block = self.is_mark("[") && !self.is_anonymous() || self.is_mark("(") && !self.is_nil();
        let (subject, mut triples, alone) = if is_block || self.is_mark("<<") {
            let mut inner = Vec::new();
            (self.node(paths, &mut inner)?, inner, true)
        } else {
            (self.term()?, Vec::new(), false)
        };
        if !alone || self.starts_verb() {
            let properties = self.properties(paths)?;
            self.attach(&subject, properties, &mut triples)?;
        }
        out.append(&mut triples);
        Ok(())
    }

    /// Adds the triples of a subject's properties.
    pub(super) fn attach(
        &mut self,
        subject: &TermPattern,
        properties: Properties,
        out: &mut Vec<Triple>,
    ) -> Result<()> {
        let Properties { verbs, mut triples } = properties;
        out.append(&mut triples);
        for (verb, objects) in verbs {
            for object in objects {
                self.repeat(subject, &verb)?;
                let predicate = match &verb {
                    Verb::Variable(variable) => {
                        out.push(Triple::Plain(triple(subject.clone(), variable.clone(), object.term.clone())));
                        Some(variable.clone().into())
                    }
                    Verb::Path(path) => {
                        self.path_triples(subject.clone(), path.clone().into_part(), object.term.clone(), out)?;
                        simple(path)
                    }
                    Verb::InLanguage(predicate, language) => {
                        self.in_language(subject, predicate, language, object.term.clone(), out)?;
                        None
                    }
                };
                self.annotate(subject, predicate, object, out)?;
            }
        }
        Ok(())
    }

    /// Adds the triple of a predicate whose objects have a language.
    fn in_language(
        &mut self,
        subject: &TermPattern,
        predicate: &NamedNode,
        language: &str,
        object: TermPattern,
        out: &mut Vec<Triple>,
    ) -> Result<()> {
        let object = match object {
            TermPattern::Variable(variable) => variable,
            TermPattern::BlankNode(_) => self.helper(),
            TermPattern::Literal(literal) if literal.language() != Some(language) => {
                let message = format!("{literal} never has the language {language} of its predicate");
                return Err(self.error_at(self.peek(), SparqlCode::LanguageTag, message));
            }
            constant => {
                out.push(Triple::Plain(triple(subject.clone(), predicate.clone(), constant)));
                return Ok(());
            }
        };
        self.languages.push((object.clone(), language.to_owned()));
        out.push(Triple::Plain(triple(subject.clone(), predicate.clone(), object)));
        Ok(())
    }

    /// Turns sequences and inversions at the top of a path into triples.
    fn path_triples(
        &mut self,
        subject: TermPattern,
        path: Path,
        object: TermPattern,
        out: &mut Vec<Triple>,
    ) -> Result<()> {
        match path {
            Path::NamedNode(predicate) => out.push(Triple::Plain(triple(subject, predicate, object))),
            Path::Reverse(path) => self.path_triples(object, *path, subject, out)?,
            Path::Sequence(first, second) => {
                let middle = self.anonymous();
                self.path_triples(subject, *first, middle.clone().into(), out)?;
                self.path_triples(middle.into(), *second, object, out)?;
            }
            path => {
                self.count_path(&path)?;
                out.push(Triple::Path { subject, path: DepthTree::of_part(path), object });
            }
        }
        Ok(())
    }

    fn starts_verb(&self) -> bool {
        match self.peek().kind {
            TokenKind::Variable | TokenKind::Iri | TokenKind::Prefixed { .. } => true,
            TokenKind::Word => self.slice(self.peek()) == "a",
            TokenKind::Mark(mark) => matches!(mark, "^" | "!" | "("),
            TokenKind::PredicateTag => true,
            _ => false,
        }
    }

    pub(super) fn properties(&mut self, paths: bool) -> Result<Properties> {
        let mut properties = Properties::default();
        loop {
            let verb = self.verb(paths)?;
            let mut objects = Vec::new();
            loop {
                let term = self.node(paths, &mut properties.triples)?;
                objects.push(Object { term, annotations: self.annotations(paths)? });
                if !self.mark(",") {
                    break;
                }
            }
            properties.verbs.push((verb, objects));
            let mut more = false;
            while self.mark(";") {
                more = true;
            }
            if !more || !self.starts_verb() {
                return Ok(properties);
            }
        }
    }

    fn verb(&mut self, paths: bool) -> Result<Verb> {
        if let Some(variable) = self.maybe_variable() {
            return Ok(Verb::Variable(variable));
        }
        if !self.starts_verb() {
            return Err(self.expected("a predicate"));
        }
        if paths {
            if let Some(language) = self.predicate_language()? {
                return Ok(Verb::InLanguage(self.predicate()?, language));
            }
            return Ok(Verb::Path(self.path()?));
        }
        Ok(Verb::Path(self.step()?))
    }

    pub(super) fn predicate(&mut self) -> Result<NamedNode> {
        if self.peek().kind == TokenKind::Word && self.slice(self.peek()) == "a" {
            self.at += 1;
            return Ok(rdf::TYPE.into_owned());
        }
        if !self.is_iri() {
            return Err(self.expected("a predicate"));
        }
        self.iri()
    }

    // Paths.

    fn path(&mut self) -> Result<DepthTree<Path>> {
        self.nested(|p| {
            let mut paths = vec![p.path_sequence()?];
            while p.mark("|") {
                paths.push(p.path_sequence()?);
            }
            let either = |a, b| Path::Alternative(Box::new(a), Box::new(b));
            reduce(paths, |a, b| a.and(b, either))?.ok_or_else(|| p.expected("a path"))
        })
    }

    fn path_sequence(&mut self) -> Result<DepthTree<Path>> {
        let mut path = self.path_step()?;
        while self.mark("/") {
            path = path.joined(self.path_step()?, |a, b| Path::Sequence(Box::new(a), Box::new(b)))?;
        }
        Ok(path)
    }

    fn path_step(&mut self) -> Result<DepthTree<Path>> {
        if self.mark("^") {
            return self.path_element()?.under(|path| Path::Reverse(Box::new(path)));
        }
        self.path_element()
    }

    fn path_element(&mut self) -> Result<DepthTree<Path>> {
        let path = if self.mark("(") {
            let path = self.path()?;
            self.expect(")")?;
            path
        } else if self.mark("!") {
            self.negated()?
        } else {
            self.step()?
        };
        let make = if self.mark("?") {
            Path::ZeroOrOne
        } else if self.mark("*") {
            Path::ZeroOrMore
        } else if self.mark("+") {
            Path::OneOrMore
        } else {
            return self.path_length(path);
        };
        path.under(|path| make(Box::new(path)))
    }

    /// Parses a path of one predicate.
    fn step(&mut self) -> Result<DepthTree<Path>> {
        Ok(DepthTree::of_part(Path::NamedNode(self.predicate()?)))
    }

    fn negated(&mut self) -> Result<DepthTree<Path>> {
        let (mut direct, mut inverse) = (Vec::new(), Vec::new());
        let bracket = self.mark("(");
        loop {
            if self.mark("^") {
                inverse.push(self.predicate()?);
            } else {
                direct.push(self.predicate()?);
            }
            if !bracket || !self.mark("|") {
                break;
            }
        }
        if bracket {
            self.expect(")")?;
        }
        let back = |inverse| Path::Reverse(Box::new(Path::NegatedPropertySet(inverse)));
        Ok(DepthTree::of_part(match (direct.is_empty(), inverse.is_empty()) {
            (_, true) => Path::NegatedPropertySet(direct),
            (true, false) => back(inverse),
            (false, false) => Path::Alternative(Box::new(Path::NegatedPropertySet(direct)), Box::new(back(inverse))),
        }))
    }

    // Nodes and terms.

    pub(super) fn is_anonymous(&self) -> bool {
        self.is_mark("[") && self.ahead(1).kind == TokenKind::Mark("]")
    }

    pub fn is_nil(&self) -> bool {
        self.is_mark("(") && self.ahead(1).kind == TokenKind::Mark(")")
    }

    /// Parses a term, a list, a blank node with properties or a reified triple.
    fn node(&mut self, paths: bool, out: &mut Vec<Triple>) -> Result<TermPattern> {
        if self.is_mark("<<") {
            return self.reified_triple(out);
        }
        if self.is_mark("(") && !self.is_nil() {
            return self.nested(|p| p.collection(paths, out));
        }
        if self.is_mark("[") && !self.is_anonymous() {
            return self.nested(|p| {
                p.at += 1;
                let properties = p.properties(paths)?;
                p.expect("]")?;
                let node = TermPattern::from(p.anonymous());
                p.attach(&node, properties, out)?;
                Ok(node)
            });
        }
        self.term()
    }

    fn collection(&mut self, paths: bool, out: &mut Vec<Triple>) -> Result<TermPattern> {
        self.expect("(")?;
        let mut items = Vec::new();
        while !self.is_mark(")") {
            let mut inner = Vec::new();
            let item = self.node(paths, &mut inner)?;
            items.push((item, inner));
        }
        self.expect(")")?;
        let mut list = TermPattern::from(rdf::NIL.into_owned());
        for (item, mut inner) in items.into_iter().rev() {
            let node = TermPattern::from(self.anonymous());
            out.push(Triple::Plain(triple(node.clone(), rdf::FIRST.into_owned(), item)));
            out.push(Triple::Plain(triple(node.clone(), rdf::REST.into_owned(), list)));
            list = node;
            out.append(&mut inner);
        }
        Ok(list)
    }

    /// Parses a term: a variable, an IRI, a literal, a blank node or a triple term.
    pub(super) fn term(&mut self) -> Result<TermPattern> {
        if self.is_mark("<<(") {
            return self.triple_term();
        }
        if let Some(variable) = self.maybe_variable() {
            return Ok(variable.into());
        }
        if self.is_iri() {
            return Ok(self.iri()?.into());
        }
        if self.is_nil() {
            self.at += 2;
            return Ok(rdf::NIL.into_owned().into());
        }
        if self.is_anonymous() {
            self.at += 2;
            return Ok(self.anonymous().into());
        }
        if self.peek().kind == TokenKind::Blank {
            return Ok(self.blank()?.into());
        }
        match self.maybe_literal()? {
            Some(literal) => Ok(literal.into()),
            None => Err(self.expected("a variable, an IRI, a literal or a blank node")),
        }
    }

    fn blank(&mut self) -> Result<BlankNode> {
        let token = self.peek();
        let node = BlankNode::new_unchecked(self.slice(token).get(2..).unwrap_or(""));
        if self.used_labels.contains(&node) {
            let message = format!("the blank node {node} is used in two groups");
            return Err(self.error_at(token, SparqlCode::BlankNode, message).help("use a variable"));
        }
        if !self.labels.contains(&node) {
            self.labels.push(node.clone());
        }
        self.at += 1;
        Ok(node)
    }

    /// Parses a variable or an IRI.
    pub fn variable_or_iri(&mut self) -> Result<NamedNodePattern> {
        if let Some(variable) = self.maybe_variable() {
            return Ok(variable.into());
        }
        if self.is_iri() {
            return Ok(self.iri()?.into());
        }
        Err(self.expected("a variable or an IRI"))
    }

    /// Parses a literal, which may be a signed number.
    pub fn maybe_literal(&mut self) -> Result<Option<Literal>> {
        let token = self.peek();
        if let TokenKind::Mark(sign @ ("+" | "-")) = token.kind {
            let number = self.ahead(1);
            let Some(datatype) = number_type(number.kind) else { return Ok(None) };
            self.at += 2;
            let lexical = format!("{sign}{}", self.slice(number));
            return Ok(Some(Literal::new_typed_literal(lexical, datatype)));
        }
        self.maybe_unsigned_literal()
    }

    /// Parses a literal without the sign of a number.
    pub fn maybe_unsigned_literal(&mut self) -> Result<Option<Literal>> {
        let token = self.peek();
        if let Some(datatype) = number_type(token.kind) {
            self.at += 1;
            return Ok(Some(Literal::new_typed_literal(self.slice(token), datatype)));
        }
        if token.kind == TokenKind::Word {
            // Case-insensitive like any keyword (SPARQL 1.1, section 19.8, note 1).
            let value = ["true", "false"].into_iter().find(|word| self.is_word(word));
            self.at += usize::from(value.is_some());
            return Ok(value.map(|value| Literal::new_typed_literal(value, xsd::BOOLEAN)));
        }
        if !matches!(token.kind, TokenKind::Text { .. }) {
            return Ok(None);
        }
        let value = self.string()?;
        if self.mark("^^") {
            return Ok(Some(Literal::new_typed_literal(value, self.iri()?)));
        }
        let tag = self.peek();
        if tag.kind != TokenKind::Tag {
            return Ok(Some(Literal::new_simple_literal(value)));
        }
        self.at += 1;
        let written = self.slice(tag);
        let lower = written.get(1..).unwrap_or("").to_ascii_lowercase();
        let literal = match lower.split_once("--") {
            None => Literal::new_language_tagged_literal(value, lower),
            Some((language, direction)) => {
                // Unlike languages, directions are written in lower case.
                let direction = match direction {
                    "ltr" if written.ends_with("ltr") => BaseDirection::Ltr,
                    "rtl" if written.ends_with("rtl") => BaseDirection::Rtl,
                    _ => {
                        let message = format!("{written} has an unknown base direction");
                        let error = self.error_at(tag, SparqlCode::LanguageTag, message);
                        return Err(error.help("base directions are --ltr and --rtl"));
                    }
                };
                Literal::new_directional_language_tagged_literal(value, language, direction)
            }
        };
        literal
            .map(Some)
            .map_err(|why| self.error_at(tag, SparqlCode::LanguageTag, format!("{written} is no language tag: {why}")))
    }

    /// Parses a string without type or language.
    pub fn string(&mut self) -> Result<String> {
        let token = self.peek();
        let TokenKind::Text { quote } = token.kind else { return Err(self.expected("a string")) };
        self.at += 1;
        let inside = self.text.get(token.start + quote as usize..token.end - quote as usize).unwrap_or("");
        match unescape(inside) {
            Some(value) => Ok(value),
            None => Err(self.error_at(token, SparqlCode::BadEscape, "the string has an unknown escape sequence").help(
                "escapes are \\t \\b \\n \\r \\f \\\" \\' \\\\ \\uXXXX \\UXXXXXXXX; a backslash is written \\\\",
            )),
        }
    }
}

fn number_type(kind: TokenKind) -> Option<oxrdf::NamedNodeRef<'static>> {
    match kind {
        TokenKind::Integer => Some(xsd::INTEGER),
        TokenKind::Decimal => Some(xsd::DECIMAL),
        TokenKind::Double => Some(xsd::DOUBLE),
        _ => None,
    }
}

fn unescape(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let escape = *after.as_bytes().first()?;
        rest = after.get(1..)?;
        let length = match escape {
            b't' => Err('\t'),
            b'b' => Err('\u{8}'),
            b'n' => Err('\n'),
            b'r' => Err('\r'),
            b'f' => Err('\u{C}'),
            b'"' | b'\'' | b'\\' => Err(escape as char),
            b'u' => Ok(4),
            b'U' => Ok(8),
            _ => return None,
        };
        match length {
            Err(c) => out.push(c),
            Ok(length) => {
                out.push(code_point(rest.get(..length)?)?);
                rest = rest.get(length..)?;
            }
        }
    }
    out.push_str(rest);
    Some(out)
}

/// Creates the pattern of triples: basic graph patterns joined with paths, in the order of the text. Optimizer hints
/// are left out, except in the standard dialect.
pub(super) fn bgp(triples: Vec<Triple>, dialect: Dialect) -> Result<DepthTree<QueryPattern>> {
    let mut patterns = Vec::new();
    let mut all: Option<DepthTree<QueryPattern>> = None;
    let mut add = |pattern: DepthTree<QueryPattern>| -> Result<()> {
        all = Some(match all.take() {
            Some(left) => join(left, pattern)?,
            None => pattern,
        });
        Ok(())
    };
    for triple in triples {
        match triple {
            Triple::Plain(triple) if dialect != Dialect::Standard && hints::is_hint(&triple) => {}
            Triple::Plain(triple) => patterns.push(triple),
            Triple::Path { subject, path, object } => {
                if !patterns.is_empty() {
                    add(DepthTree::triples(std::mem::take(&mut patterns))?)?;
                }
                add(path.between(subject, object))?;
            }
        }
    }
    if !patterns.is_empty() {
        add(DepthTree::triples(patterns)?)?;
    }
    Ok(all.unwrap_or_default())
}

/// Joins two patterns; adjacent basic graph patterns are merged.
pub(super) fn join(left: DepthTree<QueryPattern>, right: DepthTree<QueryPattern>) -> Result<DepthTree<QueryPattern>> {
    match (left.into_triples(), right.into_triples()) {
        (Ok(mut left), Ok(right)) => {
            left.extend(right);
            DepthTree::triples(left)
        }
        (Ok(empty), Err(other)) | (Err(other), Ok(empty)) if empty.is_empty() => Ok(other),
        (Ok(left), Err(right)) => joined(DepthTree::triples(left)?, right),
        (Err(left), Ok(right)) => joined(left, DepthTree::triples(right)?),
        (Err(left), Err(right)) => joined(left, right),
    }
}

/// Joins two patterns without merging.
pub(super) fn joined(left: DepthTree<QueryPattern>, right: DepthTree<QueryPattern>) -> Result<DepthTree<QueryPattern>> {
    left.joined(right, QueryPattern::join)
}
