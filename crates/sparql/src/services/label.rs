//! `SERVICE wikibase:label`: labels, descriptions and aliases for variables. They are selected by the names of the
//! query's projected variables, or by triples in the service's group. The service runs after all other parts of its
//! group.

use oxrdf::{Literal, NamedNode, Variable};

use super::ServiceParameters;
use crate::functions::Called;
use crate::functions::labels::LabelKind;
use terrapin_sparql_syntax::algebra::{Expression, NamedNodePattern, OwnFunction, QueryPattern, TermPattern};
use terrapin_sparql_syntax::depth::Depth;
use terrapin_sparql_syntax::error::SparqlError;
use terrapin_sparql_syntax::in_scope;
use terrapin_sparql_syntax::vocabulary::{LABEL_SERVICE, SERVICE_PARAM, WIKIBASE};

/// Returns whether a service is the label service.
pub(crate) fn is_label(name: &NamedNode) -> bool {
    name.as_str() == LABEL_SERVICE
}

/// Returns the languages of the service's parameter, separated by commas.
fn languages(parameters: &ServiceParameters, automatic: &str) -> String {
    let mut languages = Vec::new();
    for value in parameters.all(WIKIBASE, "language") {
        let TermPattern::Literal(literal) = value else { continue };
        for language in literal.value().split(',').map(str::trim).filter(|l| !l.is_empty()) {
            languages.push(if language == "[AUTO_LANGUAGE]" { automatic } else { language }.to_ascii_lowercase());
        }
    }
    if languages.is_empty() {
        languages.push(automatic.to_owned());
    }
    languages.join(",")
}

/// Returns the languages of a service with the group `inner`, separated by commas, and the requested texts: of which
/// variable, which kind, and the variable that gets it. `language` replaces `[AUTO_LANGUAGE]`.
pub(crate) fn requests(
    inner: &QueryPattern,
    language: &str,
    projected: &[Variable],
) -> (String, Vec<(Variable, LabelKind, Variable)>) {
    let parameters = ServiceParameters::new("wikibase:label", SERVICE_PARAM, inner.clone());
    let languages = languages(&parameters, language);
    let mut wanted: Vec<(Variable, LabelKind, Variable)> = Vec::new();
    for triple in &parameters.triples {
        let NamedNodePattern::NamedNode(predicate) = &triple.predicate else { continue };
        let kind = LabelKind::ALL.into_iter().find(|kind| kind.predicate() == predicate.as_str());
        if let (TermPattern::Variable(of), Some(kind), TermPattern::Variable(target)) =
            (&triple.subject, kind, &triple.object)
        {
            wanted.push((of.clone(), kind, target.clone()));
        }
    }
    if parameters.triples.is_empty() {
        for target in projected {
            let named = LabelKind::ALL.into_iter().find_map(|kind| {
                let of = target.as_str().strip_suffix(kind.suffix()).filter(|of| !of.is_empty())?;
                Some((Variable::new_unchecked(of), kind))
            });
            if let Some((of, kind)) = named {
                wanted.push((of, kind, target.clone()));
            }
        }
    }
    (languages, wanted)
}

/// Adds the labels of the service with the group `inner` to `group`; `language` replaces `[AUTO_LANGUAGE]`.
pub(crate) fn apply(
    functions: &mut Called,
    language: &str,
    group: QueryPattern,
    inner: &QueryPattern,
    projected: &[Variable],
) -> Result<QueryPattern, SparqlError> {
    let (languages, wanted) = requests(inner, language, projected);
    let scope = in_scope(&group);
    // Each label adds a node on top of the previous ones.
    Depth::chain(wanted.len()).check()?;
    let mut pattern = group;
    let mut made: Vec<Variable> = Vec::new();
    for (of, kind, target) in wanted {
        // A variable that is already bound keeps its value.
        if !scope.contains(&of) || scope.contains(&target) || made.contains(&target) {
            continue;
        }
        let constant = |text: &str| Expression::Literal(Literal::new_simple_literal(text));
        let arguments = vec![of.into(), constant(kind.suffix()), constant(&languages)];
        let expression = functions.own(OwnFunction::Label, arguments);
        made.push(target.clone());
        pattern = QueryPattern::extend(pattern, target, expression);
    }
    Ok(pattern)
}
