//! QLever's search for texts: `ql:contains-word`, `ql:contains-entity` and `SERVICE textSearch:`.
//! Documentation: <https://docs.qlever.dev/text-search/>.
//!
//! The texts of a snapshot are its literals, as in a text index of QLever that is built from literals. The entity that
//! such a text contains is the literal itself. A word is a run of letters and digits, compared in lower case; a word
//! that ends in `*` is a prefix.

use oxrdf::vocab::{rdf, xsd};
use oxrdf::{Literal, NamedNode, Term, Variable};

use super::shared::{ground, work};
use super::{Result, ServiceParameters, SolutionRows};
use crate::environment::Environment;
use crate::row::Row;
use terrapin_budget::Budget;
use terrapin_sparql_syntax::algebra::{NamedNodePattern, QueryPattern, TermPattern, TriplePattern};
use terrapin_sparql_syntax::error::{SparqlCode, SparqlError, SparqlErrorClass};
use terrapin_sparql_syntax::vocabulary::{QL, TEXT_SEARCH};
use terrapin_triples::{TermId, TermKind};

/// The estimated bytes of a row.
const ROW_BYTES: u64 = 256;

/// A word of a search.
#[derive(Debug, Clone)]
struct SearchWord {
    /// The word in lower case, without `*`.
    word: String,
    is_prefix: bool,
    /// The variable for the word that a prefix matches.
    matched: Option<Variable>,
}

/// A search for the texts that contain words.
#[derive(Debug, Clone)]
pub(crate) struct TextSearch {
    text: Variable,
    words: Vec<SearchWord>,
    /// The variables for the entity.
    entities: Vec<Variable>,
    /// The entities that the text must have.
    required: Vec<Literal>,
}

fn wrong(message: impl Into<String>) -> SparqlError {
    SparqlError::new(SparqlErrorClass::Syntax, SparqlCode::ServiceParameter, message)
}

fn unsupported(message: impl Into<String>) -> SparqlError {
    SparqlError::new(SparqlErrorClass::Unsupported, SparqlCode::ServiceParameter, message)
}

/// Returns the error for a search for entities that texts mention.
fn no_mentions(what: &str) -> SparqlError {
    unsupported(format!("{what} searches for an entity, but the texts of a snapshot are its literals and mention none"))
        .help("search for a label instead: ?item rdfs:label ?text . ?text ql:contains-word \"moon\"")
}

impl TextSearch {
    fn new(text: Variable) -> TextSearch {
        TextSearch { text, words: Vec::new(), entities: Vec::new(), required: Vec::new() }
    }

    /// Adds a word of the query. A word without letters and digits is no word of any text.
    fn word(&mut self, word: &str, matched: Option<Variable>) -> Result<()> {
        let (word, is_prefix) = match word.strip_suffix('*') {
            Some(prefix) => (prefix, true),
            None => (word, false),
        };
        // A word with a hyphen or an apostrophe is several words of a text.
        let mut parts: Vec<String> = words(word).collect();
        let Some(last) = parts.pop() else {
            return match is_prefix {
                true => Err(wrong("a prefix of words needs a letter or digit before '*'")),
                false => Ok(()),
            };
        };
        let whole = parts.into_iter().map(|word| SearchWord { word, is_prefix: false, matched: None });
        self.words.extend(whole);
        let matched = matched.or_else(|| {
            let name = format!("ql_matchingword_{}_{last}", self.text.as_str());
            is_prefix.then(|| Variable::new(name).ok()).flatten()
        });
        let is_same = |other: &SearchWord| other.matched == matched && other.word == last;
        if matched.is_some() && self.words.iter().any(|other| other.matched == matched && other.word != last) {
            return Err(wrong("two prefixes of words need two variables"));
        }
        if !self.words.iter().any(|other| is_same(other) && other.is_prefix == is_prefix) {
            self.words.push(SearchWord { word: last, is_prefix, matched });
        }
        Ok(())
    }

    fn entity(&mut self, entity: &TermPattern, what: &str) -> Result<()> {
        match entity {
            TermPattern::Variable(variable) => self.entities.push(variable.clone()),
            TermPattern::Literal(literal) => self.required.push(literal.clone()),
            _ => return Err(no_mentions(what)),
        }
        Ok(())
    }

    /// Takes the triples with `ql:contains-word` and `ql:contains-entity` out of a list.
    pub fn take(triples: &mut Vec<TriplePattern>) -> Result<Vec<TextSearch>> {
        let mut searches: Vec<TextSearch> = Vec::new();
        let mut rest = Vec::with_capacity(triples.len());
        for triple in triples.drain(..) {
            let local = match &triple.predicate {
                NamedNodePattern::NamedNode(predicate) => predicate.as_str().strip_prefix(QL),
                NamedNodePattern::Variable(_) => None,
            };
            let Some(local @ ("contains-word" | "contains-entity")) = local else {
                rest.push(triple);
                continue;
            };
            let TermPattern::Variable(text) = &triple.subject else {
                return Err(wrong(format!("the subject of ql:{local} is a variable, which gets the text")));
            };
            let at = searches.iter().position(|search| search.text == *text).unwrap_or_else(|| {
                searches.push(TextSearch::new(text.clone()));
                searches.len() - 1
            });
            let Some(search) = searches.get_mut(at) else { continue };
            if local == "contains-entity" {
                search.entity(&triple.object, "ql:contains-entity")?;
                continue;
            }
            let Some(Term::Literal(words)) = ground(&triple.object) else {
                return Err(wrong("the object of ql:contains-word is a string of words"));
            };
            for word in words.value().split_whitespace() {
                search.word(word, None)?;
            }
        }
        *triples = rest;
        for search in &searches {
            search.check("ql:contains-entity", "ql:contains-word")?;
            // The subject of a triple is never a literal.
            let is_subject = |of: &Variable| {
                triples.iter().any(|triple| matches!(&triple.subject, TermPattern::Variable(subject) if subject == of))
            };
            if search.entities.iter().any(is_subject) {
                return Err(no_mentions("ql:contains-entity"));
            }
        }
        Ok(searches)
    }

    fn check(&self, entity: &str, word: &str) -> Result<()> {
        if !self.words.is_empty() {
            return Ok(());
        }
        if self.entities.is_empty() && self.required.is_empty() {
            return Err(wrong(format!("{word} has no word")));
        }
        Err(wrong(format!("{entity} needs {word} with a word for the same text {}", self.text)))
    }

    /// Reads the group of `SERVICE textSearch:`.
    pub fn of_service(inner: QueryPattern) -> Result<Vec<TextSearch>> {
        let parameters = ServiceParameters::new("textSearch:", "", inner);
        if !parameters.others.is_empty() {
            return Err(wrong("the group of textSearch: has triples only"));
        }
        let name = |triple: &TriplePattern| match &triple.predicate {
            NamedNodePattern::NamedNode(node) => node.as_str().strip_prefix(TEXT_SEARCH).map(str::to_owned),
            NamedNodePattern::Variable(_) => None,
        };
        let mut searches: Vec<TextSearch> = Vec::new();
        for contains in parameters.triples.iter().filter(|triple| name(triple).as_deref() == Some("contains")) {
            let TermPattern::Variable(text) = &contains.subject else {
                return Err(wrong("the subject of textSearch:contains is a variable, which gets the text"));
            };
            let (mut word, mut entity, mut matched) = (None, None, None);
            for triple in parameters.triples.iter().filter(|triple| triple.subject == contains.object) {
                match (name(triple).as_deref(), &triple.object) {
                    (Some("word"), TermPattern::Literal(text)) if word.is_none() => word = Some(text.value()),
                    (Some("entity"), of) if entity.is_none() => entity = Some(of),
                    (Some("prefix-match"), TermPattern::Variable(to)) => matched = Some(to.clone()),
                    (Some("score"), _) => {
                        return Err(unsupported(
                            "textSearch:score is not supported: the texts of a snapshot have no scores",
                        ));
                    }
                    (Some(other), _) => {
                        return Err(wrong(format!("textSearch:{other} is unknown, repeated or has a wrong value")));
                    }
                    (None, _) => return Err(wrong("textSearch: takes predicates of its own namespace only")),
                }
            }
            let at = searches.iter().position(|search| search.text == *text).unwrap_or_else(|| {
                searches.push(TextSearch::new(text.clone()));
                searches.len() - 1
            });
            let Some(search) = searches.get_mut(at) else { continue };
            match (word, entity) {
                (Some(word), None) if word.split_whitespace().count() == 1 => search.word(word, matched)?,
                (Some(_), None) => {
                    return Err(wrong("textSearch:word is one word; use a textSearch:contains for each"));
                }
                (None, Some(entity)) => search.entity(entity, "textSearch:entity")?,
                _ => return Err(wrong("a textSearch:contains needs either textSearch:word or textSearch:entity")),
            }
        }
        if searches.is_empty() {
            return Err(wrong("textSearch: needs a triple with textSearch:contains"));
        }
        for search in &searches {
            search.check("textSearch:entity", "textSearch:word")?;
        }
        Ok(searches)
    }

    /// Adds the rows for a text, if it contains all words: one for each combination of words that prefixes match.
    fn add(&self, literal: &Literal, rows: &mut Vec<Row>, budget: &Budget) -> Result<()> {
        let all: Vec<String> = words(literal.value()).collect();
        let mut combinations: Vec<Vec<Option<Term>>> = vec![Vec::new()];
        for SearchWord { word, is_prefix, matched } in &self.words {
            let mut found: Vec<&String> =
                all.iter().filter(|other| if *is_prefix { other.starts_with(word) } else { *other == word }).collect();
            if found.is_empty() {
                return Ok(());
            }
            if matched.is_none() {
                continue;
            }
            found.sort_unstable();
            found.dedup();
            // Each prefix multiplies the rows of a text.
            let count = combinations.len().saturating_mul(found.len());
            work(budget, count as u64)?;
            let bytes = (rows.len() as u64).saturating_add(count as u64).saturating_mul(ROW_BYTES);
            budget.memory(bytes).map_err(crate::guard::exceeded)?;
            let extended = combinations.iter().flat_map(|row| {
                found.iter().map(|word| {
                    let word = Literal::new_simple_literal(word.as_str()).into();
                    row.iter().cloned().chain([Some(word)]).collect::<Vec<Option<Term>>>()
                })
            });
            combinations = extended.collect();
        }
        let text = Some(Term::from(literal.clone()));
        for words in combinations {
            let entities = self.entities.iter().map(|_| text.clone());
            rows.push([text.clone()].into_iter().chain(entities).chain(words).collect());
        }
        budget.memory(rows.len() as u64 * ROW_BYTES).map_err(crate::guard::exceeded)
    }
}

/// Returns the words of a text in lower case.
fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

impl SolutionRows for TextSearch {
    fn variables(&self) -> Vec<Variable> {
        let mut columns = vec![self.text.clone()];
        columns.extend(self.entities.iter().cloned());
        columns.extend(self.words.iter().filter_map(|word| word.matched.clone()));
        columns
    }

    fn rows(&self, environment: &Environment, budget: &Budget) -> Result<Vec<Row>> {
        let store = &environment.store;
        let mut rows = Vec::new();
        for number in 0..store.terms() {
            let id = TermId::of_snapshot(number);
            // Encoded terms (numbers, times, points) have no words.
            if store.kind(id) != Some(TermKind::Literal) || store.code(id).is_some() {
                continue;
            }
            work(budget, 1)?;
            let Some(Term::Literal(literal)) = store.term(id) else { continue };
            let is_text = [xsd::STRING, rdf::LANG_STRING].contains(&literal.datatype());
            if is_text && self.required.iter().all(|required| *required == literal) {
                self.add(&literal, &mut rows, budget)?;
            }
        }
        Ok(rows)
    }
}

/// Returns the error for a special predicate of QLever that a snapshot cannot answer.
pub(crate) fn internal_predicate(predicate: &NamedNode) -> SparqlError {
    let message = format!("the predicate {predicate} is internal to QLever");
    SparqlError::new(SparqlErrorClass::Unsupported, SparqlCode::ServiceParameter, message)
        .help("supported are ql:has-predicate, ql:contains-word, ql:contains-entity and ql:langtag")
}

#[cfg(test)]
mod tests {
    use super::*;
    use terrapin_budget::Limits;

    #[test]
    fn words_are_runs_of_letters_and_digits_in_lower_case() {
        assert_eq!(words("Café Cordina's 2nd").collect::<Vec<_>>(), ["café", "cordina", "s", "2nd"]);
    }

    #[test]
    fn a_prefix_gives_a_row_for_each_word() {
        let mut search = TextSearch::new(Variable::new_unchecked("t"));
        for word in ["RElaT*", "the", "-", "relat*"] {
            search.word(word, None).unwrap();
        }
        let (mut rows, budget) = (Vec::new(), Budget::new(&Limits::default()));
        search.add(&Literal::new_simple_literal("The relation of relativity"), &mut rows, &budget).unwrap();
        assert_eq!(rows.len(), 2);
        assert_eq!(search.variables().len(), 2);
        assert_eq!(search.variables()[1].as_str(), "ql_matchingword_t_relat");
        search.add(&Literal::new_simple_literal("relativity"), &mut rows, &budget).unwrap();
        assert_eq!(rows.len(), 2);
    }

    #[test]
    fn prefixes_that_multiply_rows_are_charged() {
        let mut search = TextSearch::new(Variable::new_unchecked("t"));
        assert!(search.word("*", None).unwrap_err().message.contains("before '*'"));
        // Five prefixes of a hundred words each have 10,000,000,000 combinations.
        let mut text = String::new();
        for prefix in ["a", "b", "c", "d", "e"] {
            search.word(&format!("{prefix}*"), None).unwrap();
            (0..100).for_each(|number| text.push_str(&format!("{prefix}{number} ")));
        }
        let budget = Budget::new(&Limits { work: Some(1_000_000), ..Limits::default() });
        assert!(search.add(&Literal::new_simple_literal(text), &mut Vec::new(), &budget).is_err());
    }
}
