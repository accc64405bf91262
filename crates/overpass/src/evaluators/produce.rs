//! Assigns the properties of the new elements of `make` and `convert`.

use super::code::CompiledEvaluator;
use super::compile::has_no_value;
use super::environment::EvaluatorEnvironment;
use super::eval::eval;
use super::scope::{EvaluationScope, Subject, keys};
use super::value::EvaluatorValue;
use crate::OverpassFailure;
use crate::reader::StoreReader;
use crate::set::{Derived, DerivedGeometry};
use crate::syntax::{Property, PropertyTarget};

/// The compiled properties of a statement.
pub(super) struct Producer<'p> {
    type_name: &'p str,
    properties: Vec<(&'p PropertyTarget, Option<CompiledEvaluator>)>,
}

impl<'p> Producer<'p> {
    pub fn new(
        environment: EvaluatorEnvironment<'_>,
        type_name: &'p str,
        properties: &'p [Property],
    ) -> Result<Self, OverpassFailure> {
        let ready = |property: &'p Property| {
            let value = property.value.as_ref().filter(|value| !has_no_value(environment, value));
            let code = value.map(|value| CompiledEvaluator::new(environment, value)).transpose()?;
            Ok((&property.target, code))
        };
        Ok(Producer { type_name, properties: properties.iter().map(ready).collect::<Result<_, OverpassFailure>>()? })
    }

    /// Creates the element from `subject`. If no id is set, it gets the next one.
    pub fn produce(&self, reader: &mut StoreReader<'_>, subject: Subject<'_>, last_id: &mut i64) -> Derived {
        let scope = EvaluationScope::from(subject);
        let (mut id, mut tags, mut geometry) = (None, Vec::new(), None);
        for (target, code) in &self.properties {
            let Some(code) = code else { continue };
            match target {
                PropertyTarget::Tag(key) => tags.push((key.clone(), eval(reader, code, scope).into_text())),
                PropertyTarget::Id => id = eval(reader, code, scope).int(),
                PropertyTarget::Geometry => geometry = shape(eval(reader, code, scope)),
                PropertyTarget::Generic => self.generic(reader, code, scope, &mut tags),
            }
        }
        let id = id.unwrap_or_else(|| {
            *last_id = last_id.wrapping_add(1);
            *last_id
        });
        Derived { type_name: self.type_name.to_owned(), id, tags, geometry }
    }

    /// Evaluates `:: = ...`: a property for every key of the element that no other property names.
    fn generic(
        &self,
        reader: &mut StoreReader<'_>,
        code: &CompiledEvaluator,
        scope: EvaluationScope<'_>,
        tags: &mut Vec<(String, String)>,
    ) {
        for key in keys(reader, scope.subject) {
            let named = |target: &PropertyTarget| matches!(target, PropertyTarget::Tag(name) if *name == key);
            if !self.properties.iter().any(|(target, _)| named(target)) {
                let value = eval(reader, code, EvaluationScope { key: Some(&key), ..scope }).into_text();
                tags.push((key, value));
            }
        }
    }
}

fn shape(value: EvaluatorValue) -> Option<DerivedGeometry> {
    match value {
        EvaluatorValue::Shape(shape) => shape.map(|shape| *shape),
        _ => None,
    }
}
