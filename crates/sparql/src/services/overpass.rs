//! `SERVICE terrapin:overpass`: the elements that an OverpassQL query prints, for users who already have such a query.
//!
//! ```sparql
//! SERVICE terrapin:overpass { [] terrapin:query "node[amenity=cafe];out;"; terrapin:element ?cafe; terrapin:wkt ?place }
//! ```

use oxrdf::{Literal, Term, Variable};

use super::shared::{ground, work};
use super::{Result, ServiceParameters, ServiceReplacement, SolutionRows, SparqlService};
use crate::elements::{ElementNode, Session, element_iri};
use crate::environment::Environment;
use crate::guard::exceeded;
use crate::row::Row;
use std::sync::atomic::Ordering::Relaxed;
use terrapin_budget::Budget;
use terrapin_osm::ElementType;
use terrapin_osm::areas::{RELATION_AREAS, WAY_AREAS};
use terrapin_overpass::output::{RecordingCursor, RecordingEntry, RecordingScratch};
use terrapin_overpass::{self as overpass, OverpassFailure};
use terrapin_sparql_syntax::algebra::{NamedNodePattern, TermPattern};
use terrapin_sparql_syntax::error::{SparqlCode, SparqlError, SparqlErrorClass};
use terrapin_sparql_syntax::vocabulary::TERRAPIN;

/// The service.
pub(super) const SERVICE: SparqlService = SparqlService {
    name: "terrapin:overpass",
    iri: (TERRAPIN, "overpass"),
    // The subject of its parameters is a blank node.
    parameters: "",
    rewrite: |_, parameters| Ok(ServiceReplacement::rows(Overpass::new(&parameters)?)),
};

/// The content of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OverpassServiceColumn {
    Element,
    Type,
    Id,
    Wkt,
    Centroid,
    Ordinal,
}

const OUTPUTS: [(&str, OverpassServiceColumn); 5] = [
    ("element", OverpassServiceColumn::Element),
    ("type", OverpassServiceColumn::Type),
    ("id", OverpassServiceColumn::Id),
    ("wkt", OverpassServiceColumn::Wkt),
    ("centroid", OverpassServiceColumn::Centroid),
];

/// An Overpass query and the columns taken from its result.
#[derive(Debug)]
struct Overpass {
    query: String,
    outputs: Vec<(Variable, OverpassServiceColumn)>,
}

/// Converts the failure of the Overpass query, with all its diagnostics.
fn refused(failure: &OverpassFailure) -> SparqlError {
    let (class, code) = match failure.diagnostics.first().map(|diagnostic| diagnostic.class) {
        _ if failure.is_fault() => (SparqlErrorClass::Internal, SparqlCode::Relation),
        Some(overpass::DiagnosticClass::Parse | overpass::DiagnosticClass::Static) => {
            (SparqlErrorClass::Syntax, SparqlCode::ServiceParameter)
        }
        _ => (SparqlErrorClass::Unsupported, SparqlCode::ServiceParameter),
    };
    SparqlError::new(class, code, format!("the query of terrapin:overpass: {failure}"))
}

impl Overpass {
    /// Reads the service's parameters and checks its query.
    fn new(parameters: &ServiceParameters) -> Result<Overpass> {
        let (mut query, mut outputs) = (None, Vec::new());
        for triple in &parameters.triples {
            let NamedNodePattern::NamedNode(predicate) = &triple.predicate else { continue };
            let name = predicate.as_str().strip_prefix(TERRAPIN).unwrap_or(predicate.as_str());
            if name == "query" {
                let Some(Term::Literal(text)) = ground(&triple.object) else {
                    return Err(parameters.wrong("terrapin:overpass takes a text for terrapin:query".to_owned()));
                };
                query = Some(text.value().to_owned());
                continue;
            }
            let Some((_, output)) = OUTPUTS.iter().find(|(known, _)| *known == name) else {
                let names: Vec<&str> = OUTPUTS.iter().map(|(name, _)| *name).collect();
                let message = format!("terrapin:overpass has no {name}; it has query, {}", names.join(", "));
                return Err(parameters.wrong(message));
            };
            let TermPattern::Variable(variable) = &triple.object else {
                return Err(parameters.wrong(format!("terrapin:overpass: {name} must be a variable")));
            };
            if outputs.iter().any(|(other, _)| other == variable) {
                return Err(parameters.wrong(format!("terrapin:overpass: {variable} is requested twice")));
            }
            outputs.push((variable.clone(), *output));
        }
        let query =
            query.ok_or_else(|| parameters.wrong("terrapin:overpass needs the parameter terrapin:query".to_owned()))?;
        overpass::parse(&query).map_err(|failure| refused(&failure))?;
        Ok(Overpass { query, outputs })
    }

    fn row(&self, session: &Session, number: usize, of: (ElementType, i64)) -> Row {
        let (kind, id) = of;
        let element = session.osm().find(kind, id).map(|ordinal| ElementNode { kind, ordinal });
        let wanted = |output| self.outputs.iter().any(|(_, other)| *other == output);
        let shape = (wanted(OverpassServiceColumn::Wkt) || wanted(OverpassServiceColumn::Centroid))
            .then(|| element.and_then(|element| session.make_shape(element)))
            .flatten();
        let value = |output| -> Option<Term> {
            Some(match output {
                OverpassServiceColumn::Element => element_iri(kind, id).into(),
                OverpassServiceColumn::Type => Literal::new_simple_literal(kind.name()).into(),
                OverpassServiceColumn::Id => Literal::from(id).into(),
                OverpassServiceColumn::Wkt => shape.as_ref()?.wkt()?.into(),
                OverpassServiceColumn::Centroid => shape.as_ref()?.centroid()?.into(),
                OverpassServiceColumn::Ordinal => Literal::from(number as i64).into(),
            })
        };
        self.outputs.iter().map(|(_, output)| value(*output)).collect()
    }
}

/// Returns the element of a result item; an area maps to the way or relation that it is built from.
fn element(type_name: &str, id: i64) -> Option<(ElementType, i64)> {
    if type_name == "area" {
        let relation = id.checked_sub(RELATION_AREAS).filter(|id| *id > 0);
        return relation
            .map(|id| (ElementType::Relation, id))
            .or_else(|| Some((ElementType::Way, id.checked_sub(WAY_AREAS).filter(|id| *id > 0)?)));
    }
    ElementType::ALL.into_iter().find(|kind| kind.name() == type_name).map(|kind| (kind, id))
}

impl SolutionRows for Overpass {
    fn variables(&self) -> Vec<Variable> {
        self.outputs.iter().map(|(variable, _)| variable.clone()).collect()
    }

    fn show_order(&mut self, variable: Variable) {
        self.outputs.push((variable, OverpassServiceColumn::Ordinal));
    }

    fn is_of_elements(&self) -> bool {
        true
    }

    fn rows(&self, environment: &Environment, budget: &Budget) -> Result<Vec<Row>> {
        let Some(elements) = &environment.elements else {
            let message = "terrapin:overpass: this snapshot has no elements of OpenStreetMap";
            return Err(SparqlError::new(SparqlErrorClass::Unsupported, SparqlCode::UnknownService, message));
        };
        let script = overpass::parse(&self.query).map_err(|failure| refused(&failure))?;
        let limits = budget.rest();
        let answer = overpass::record(elements.osm(), &script, &limits);
        budget.work(limits.work_done.load(Relaxed)).map_err(exceeded)?;
        let answer = answer.map_err(|failure| refused(&failure))?;
        let session = Session::new(elements);
        let (mut cursor, mut scratch, mut rows) = (RecordingCursor::default(), RecordingScratch::default(), Vec::new());
        let look = |entry: RecordingEntry<'_>| match entry {
            RecordingEntry::Element(item) => item.id.and_then(|id| element(item.type_name, id)),
            RecordingEntry::Count(_) | RecordingEntry::Action(_) => None,
        };
        while let Some(found) = answer.next(&mut cursor, &mut scratch, look) {
            work(budget, 1)?;
            rows.extend(found.map(|of| self.row(&session, rows.len(), of)));
        }
        Ok(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_are_what_they_are_made_from() {
        assert_eq!(element("area", 3_600_000_031), Some((ElementType::Relation, 31)));
        assert_eq!(element("area", 2_400_000_021), Some((ElementType::Way, 21)));
        assert_eq!(element("way", 21), Some((ElementType::Way, 21)));
        assert_eq!(element("thing", 1), None);
    }
}
