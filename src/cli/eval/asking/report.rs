//! Totals of a run.

use std::collections::BTreeMap;

use super::super::super::stdout;
use super::journal::{AskedQuestion, QuestionTimes, TokenSum};
use crate::eval::record::Instance;

/// Prints repairs, failures, tokens and time of the questions.
pub fn print(instances: &[Instance], known: &BTreeMap<usize, AskedQuestion>, times: &BTreeMap<usize, QuestionTimes>) {
    let asked: Vec<&AskedQuestion> = instances.iter().filter_map(|instance| known.get(&instance.line)).collect();
    let repaired: Vec<String> = (0..=3)
        .map(|n| (n, asked.iter().filter(|asked| asked.repairs == n).count()))
        .filter(|(_, count)| *count > 0)
        .map(|(n, count)| format!("{count} with {n}"))
        .collect();
    let empty = asked.iter().filter(|asked| asked.problem.is_none() && asked.total == Some(0)).count();
    let failed = asked.iter().filter(|asked| asked.problem.is_some()).count();
    stdout::tell(&format!(
        "asked {} questions; repairs: {}; {empty} with an empty result; {failed} without a valid query",
        asked.len(),
        repaired.join(", ")
    ));
    let chains = asked.iter().filter(|asked| asked.has_chain).count();
    if chains > 0 {
        let helped = asked.iter().filter(|asked| asked.containment.is_some()).count();
        stdout::tell(&format!("chains of wdt:P131: {chains}; containment by geometry finds more items in {helped}"));
    }
    let sum = |count: fn(&TokenSum) -> u64| asked.iter().map(|asked| count(&asked.tokens)).fold(0, u64::saturating_add);
    let about = if asked.iter().any(|asked| asked.tokens.estimate) { "at least " } else { "" };
    let seconds: f64 = asked.iter().filter_map(|asked| times.get(&asked.line)).map(|times| times.seconds).sum();
    stdout::tell(&format!(
        "tokens: {about}{} in prompts, {about}{} in replies; {seconds:.0} s",
        sum(|tokens| tokens.prompt),
        sum(|tokens| tokens.completion)
    ));
}
