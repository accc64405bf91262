//! Lists the identifiers of a query: the keys and the tags that it names.

use std::collections::BTreeSet;

use crate::syntax::{
    EvaluatorExpression, EvaluatorFunction, ExprKind, FilterKind, PropertyTarget, Script, StatementKind, Tag,
    on_statements,
};

/// A key, or a tag with a key and a value.
pub type TagIdentifier = (String, Option<String>);

/// Returns the keys and tags in a query's filters and evaluators, without those in regular expressions for keys or
/// values, and without the keys that the query itself makes.
pub fn identifiers(script: &Script) -> BTreeSet<TagIdentifier> {
    let mut found = BTreeSet::new();
    let mut made: BTreeSet<&str> = BTreeSet::new();
    on_statements(&script.statements, &mut |statement| {
        let properties = match &statement.kind {
            StatementKind::Query(query) => {
                query.filters.iter().for_each(|filter| of_filter(&filter.kind, &mut found));
                return;
            }
            StatementKind::Make(make) => make.properties.as_slice(),
            StatementKind::Convert(convert) => convert.properties.as_slice(),
            _ => &[],
        };
        made.extend(properties.iter().filter_map(|property| match &property.target {
            PropertyTarget::Tag(key) => Some(key.as_str()),
            _ => None,
        }));
        statement.kind.expressions().into_iter().for_each(|expression| of_expression(expression, &mut found));
    });
    found.retain(|(key, _)| !made.contains(key.as_str()));
    found
}

fn of_filter(filter: &FilterKind, found: &mut BTreeSet<TagIdentifier>) {
    match filter {
        FilterKind::Tag(tag) => match tag {
            Tag::HasKey { key } | Tag::NotKey { key } | Tag::Matches { key, .. } | Tag::NotMatches { key, .. } => {
                found.insert((key.clone(), None));
            }
            Tag::Equals { key, value } | Tag::NotEquals { key, value } => {
                found.insert((key.clone(), None));
                found.insert((key.clone(), Some(value.clone())));
            }
            Tag::KeyMatches { .. } | Tag::KeyNotMatches { .. } => {}
        },
        kind => kind.expression().into_iter().for_each(|expression| of_expression(expression, found)),
    }
}

fn of_expression(expression: &EvaluatorExpression, found: &mut BTreeSet<TagIdentifier>) {
    let mut key = |expression: &EvaluatorExpression| {
        if let ExprKind::Fixed(key) = &expression.kind {
            found.insert((key.clone(), None));
        }
    };
    match &expression.kind {
        ExprKind::Tag(name) => {
            key(name);
            of_expression(name, found);
        }
        ExprKind::Call { function, args, .. } => {
            if *function == EvaluatorFunction::IsTag {
                args.iter().for_each(key);
            }
            args.iter().for_each(|arg| of_expression(arg, found));
        }
        ExprKind::Unary { operand, .. } => of_expression(operand, found),
        ExprKind::Binary { left, right, .. } => {
            of_expression(left, found);
            of_expression(right, found);
        }
        ExprKind::Ternary { condition, then, otherwise } => {
            [condition, then, otherwise].into_iter().for_each(|part| of_expression(part, found));
        }
        ExprKind::Fixed(_) | ExprKind::GenericTag | ExprKind::SetKey { .. } => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_tags_are_listed_once() {
        let query = "node[a=b][c~d][!e](if:t[\"f\"]>1&&is_tag(\"g\"));way[a=b][~x~y];out;";
        let found = identifiers(&crate::parse(query).unwrap());
        let names: Vec<String> = found
            .iter()
            .map(|(key, value)| value.as_ref().map_or_else(|| key.clone(), |value| format!("{key}={value}")))
            .collect();
        assert_eq!(names, ["a", "a=b", "c", "e", "f", "g"]);
    }

    #[test]
    fn keys_that_the_query_makes_are_its_own() {
        let query = "node[a];make stat total=count(nodes);nwr._(if:t[\"total\"]>1);out;";
        let found = identifiers(&crate::parse(query).unwrap());
        assert_eq!(found.into_iter().map(|(key, _)| key).collect::<Vec<_>>(), ["a"]);
    }
}
