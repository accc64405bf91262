//! Makes random queries that the language allows, about things that the extract has.
//!
//! The content of each set is tracked approximately, so that most statements have input. Each use of a feature is
//! recorded under its name, which reports print.

pub mod broken;
mod expression;
mod filter;
mod output;
mod statement;
mod text;
mod xml;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use terrapin_loaders::SourceElementType;

use crate::extract::SampledExtract;
use crate::piece::QueryPiece;
use crate::random::DifferRandom;

/// The types that a set may contain, as bits.
type Holds = u8;
const NODES: Holds = 1;
const WAYS: Holds = 2;
const RELATIONS: Holds = 4;
const AREAS: Holds = 8;
const DERIVED: Holds = 16;
const ELEMENTS: Holds = NODES | WAYS | RELATIONS;

/// The names that sets get.
const NAMES: [&str; 4] = ["a", "b", "c", "x"];

/// Features that chance alone leads to seldom, each after those that it needs around or before it. Every other query
/// is made to have the next of these.
const SELDOM: [&[&str]; 42] = [
    &["query rel", "filter if", "evaluator per_member()", "evaluator role()"],
    &["query rel", "filter if", "evaluator per_member()", "evaluator mtype()"],
    &["query rel", "filter if", "evaluator per_member()", "evaluator pos()"],
    &["query rel", "filter if", "evaluator per_member()", "evaluator ref()"],
    &["query way", "filter if", "evaluator per_vertex()", "evaluator angle()"],
    &["query way", "filter if", "evaluator per_vertex()", "evaluator pos()"],
    &["query way", "filter if", "evaluator per_vertex()", "evaluator ref()"],
    &["query rel", "statement convert", "property key", "evaluator per_member()", "evaluator role()"],
    &["query rel", "statement convert", "property key", "evaluator per_member()", "evaluator mtype()"],
    &["query way", "statement convert", "property key", "evaluator per_vertex()", "evaluator angle()"],
    &["query way", "query node", "filter w positions"],
    &["query node", "query way", "filter bn positions"],
    &["query node", "query rel", "filter bn role"],
    &["query way", "query rel", "filter bw role"],
    &["query rel", "query rel", "filter br role"],
    &["query way", "query rel", "filter bw"],
    &["query rel", "query rel", "filter br"],
    &["query area", "query way", "filter pivot"],
    &["query way", "query node", "filter way_cnt"],
    &["query way", "query node", "filter way_link"],
    &["query nwr", "statement for", "evaluator keys()"],
    &["query way", "statement convert", "property ::geom", "evaluator trace()"],
    &["query node", "filter bbox", "statement make", "property ::geom", "evaluator trace()", "evaluator gcat()"],
    &["query way", "statement convert", "property ::geom", "evaluator hull()", "evaluator geom()"],
    &["query way", "filter bbox", "statement make", "property key", "evaluator sum()", "evaluator length()"],
    &["query rel", "filter bbox", "statement make", "property key", "evaluator sum()", "evaluator length()"],
    &["query way", "filter bbox", "box edges on vertices"],
    &["query nwr", "filter bbox", "box edges on vertices"],
    &["query rel", "statement local"],
    &["query nwr", "filter bbox", "statement local"],
    &["query way", "filter bbox", "statement foreach", "out"],
    &["query nwr", "filter bbox", "out qt"],
    &["query area", "filter id", "query nwr", "filter area set"],
    &["query area", "filter id", "query way", "filter area set"],
    &["query nwr", "filter [k~v]", "expression [:class:]"],
    &["query wr", "query node", "filter bn"],
    &["query nwr", "statement for", "statement for of its set"],
    &["query nwr", "filter [k~v]", "expression [a-b]"],
    &["query way", "filter bbox", "out bb"],
    &["query way", "filter bbox", "statement convert", "property key", "evaluator length()"],
    &["query rel", "filter bbox", "out center"],
    &["query way", "statement convert", "property ::geom", "evaluator poly() of a ring"],
];

/// One generated query.
#[derive(Debug)]
pub struct Generated {
    /// The query.
    pub query: QueryPiece,
    /// The features that it uses, each as often as it does.
    pub features: Vec<&'static str>,
    /// The features that it could have used.
    pub offered: BTreeSet<&'static str>,
}

/// Makes a query: the one with this number of the run with this seed. Features in `without` are not used.
pub fn generate(extract: &SampledExtract, seed: u64, number: u64, without: &BTreeSet<String>) -> Generated {
    let mut random = DifferRandom::new(seed, number);
    let anchor = extract.anchor(&mut random);
    let seldom = SELDOM[(number / 2 % SELDOM.len() as u64) as usize];
    let skip = number % 2 == 1 || seldom.iter().any(|name| without.contains(*name));
    let wanted = seldom.iter().copied().filter(|_| !skip).collect();
    let mut generator = DifferGenerator {
        extract,
        random,
        anchor,
        without,
        features: Vec::new(),
        offered: BTreeSet::new(),
        sets: BTreeMap::new(),
        loops: 0,
        retro: 0,
        wanted,
    };
    let query = generator.script();
    Generated { query, features: generator.features, offered: generator.offered }
}

/// The state of making one query.
struct DifferGenerator<'a> {
    extract: &'a SampledExtract,
    random: DifferRandom,
    /// The element that the query is about.
    anchor: usize,
    without: &'a BTreeSet<String>,
    features: Vec<&'static str>,
    offered: BTreeSet<&'static str>,
    sets: BTreeMap<&'static str, Holds>,
    /// The number of enclosing `for` loops, which have a `_.val`.
    loops: usize,
    /// The number of enclosing `retro` statements.
    retro: usize,
    /// The features that the query is to have, in the order in which they are come to.
    wanted: VecDeque<&'static str>,
}

impl DifferGenerator<'_> {
    /// One of several features by weight, and notes it.
    fn choose(&mut self, options: &[(usize, &'static str)]) -> &'static str {
        self.offered.extend(options.iter().map(|o| o.1).filter(|name| !self.without.contains(*name)));
        let weight = |(weight, name): &(usize, &'static str)| if self.without.contains(*name) { 0 } else { *weight };
        let next = self.wanted.front().and_then(|wanted| options.iter().find(|o| o.1 == *wanted && weight(o) > 0));
        if let Some((_, name)) = next {
            self.wanted.pop_front();
            self.features.push(name);
            return name;
        }
        let total: usize = options.iter().map(weight).sum();
        let weights: Vec<usize> = options.iter().map(weight).collect();
        let mut at = self.random.below(total);
        for ((_, name), weight) in options.iter().zip(weights) {
            if at < weight {
                self.features.push(name);
                return name;
            }
            at -= weight;
        }
        options.first().map_or("", |(_, name)| name)
    }

    /// Decides with this probability in percent whether to use a feature, and records its use.
    fn maybe(&mut self, percent: usize, name: &'static str) -> bool {
        if !self.without.contains(name) {
            self.offered.insert(name);
        }
        if self.wanted.front() == Some(&name) {
            self.wanted.pop_front();
            return self.note(name);
        }
        self.random.chance(percent) && self.note(name)
    }

    /// Records the use of a feature, unless it is excluded. Returns whether it may be used.
    fn note(&mut self, name: &'static str) -> bool {
        let allowed = !self.without.contains(name);
        if allowed {
            self.features.push(name);
        }
        allowed
    }

    /// Returns the name of a set that may contain one of the wanted types; sometimes that of any other set.
    fn set_with(&mut self, wanted: Holds) -> &'static str {
        let fitting: Vec<&'static str> =
            self.sets.iter().filter(|(_, holds)| **holds & wanted != 0).map(|(name, _)| *name).collect();
        if fitting.is_empty() || self.random.chance(4) {
            return if self.random.chance(60) { "_" } else { NAMES[self.random.below(NAMES.len())] };
        }
        fitting[self.random.below(fitting.len())]
    }

    /// Returns whether any set may contain one of the wanted types.
    fn has(&self, wanted: Holds) -> bool {
        self.sets.values().any(|holds| holds & wanted != 0)
    }

    /// Returns the types that a set may contain.
    fn holds(&self, set: &str) -> Holds {
        self.sets.get(set).copied().unwrap_or(0)
    }

    /// Returns `.a`, or usually no text for the default set.
    fn from(&mut self, set: &'static str) -> QueryPiece {
        if set == "_" && self.random.chance(90) {
            QueryPiece::Row(Vec::new())
        } else {
            QueryPiece::from(format!(".{set}"))
        }
    }

    /// Returns `->.a`, or no text for the default set. Records `holds` as the content of the set.
    fn into(&mut self, holds: Holds) -> QueryPiece {
        let set = if self.random.chance(65) { "_" } else { *self.random.pick(&NAMES) };
        self.sets.insert(set, holds);
        if set == "_" { QueryPiece::Row(Vec::new()) } else { QueryPiece::from(format!("->.{set}")).optional() }
    }

    fn kind(&mut self) -> SourceElementType {
        *self.random.pick(&[SourceElementType::Node, SourceElementType::Way, SourceElementType::Relation])
    }
}

/// Returns the bit of an element type.
fn bit(kind: SourceElementType) -> Holds {
    match kind {
        SourceElementType::Node => NODES,
        SourceElementType::Way => WAYS,
        SourceElementType::Relation => RELATIONS,
    }
}
