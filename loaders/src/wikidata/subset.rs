//! Applies a recipe to dumps in two passes. The first pass collects links between entities as pairs of numbers; the
//! second reads the selected entities.

use super::closure::{ClosureReport, LinkTable, QueryUses, close};
use super::model::{SnakType, ValueContent, WikidataEntity, WikidataRank, WikidataStatement};
use super::number::{Number, number};
use super::recipe::{Recipe, RecipeLists};
use super::value::entity_id;
use super::writer::{Converter, RdfShape};
use super::{WikidataOptions, WikidataSummary, entities, selected};
use crate::ReadProgress;
use crate::error::LoaderError;
use oxrdf::Triple;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use terrapin_base::bitmap::NumberBitmap;

/// IRI of the Earth's item.
const EARTH: &str = "http://www.wikidata.org/entity/Q2";

/// A fact that the first pass finds in an entity.
enum SurveyFact {
    Subclass(Number, Number),
    Instance(Number, Number),
    Link(Number, Number),
    InBox(Number),
    /// A link by a property that queries follow; 0 for a value that is no entity.
    QueryLink(Number, Number, Number),
    /// A property and the pattern that converts its identifiers to IRIs.
    Formatter(String, String),
}

/// A recipe while it is applied: all dumps are [surveyed](SubsetPlan::survey), then the entities are
/// [chosen](SubsetPlan::choose).
#[derive(Debug)]
pub struct SubsetPlan {
    recipe: Recipe,
    named: NumberBitmap,
    all: bool,
    follow: Option<BTreeSet<String>>,
    memory: u64,
    subclasses: Vec<(Number, Number)>,
    instances: Vec<(Number, Number)>,
    links: Vec<(Number, Number)>,
    uses: QueryUses,
    /// The properties that the queries follow.
    query_properties: BTreeSet<String>,
    query_links: LinkTable,
    converter: Converter,
}

impl SubsetPlan {
    /// Creates a plan for a recipe and its lists. `memory` limits the data kept from the dumps, in bytes.
    ///
    /// # Errors
    /// Returns the problem of an invalid recipe.
    pub fn new(recipe: &Recipe, lists: &RecipeLists, memory: u64) -> Result<Self, String> {
        recipe.check()?;
        let take = &recipe.take;
        let mut named = NumberBitmap::default();
        let ids = take.entities.iter().chain(&take.classes).chain(&lists.listed).chain(&lists.mentioned);
        for id in ids.chain(&lists.linked) {
            if let Some(number) = number(id) {
                named.insert(u64::from(number));
            }
        }
        let all = take.classes.is_empty()
            && take.entities.is_empty()
            && take.entities_from.is_empty()
            && take.boxes.is_empty()
            && take.queries_from.is_empty()
            && take.for_queries.is_empty()
            && !take.osm;
        let mentioned = || lists.mentioned.iter().filter(|id| id.starts_with('P')).cloned().collect();
        let follow = match &take.follow {
            Some(follow) => Some(follow.iter().cloned().collect()),
            None if take.queries_from.is_empty() => None,
            None => Some(mentioned()),
        };
        let set = |codes: &Option<Vec<String>>| codes.as_ref().map(|codes| codes.iter().cloned().collect());
        let converter = Converter {
            languages: set(&recipe.keep.languages),
            properties: set(&recipe.keep.properties),
            sites: set(&recipe.keep.sitelinks),
            qualifiers: set(&recipe.keep.qualifiers),
            without_references: recipe.keep.references == Some(false),
            ..Converter::new(RdfShape::Service)
        };
        Ok(Self {
            recipe: recipe.clone(),
            named,
            all,
            follow,
            memory,
            subclasses: Vec::new(),
            instances: Vec::new(),
            links: Vec::new(),
            query_properties: lists.uses.followed(),
            uses: lists.uses.clone(),
            query_links: LinkTable::default(),
            converter,
        })
    }

    /// Runs the first pass over a dump. `progress` is called with the position, on the calling thread. The summary
    /// counts all entities.
    ///
    /// # Errors
    /// Returns an error if the dump is broken, if the recipe needs more memory than the limit, or if `progress` returns
    /// one.
    pub fn survey<E: From<LoaderError> + Send>(
        &mut self,
        path: &Path,
        options: &WikidataOptions,
        mut progress: impl FnMut(ReadProgress) -> Result<(), E>,
    ) -> Result<WikidataSummary, E> {
        let Self {
            recipe,
            named,
            follow,
            memory,
            subclasses,
            instances,
            links,
            converter,
            query_properties,
            query_links,
            ..
        } = self;
        let (recipe, follow, query_properties) = (&*recipe, follow.as_ref(), &*query_properties);
        entities(
            path,
            options,
            |entity, facts| {
                look_at(recipe, follow, entity, facts);
                if !query_properties.is_empty() {
                    query_links_of(query_properties, entity, facts);
                }
                Ok(())
            },
            |facts, at| {
                for fact in facts {
                    match fact {
                        SurveyFact::Subclass(class, of) => subclasses.push((of, class)),
                        SurveyFact::Instance(item, of) => instances.push((item, of)),
                        SurveyFact::Link(from, to) => links.push((from, to)),
                        SurveyFact::QueryLink(property, from, to) => query_links.add(property, from, to),
                        SurveyFact::InBox(item) => {
                            named.insert(u64::from(item));
                        }
                        SurveyFact::Formatter(property, formatter) => {
                            // Of several patterns, keep the smallest, so that the order of the dumps does not matter.
                            let known = converter.formatters.entry(property).or_insert_with(|| formatter.clone());
                            if formatter < *known {
                                *known = formatter;
                            }
                        }
                    }
                }
                // The links of queries are sorted from both ends later.
                let pairs = subclasses.len() + instances.len() + links.len() + 2 * query_links.len();
                if (pairs * size_of::<(Number, Number)>()) as u64 > *memory {
                    let reason = "the recipe exceeds the memory limit; follow fewer properties or raise --memory";
                    return Err(LoaderError::Format { file: path.to_path_buf(), reason }.into());
                }
                progress(at)
            },
        )
    }

    /// Selects the entities after all dumps have been surveyed.
    pub fn choose(self) -> EntitySelection {
        let Self { mut named, all, mut subclasses, instances, links, recipe, converter, uses, query_links, .. } = self;
        let mut classes = NumberBitmap::default();
        let mut waiting: Vec<Number> = recipe.take.classes.iter().filter_map(|id| number(id)).collect();
        subclasses.sort_unstable();
        while let Some(class) = waiting.pop() {
            if classes.insert(u64::from(class)) {
                named.insert(u64::from(class));
                let first = subclasses.partition_point(|(of, _)| *of < class);
                let below = subclasses.iter().skip(first).take_while(|(of, _)| *of == class);
                waiting.extend(below.map(|(_, below)| *below));
            }
        }
        for (item, class) in instances {
            if classes.contains(u64::from(class)) {
                named.insert(u64::from(item));
            }
        }
        for _ in 0..recipe.take.steps {
            // Find all linked entities before adding any, so that the order of the links does not matter.
            let mut next = Vec::new();
            for (from, to) in &links {
                match (named.contains(u64::from(*from)), named.contains(u64::from(*to))) {
                    (true, false) => next.push(*to),
                    (false, true) => next.push(*from),
                    _ => {}
                }
            }
            for number in next {
                named.insert(u64::from(number));
            }
        }
        let closure = (uses.queries + uses.unread > 0).then(|| {
            let (taken, report) = close(&uses, query_links, recipe.take.open_links);
            taken.into_iter().for_each(|number| {
                named.insert(u64::from(number));
            });
            report
        });
        EntitySelection { chosen: (!all).then_some(named), properties: recipe.take.properties, converter, closure }
    }
}

/// The selected entities.
#[derive(Debug)]
pub struct EntitySelection {
    /// The chosen entities, or `None` for all.
    chosen: Option<NumberBitmap>,
    properties: bool,
    converter: Converter,
    closure: Option<ClosureReport>,
}

impl EntitySelection {
    /// Returns the report of the closure over queries, if the recipe has queries.
    pub fn closure(&self) -> Option<ClosureReport> {
        self.closure
    }

    /// Returns the number of chosen entities, whether the dumps have them or not, or `None` for all. Properties are
    /// counted only if they were chosen individually.
    pub fn len(&self) -> Option<u64> {
        self.chosen.as_ref().map(NumberBitmap::len)
    }

    /// Returns whether no entity was chosen.
    pub fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }

    /// Returns whether an entity was chosen individually, not as one of all properties.
    fn chose(&self, id: &str) -> bool {
        self.chosen.as_ref().is_none_or(|chosen| number(id).is_some_and(|number| chosen.contains(u64::from(number))))
    }

    fn takes(&self, id: &str) -> bool {
        match &self.chosen {
            None => self.properties || !id.starts_with('P'),
            Some(_) => self.properties && id.starts_with('P') || self.chose(id),
        }
    }

    /// Runs the second pass over a dump. `consume` receives the triples of the selected entities on the calling thread,
    /// in file order. The summary counts these entities, and those of them that were chosen individually.
    ///
    /// # Errors
    /// Returns an error if the dump is broken or `consume` returns one.
    pub fn read<E: From<LoaderError> + Send>(
        &self,
        path: &Path,
        options: &WikidataOptions,
        consume: impl FnMut(Vec<Triple>, ReadProgress) -> Result<(), E>,
    ) -> Result<WikidataSummary, E> {
        let chosen = AtomicU64::new(0);
        let convert = |entity: &WikidataEntity<'_>, triples: &mut Vec<Triple>| {
            chosen.fetch_add(u64::from(self.chose(&entity.id)), Ordering::Relaxed);
            self.converter.convert(entity, triples)
        };
        let summary = selected(path, options, |id| self.takes(id), convert, consume)?;
        Ok(WikidataSummary { chosen: chosen.into_inner(), ..summary })
    }
}

/// Collects the facts that the first pass needs of an entity.
fn look_at(
    recipe: &Recipe,
    follow: Option<&BTreeSet<String>>,
    entity: &WikidataEntity<'_>,
    facts: &mut Vec<SurveyFact>,
) {
    let Some(own) = number(&entity.id) else { return };
    let take = &recipe.take;
    let parts = entity.forms.iter().map(|form| &form.claims).chain(entity.senses.iter().map(|sense| &sense.claims));
    for (property, statements) in [&entity.claims].into_iter().chain(parts).flat_map(|claims| claims.iter()) {
        let property = &**property;
        let statements = statements.iter().filter(|statement| statement.rank != WikidataRank::Deprecated);
        for statement in statements {
            match property {
                "P31" if !take.classes.is_empty() => {
                    facts.extend(target(statement).map(|class| SurveyFact::Instance(own, class)));
                }
                "P279" if !take.classes.is_empty() => {
                    facts.extend(target(statement).map(|class| SurveyFact::Subclass(own, class)));
                }
                "P625" if !take.boxes.is_empty() && is_in(&take.boxes, statement) => facts.push(SurveyFact::InBox(own)),
                "P1921" if entity.id.starts_with('P') => {
                    let value = statement.mainsnak.datavalue.as_ref().and_then(|data| data.value.string.as_deref());
                    if let Some(formatter) = value {
                        facts.push(SurveyFact::Formatter(entity.id.to_string(), formatter.to_owned()));
                    }
                }
                _ => {}
            }
            if take.steps > 0 {
                let qualifiers = statement.qualifiers.iter().flat_map(|(_, snaks)| snaks.iter());
                for snak in [&statement.mainsnak].into_iter().chain(qualifiers) {
                    let followed = follow.is_none_or(|follow| follow.contains(&*snak.property));
                    let data = snak.datavalue.as_ref().filter(|_| followed && snak.snaktype == SnakType::Value);
                    let to = data.filter(|data| &*data.r#type == "wikibase-entityid").and_then(entity_id);
                    facts.extend(to.and_then(|to| number(&to)).map(|to| SurveyFact::Link(own, to)));
                }
            }
        }
    }
}

/// Collects the links of an entity by the properties that queries follow, in statements and qualifiers.
fn query_links_of(properties: &BTreeSet<String>, entity: &WikidataEntity<'_>, facts: &mut Vec<SurveyFact>) {
    let Some(own) = number(&entity.id) else { return };
    let statements = entity.claims.iter().flat_map(|(_, statements)| statements.iter());
    for statement in statements {
        let qualifiers = statement.qualifiers.iter().flat_map(|(_, snaks)| snaks.iter());
        for snak in [&statement.mainsnak].into_iter().chain(qualifiers) {
            let Some(property) = Some(&*snak.property).filter(|id| properties.contains(*id)).and_then(number) else {
                continue;
            };
            let data = snak.datavalue.as_ref().filter(|_| snak.snaktype == SnakType::Value);
            let entity = data.filter(|data| &*data.r#type == "wikibase-entityid").and_then(entity_id);
            let to = entity.and_then(|to| number(&to)).unwrap_or_default();
            facts.push(SurveyFact::QueryLink(property, own, to));
        }
    }
}

/// Returns the entity that is the value of a statement.
fn target(statement: &WikidataStatement<'_>) -> Option<Number> {
    let data = statement.mainsnak.datavalue.as_ref()?;
    if &*data.r#type == "wikibase-entityid" { number(&entity_id(data)?) } else { None }
}

fn is_in(boxes: &[[f64; 4]], statement: &WikidataStatement<'_>) -> bool {
    let Some(data) = &statement.mainsnak.datavalue else { return false };
    let ValueContent { parts, .. } = &data.value;
    let (Some(latitude), Some(longitude)) = (parts.latitude, parts.longitude) else { return false };
    let on_earth = parts.globe.as_deref().is_none_or(|globe| globe == EARTH);
    on_earth
        && boxes.iter().any(|[south, west, north, east]| {
            let between = if west <= east {
                (*west..=*east).contains(&longitude)
            } else {
                longitude >= *west || longitude <= *east
            };
            (*south..=*north).contains(&latitude) && between
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wikidata::recipe::Take;
    use crate::wikidata::value::is_id;

    fn item(id: &str, claims: &[(&str, &str)]) -> String {
        let claims: Vec<String> = claims
            .iter()
            .map(|(property, to)| {
                format!(
                    r#""{property}":[{{"id":"{id}$a","mainsnak":{{"snaktype":"value","property":"{property}",
                    "datavalue":{{"type":"wikibase-entityid","value":{{"id":"{to}"}}}}}}}}]"#
                )
                .replace('\n', "")
            })
            .collect();
        format!(r#"{{"type":"item","id":"{id}","claims":{{{}}}}},"#, claims.join(","))
    }

    fn taken(take: Take) -> Vec<String> {
        let place = r#"{"type":"item","id":"Q7","claims":{"P625":[{"id":"Q7$a","mainsnak":{"snaktype":"value",
            "property":"P625","datavalue":{"type":"globecoordinate","value":{"latitude":1,"longitude":179.5}}}}]}},"#;
        let lines = [
            "[".to_owned(),
            item("Q1", &[("P31", "Q20")]),
            item("Q2", &[("P31", "Q10"), ("P17", "Q3")]),
            item("Q3", &[("P36", "Q4")]),
            item("Q4", &[("P31", "Q99")]),
            item("Q10", &[]),
            item("Q20", &[("P279", "Q21")]),
            item("Q21", &[("P279", "Q10")]),
            place.replace('\n', ""),
            r#"{"type":"property","id":"P17","datatype":"wikibase-item"}"#.to_owned(),
            "]".to_owned(),
        ];
        let mut file = tempfile::NamedTempFile::new().unwrap();
        std::io::Write::write_all(&mut file, lines.join("\n").as_bytes()).unwrap();
        let recipe = Recipe { take, ..Recipe::default() };
        let mut plan = SubsetPlan::new(&recipe, &RecipeLists::default(), 1000).unwrap();
        plan.survey::<LoaderError>(file.path(), &WikidataOptions::default(), |_| Ok(())).unwrap();
        let selection = plan.choose();
        let mut ids = BTreeSet::new();
        let summary = selection.read::<LoaderError>(file.path(), &WikidataOptions::default(), |batch, _| {
            ids.extend(batch.iter().filter_map(|triple| {
                let subject = triple.subject.to_string();
                let id = subject.strip_prefix("<http://www.wikidata.org/entity/")?.strip_suffix('>')?;
                is_id(id).then(|| id.to_owned())
            }));
            Ok(())
        });
        assert_eq!(summary.unwrap().entities, ids.len() as u64);
        ids.into_iter().collect()
    }

    #[test]
    fn recipes_take_what_they_name() {
        let list = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
        let none = || Take { properties: false, ..Take::default() };
        assert_eq!(taken(Take { entities: list(&["Q4", "Q5"]), ..none() }), ["Q4"]);
        assert_eq!(taken(Take { entities: list(&["Q4"]), ..Take::default() }), ["P17", "Q4"]);
        assert_eq!(taken(none()).len(), 8);
        assert_eq!(taken(Take::default()).len(), 9);
        assert_eq!(taken(Take { classes: list(&["Q10"]), ..none() }), ["Q1", "Q10", "Q2", "Q20", "Q21"]);
        assert_eq!(taken(Take { boxes: vec![[0.0, 179.0, 2.0, -179.0]], ..none() }), ["Q7"]);
        assert!(taken(Take { boxes: vec![[0.0, -179.0, 2.0, 179.0]], ..none() }).is_empty());
        let steps = |steps, follow: Option<&[&str]>| {
            taken(Take { entities: list(&["Q3"]), steps, follow: follow.map(list), ..none() })
        };
        assert_eq!(steps(1, None), ["Q2", "Q3", "Q4"]);
        assert_eq!(steps(1, Some(&["P36"])), ["Q3", "Q4"]);
        assert_eq!(steps(2, None), ["Q10", "Q2", "Q3", "Q4"]);
    }

    #[test]
    fn numbers_keep_kinds_apart() {
        let all = ["Q1", "P1", "L1", "Q2147483647", "P1073741823", "L1073741823"];
        let numbers: BTreeSet<_> = all.into_iter().map(|id| number(id).unwrap()).collect();
        assert_eq!(numbers.len(), all.len());
        assert_eq!(number("L1-F2"), number("L1"));
        assert_eq!((number("Q2147483648"), number("P1073741824"), number("E1"), number("Q")), (None, None, None, None));
    }
}
