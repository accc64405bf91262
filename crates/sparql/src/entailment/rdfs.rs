//! The triples that follow by RDFS, as relations without the stored triples of the same predicate.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::schema::{Direction, RdfsSchema};
use crate::elements::{none, one, or_failed};
use terrapin_triples::{End, Pairs, ReadError, TermId, TermKind, TermRelation, TripleView};

/// Bytes for a term in a cached list.
const TERM_BYTES: i64 = 8;

/// Estimates the number of triples with a predicate.
pub(super) fn expected(view: &TripleView, predicate: TermId, subject: End, object: End) -> f64 {
    let store = view.store();
    let counts = store.predicate(predicate);
    let all = counts.triples as f64;
    let given = |end| if let End::Term(term) = end { Some(term) } else { None };
    let known = store.count(given(subject), Some(predicate), given(object)) as f64;
    let share = |end, distinct: u64| if end == End::Bound { 1.0 / distinct.max(1) as f64 } else { 1.0 };
    known.min(all) * share(subject, counts.subjects) * share(object, counts.objects)
}

/// Returns the value of a cell; computes it if this is the first call.
fn get_or_try_init<T>(cell: &OnceCell<T>, value: impl FnOnce() -> Result<T, ReadError>) -> Result<&T, ReadError> {
    if let Some(value) = cell.get() {
        return Ok(value);
    }
    let value = value()?;
    Ok(cell.get_or_init(|| value))
}

/// Returns whether a term can have a type: literals and triple terms are no subjects of triples.
fn can_be_subject(view: &TripleView, term: TermId) -> Result<bool, ReadError> {
    Ok(matches!(view.kind(term)?, TermKind::Iri | TermKind::BlankNode))
}

/// The pairs of a property that only its subproperties have (rdfs7).
pub(super) struct InheritedPairs {
    property: TermId,
    below: Vec<TermId>,
}

impl InheritedPairs {
    pub(super) fn new(property: TermId, below: Vec<TermId>) -> InheritedPairs {
        InheritedPairs { property, below }
    }
}

impl TermRelation for InheritedPairs {
    fn pairs<'a>(&'a self, view: &'a TripleView, subject: Option<TermId>, object: Option<TermId>) -> Pairs<'a> {
        Box::new(self.below.iter().enumerate().flat_map(move |(at, property)| {
            let earlier = self.below.get(..at).unwrap_or_default();
            view.triples(subject, Some(*property), object).filter_map(move |triple| match triple {
                Ok([s, _, o]) => {
                    let mut others = [self.property].into_iter().chain(earlier.iter().copied());
                    (!others.any(|other| view.has(s, other, o))).then_some(Ok((s, o)))
                }
                Err(error) => Some(Err(error)),
            })
        }))
    }

    fn estimate(&self, view: &TripleView, subject: End, object: End) -> f64 {
        self.below.iter().map(|property| expected(view, *property, subject, object)).sum()
    }
}

/// Terms and classes: the types that follow from other types, domains and ranges (rdfs2, 3, 9).
pub(super) struct EntailedTypes {
    schema: RdfsSchema,
    /// The sources and the instances of classes so far.
    classes: RefCell<FxHashMap<TermId, Rc<ClassSources>>>,
    instances: RefCell<FxHashMap<TermId, Rc<[TermId]>>>,
    /// The classes that properties give to their subjects and to their objects.
    by_property: OnceCell<[ClassesByProperty; 2]>,
    /// All classes.
    known: OnceCell<BTreeSet<TermId>>,
}

/// The classes of a property's subjects, or those of its objects.
type ClassesByProperty = FxHashMap<TermId, BTreeSet<TermId>>;

/// The stored triples that make a term an instance of a class.
struct ClassSources {
    /// The class and those below it.
    classes: BTreeSet<TermId>,
    /// Properties whose subjects are instances.
    subjects_of: BTreeSet<TermId>,
    /// Properties whose objects are instances.
    objects_of: BTreeSet<TermId>,
}

impl EntailedTypes {
    pub(super) fn new(schema: RdfsSchema) -> EntailedTypes {
        EntailedTypes {
            schema,
            classes: RefCell::default(),
            instances: RefCell::default(),
            by_property: OnceCell::new(),
            known: OnceCell::new(),
        }
    }

    /// Returns the classes of the subjects of each property, and those of its objects.
    fn by_property(&self, view: &TripleView) -> Result<&[ClassesByProperty; 2], ReadError> {
        get_or_try_init(&self.by_property, || {
            let RdfsSchema { domain, range, .. } = self.schema;
            Ok([self.schema.classes_by_property(view, domain)?, self.schema.classes_by_property(view, range)?])
        })
    }

    fn sources(&self, view: &TripleView, class: TermId) -> Result<Rc<ClassSources>, ReadError> {
        if let Some(sources) = self.classes.borrow().get(&class) {
            return Ok(Rc::clone(sources));
        }
        let schema = &self.schema;
        let classes = RdfsSchema::closure(view, schema.sub_class, [class], Direction::Down)?;
        let subjects_of = schema.properties_of(view, schema.domain, &classes)?;
        let objects_of = schema.properties_of(view, schema.range, &classes)?;
        view.hold(4 * TERM_BYTES * (classes.len() + subjects_of.len() + objects_of.len() + 8) as i64)?;
        let sources = Rc::new(ClassSources { classes, subjects_of, objects_of });
        self.classes.borrow_mut().insert(class, Rc::clone(&sources));
        Ok(sources)
    }

    /// Returns whether a term is an instance of a class.
    fn is_instance(&self, view: &TripleView, term: TermId, class: TermId) -> Result<bool, ReadError> {
        view.work(1)?;
        if view.has(term, self.schema.r#type, class) {
            return Ok(false);
        }
        let sources = self.sources(view, class)?;
        let is_subject = |property: &TermId| view.triples(Some(term), Some(*property), None).next().is_some();
        let is_object = |property: &TermId| view.triples(None, Some(*property), Some(term)).next().is_some();
        Ok(sources.classes.iter().any(|class| view.has(term, self.schema.r#type, *class))
            || sources.subjects_of.iter().any(is_subject)
            || (sources.objects_of.iter().any(is_object) && can_be_subject(view, term)?))
    }

    /// Returns the instances of a class that are not stored as such, ascending.
    fn instances(&self, view: &TripleView, class: TermId) -> Result<Rc<[TermId]>, ReadError> {
        if let Some(instances) = self.instances.borrow().get(&class) {
            return Ok(Rc::clone(instances));
        }
        let sources = self.sources(view, class)?;
        let mut instances = BTreeSet::new();
        let mut add = |term: TermId| -> Result<(), ReadError> {
            if instances.insert(term) { view.hold(4 * TERM_BYTES) } else { Ok(()) }
        };
        for below in sources.classes.iter().filter(|below| **below != class) {
            for triple in view.triples(None, Some(self.schema.r#type), Some(*below)) {
                add(triple?[0])?;
            }
        }
        for property in &sources.subjects_of {
            for triple in view.triples(None, Some(*property), None) {
                add(triple?[0])?;
            }
        }
        for property in &sources.objects_of {
            for triple in view.triples(None, Some(*property), None) {
                let [_, _, object] = triple?;
                if can_be_subject(view, object)? {
                    add(object)?;
                }
            }
        }
        let number = instances.len() as i64;
        let is_new = |term: &TermId| !view.has(*term, self.schema.r#type, class);
        let instances: Rc<[TermId]> = instances.into_iter().filter(is_new).collect();
        view.hold(TERM_BYTES * (instances.len() as i64 - 4 * number))?;
        self.instances.borrow_mut().insert(class, Rc::clone(&instances));
        Ok(instances)
    }

    /// Returns the classes of a term that are not stored as such, ascending.
    fn types(&self, view: &TripleView, term: TermId) -> Result<BTreeSet<TermId>, ReadError> {
        let schema = &self.schema;
        let mut stored = BTreeSet::new();
        for triple in view.triples(Some(term), Some(schema.r#type), None) {
            stored.insert(triple?[2]);
        }
        let mut classes = stored.clone();
        let [of_subjects, of_objects] = self.by_property(view)?;
        let mut add = |properties: &ClassesByProperty, subject, object| -> Result<(), ReadError> {
            for (property, of_property) in properties {
                view.work(1)?;
                if view.triples(subject, Some(*property), object).next().transpose()?.is_some() {
                    classes.extend(of_property);
                }
            }
            Ok(())
        };
        add(of_subjects, Some(term), None)?;
        if !of_objects.is_empty() && can_be_subject(view, term)? {
            add(of_objects, None, Some(term))?;
        }
        let all = RdfsSchema::closure(view, schema.sub_class, classes, Direction::Up)?;
        Ok(all.difference(&stored).copied().collect())
    }

    fn found<'a>(
        &'a self,
        view: &'a TripleView,
        subject: Option<TermId>,
        object: Option<TermId>,
    ) -> Result<Pairs<'a>, ReadError> {
        Ok(match (subject, object) {
            (Some(term), Some(class)) => one(self.is_instance(view, term, class)?.then_some((term, class))),
            (Some(term), None) => Box::new(self.types(view, term)?.into_iter().map(move |class| Ok((term, class)))),
            (None, Some(class)) => {
                let instances = self.instances(view, class)?;
                Box::new((0..instances.len()).filter_map(move |at| Some(Ok((*instances.get(at)?, class)))))
            }
            (None, None) => {
                let classes = get_or_try_init(&self.known, || self.schema.known(view, self.schema.sub_class))?;
                Box::new(classes.iter().flat_map(move |class| or_failed(self.found(view, None, Some(*class)))))
            }
        })
    }
}

impl TermRelation for EntailedTypes {
    fn pairs<'a>(&'a self, view: &'a TripleView, subject: Option<TermId>, object: Option<TermId>) -> Pairs<'a> {
        or_failed(self.found(view, subject, object))
    }

    fn estimate(&self, view: &TripleView, subject: End, object: End) -> f64 {
        let End::Term(class) = object else { return expected(view, self.schema.r#type, subject, object) + 1.0 };
        let Ok(sources) = self.sources(view, class) else { return 1.0 };
        let types = sources.classes.iter().map(|class| expected(view, self.schema.r#type, subject, End::Term(*class)));
        let of_subjects = sources.subjects_of.iter().map(|property| expected(view, *property, subject, End::Free));
        let of_objects = sources.objects_of.iter().map(|property| expected(view, *property, End::Free, subject));
        types.chain(of_subjects).chain(of_objects).sum()
    }
}

/// The pairs of `rdfs:subClassOf` or `rdfs:subPropertyOf` over several steps, and of each class or property with itself
/// (rdfs5, 6, 10, 11).
pub(super) struct HierarchyPairs {
    schema: RdfsSchema,
    hierarchy: TermId,
    /// All classes, or all properties.
    known: OnceCell<BTreeSet<TermId>>,
}

impl HierarchyPairs {
    pub(super) fn new(schema: RdfsSchema, hierarchy: TermId) -> HierarchyPairs {
        HierarchyPairs { schema, hierarchy, known: OnceCell::new() }
    }

    fn known(&self, view: &TripleView) -> Result<&BTreeSet<TermId>, ReadError> {
        get_or_try_init(&self.known, || self.schema.known(view, self.hierarchy))
    }

    /// Returns the terms above or below one that are not stored as such, ascending.
    fn others(&self, view: &TripleView, term: TermId, direction: Direction) -> Result<Vec<TermId>, ReadError> {
        let mut all = RdfsSchema::closure(view, self.hierarchy, [term], direction)?;
        if all.len() == 1 && !self.known(view)?.contains(&term) {
            all.clear();
        }
        let is_new = |other: &TermId| match direction {
            Direction::Up => !view.has(term, self.hierarchy, *other),
            Direction::Down => !view.has(*other, self.hierarchy, term),
        };
        Ok(all.into_iter().filter(is_new).collect())
    }

    fn found<'a>(
        &'a self,
        view: &'a TripleView,
        subject: Option<TermId>,
        object: Option<TermId>,
    ) -> Result<Pairs<'a>, ReadError> {
        Ok(match (subject, object) {
            (Some(below), Some(above)) => {
                let holds = self.others(view, below, Direction::Up)?.contains(&above);
                if holds { one(Some((below, above))) } else { none() }
            }
            (Some(below), None) => {
                let above = self.others(view, below, Direction::Up)?;
                Box::new(above.into_iter().map(move |above| Ok((below, above))))
            }
            (None, Some(above)) => {
                let below = self.others(view, above, Direction::Down)?;
                Box::new(below.into_iter().map(move |below| Ok((below, above))))
            }
            (None, None) => {
                let all = self.known(view)?;
                Box::new(all.iter().flat_map(move |below| or_failed(self.found(view, Some(*below), None))))
            }
        })
    }
}

impl TermRelation for HierarchyPairs {
    fn pairs<'a>(&'a self, view: &'a TripleView, subject: Option<TermId>, object: Option<TermId>) -> Pairs<'a> {
        or_failed(self.found(view, subject, object))
    }

    fn estimate(&self, view: &TripleView, subject: End, object: End) -> f64 {
        2.0 * expected(view, self.hierarchy, subject, object) + 1.0
    }
}
