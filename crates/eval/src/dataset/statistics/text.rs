//! Prints the statistics for people.

use std::fmt;

use super::{
    DatasetStatistics, Distribution, FeatureCount, HistogramBin, OverpassStatistics, ResultStatistics, SparqlStatistics,
};

/// The width of the longest bar of a histogram.
const BAR: usize = 40;

fn line(f: &mut fmt::Formatter<'_>, name: &str, value: impl fmt::Display) -> fmt::Result {
    writeln!(f, "{name:<24} {value}")
}

fn counts<'a>(counts: impl IntoIterator<Item = (&'a str, usize)>) -> String {
    let texts: Vec<String> = counts.into_iter().map(|(name, count)| format!("{count} {name}")).collect();
    if texts.is_empty() { "0".to_owned() } else { texts.join(", ") }
}

fn summary(f: &mut fmt::Formatter<'_>, name: &str, numbers: Option<&Distribution>) -> fmt::Result {
    let Some(Distribution { mean, min, q1, median, q3, max, .. }) = numbers else { return Ok(()) };
    line(f, name, format_args!("mean {mean:.1}; {min}, {q1}, {median}, {q3}, {max} (minimum, quartiles, maximum)"))
}

fn histogram(f: &mut fmt::Formatter<'_>, name: &str, numbers: Option<&Distribution>) -> fmt::Result {
    let Some(numbers) = numbers else { return Ok(()) };
    writeln!(f, "\n{name}")?;
    let most = numbers.histogram.iter().map(|bin| bin.count).max().unwrap_or(0).max(1);
    for HistogramBin { from, to, count } in &numbers.histogram {
        let range = if from == to { from.to_string() } else { format!("{from}-{to}") };
        let bar = "#".repeat((count * BAR).div_ceil(most));
        writeln!(f, "  {range:>20} {count:>7} {bar}")?;
    }
    Ok(())
}

/// Prints the figures in the order of OverpassNL's section 4, then those of SPARQL and of the results.
impl fmt::Display for DatasetStatistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = |map: &std::collections::BTreeMap<String, usize>| {
            counts(map.iter().map(|(name, count)| (name.as_str(), *count)))
        };
        line(f, "instances", format_args!("{} ({})", self.instances, named(&self.splits)))?;
        line(f, "languages", named(&self.languages))?;
        let questions = &self.questions;
        line(f, "questions", format_args!("{} ({} different)", questions.questions, questions.distinct))?;
        let (words, plain) = (questions.distinct_words, questions.distinct_plain_words);
        line(f, "different words", format_args!("{words} ({plain} in lower case without punctuation)"))?;
        summary(f, "question characters", questions.characters.as_ref())?;
        summary(f, "question words", questions.words.as_ref())?;
        line(f, "different queries", self.queries.distinct)?;
        summary(f, "query characters", self.queries.characters.as_ref())?;
        if let Some(templates) = self.queries.named_templates {
            line(f, "named templates", templates)?;
        }
        if !self.classes.is_empty() {
            line(f, "classes", named(&self.classes))?;
        }
        if let Some(overpass) = &self.overpassql {
            fmt::Display::fmt(overpass, f)?;
        }
        if let Some(sparql) = &self.sparql {
            fmt::Display::fmt(sparql, f)?;
        }
        histogram(f, "question characters", questions.characters.as_ref())?;
        histogram(f, "query characters", self.queries.characters.as_ref())?;
        histogram(f, "syntactic units", self.overpassql.as_ref().and_then(|overpass| overpass.units.as_ref()))?;
        histogram(f, "triple patterns", self.sparql.as_ref().and_then(|sparql| sparql.triple_patterns.as_ref()))?;
        self.results.as_ref().map_or(Ok(()), |results| fmt::Display::fmt(results, f))
    }
}

impl fmt::Display for OverpassStatistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\nOverpassQL")?;
        line(f, "queries", format_args!("{} ({} invalid)", self.queries, self.invalid))?;
        summary(f, "syntactic units", self.units.as_ref())?;
        summary(f, "elements of XML form", self.elements.as_ref())?;
        summary(f, "subtrees without names", self.distinct_subtrees.as_ref())?;
        line(f, "templates", self.templates)?;
        line(f, "keys, values, pairs", format_args!("{}, {}, {}", self.keys, self.values, self.pairs))?;
        line(f, "most frequent keys", counts(self.top_keys.iter().map(|(key, count)| (key.as_str(), *count))))?;
        line(f, "shortcuts", counts(self.shortcuts.iter().map(|(name, count)| (name.as_str(), *count))))?;
        let (used, common, total) = (self.features_used, self.features_common, self.features_total);
        line(f, "features", format_args!("{used} of {total} occur, {common} in at least 20 queries"))?;
        let mut features: Vec<&FeatureCount> = self.features.iter().collect();
        features.sort_by_key(|feature| std::cmp::Reverse(feature.queries));
        for FeatureCount { name, group, queries, share } in features {
            writeln!(f, "  {name:<14} {group:<10} {queries:>7} {:>6.1} %", 100.0 * share)?;
        }
        Ok(())
    }
}

impl fmt::Display for SparqlStatistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = |names: &[(String, usize)]| counts(names.iter().map(|(name, count)| (name.as_str(), *count)));
        writeln!(f, "\nSPARQL")?;
        line(f, "queries", self.queries)?;
        line(f, "invalid", counts(self.invalid.iter().map(|(name, count)| (*name, *count))))?;
        line(f, "query forms", counts(self.forms.iter().map(|(name, count)| (*name, *count))))?;
        summary(f, "triple patterns", self.triple_patterns.as_ref())?;
        line(f, "templates", self.templates)?;
        let (entities, predicates, classes) = (self.entities, self.predicates, self.classes);
        line(f, "entities", entities)?;
        line(f, "predicates", format_args!("{predicates}: {}", named(&self.top_predicates)))?;
        line(f, "classes of items", format_args!("{classes}: {}", named(&self.top_classes)))?;
        line(f, "complexity", counts(self.complexity.iter().map(|(name, count)| (*name, *count))))?;
        for (given, classes) in &self.agreement {
            line(f, &format!("  {given} in the file"), counts(classes.iter().map(|(name, count)| (*name, *count))))?;
        }
        line(f, "operators", "")?;
        for (name, queries) in &self.operators {
            let share = 100.0 * *queries as f64 / self.queries.max(1) as f64;
            writeln!(f, "  {name:<18} {queries:>7} {share:>6.1} %")?;
        }
        Ok(())
    }
}

impl fmt::Display for ResultStatistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\nresults on {}", self.snapshot)?;
        let failed: usize = self.failed.values().sum();
        line(f, "queries run", format_args!("{} ({failed} failed, {} empty)", self.queries, self.empty))?;
        if failed > 0 {
            line(f, "failed", counts(self.failed.iter().map(|(kind, count)| (kind.as_str(), *count))))?;
        }
        summary(f, "results per query", self.results.as_ref())?;
        summary(f, "without empty ones", self.without_empty.as_ref())?;
        histogram(f, "results per query", self.results.as_ref())
    }
}
