//! The objects of an extract to which queries can refer: tags, ids, users, moments and places.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use terrapin_loaders::{LoaderError, NO_COORDINATE, ReadOptions, SourceElement, SourceElementType, SourceMeta, read};

use crate::random::DifferRandom;

/// One element of the extract.
#[derive(Debug, Clone)]
pub struct ElementSample {
    /// Its type.
    pub kind: SourceElementType,
    /// Its id.
    pub id: i64,
    /// The latitude of the element, or of one of its nodes, in degrees.
    pub lat: f64,
    /// See `lat`.
    pub lon: f64,
    /// Its tags.
    pub tags: Vec<(String, String)>,
    /// The author of the version.
    pub user: String,
    /// See `user`.
    pub uid: i64,
    /// When, in seconds since 1970.
    pub timestamp: i64,
    /// The number of nodes or members.
    pub members: usize,
    /// The roles of its members.
    pub roles: Vec<String>,
    /// Whether the extract lacks one of its nodes or members.
    pub incomplete: bool,
    /// Some of the points of the geometry, in degrees; for a way, its ends and its extremes.
    pub vertices: Vec<(f64, f64)>,
}

/// The elements that queries are made of, near ones together.
#[derive(Debug)]
pub struct SampledExtract {
    samples: Vec<ElementSample>,
    /// The indices in `samples` of the samples of each type.
    by_kind: [Vec<usize>; 3],
    /// The indices of the samples with missing nodes or members.
    incomplete: Vec<usize>,
    /// Ids of relations that the reference makes areas of.
    pub areas: Vec<i64>,
    /// Whether it has all versions of its elements: most queries then ask at a date.
    pub history: bool,
}

/// One of this many nodes without tags is kept.
const UNTAGGED: i64 = 16;

/// The side of the cells by which near elements are put together; degrees.
const CELL: f64 = 0.01;

impl SampledExtract {
    /// Reads an extract.
    pub fn read(path: &Path) -> Result<Self> {
        let mut places = HashMap::new();
        let mut samples = Vec::new();
        let map = |block: &terrapin_loaders::ElementBlock| {
            let mut found = Vec::new();
            block.for_each(|element| found.extend(is_there(&element).then(|| Raw::of(element))))?;
            Ok(found)
        };
        let header = read::<Vec<Raw>, LoaderError>(path, &ReadOptions::default(), map, |found, _| {
            for Raw { mut sample, members } in found {
                match members {
                    None => {
                        places.insert((sample.kind, sample.id), (sample.lat, sample.lon));
                        sample.vertices.push((sample.lat, sample.lon));
                    }
                    Some(members) => {
                        let first = members.iter().find_map(|member| places.get(member));
                        let Some(&(lat, lon)) = first else { continue };
                        sample.incomplete = members.iter().any(|member| !places.contains_key(member));
                        sample.vertices = extremes(members.iter().filter_map(|m| places.get(m)).copied().collect());
                        (sample.lat, sample.lon) = (lat, lon);
                        places.insert((sample.kind, sample.id), (lat, lon));
                    }
                }
                if sample.kind != SourceElementType::Node || !sample.tags.is_empty() || sample.id % UNTAGGED == 0 {
                    samples.push(sample);
                }
            }
            Ok(())
        })
        .with_context(|| format!("cannot read {}", path.display()))?;
        let cell = |degrees: f64| (degrees / CELL).floor() as i64;
        samples.sort_by_key(|s| (cell(s.lat), cell(s.lon), s.kind, s.id));
        let of = |kind| samples.iter().enumerate().filter(|(_, s)| s.kind == kind).map(|(i, _)| i).collect();
        let by_kind: [Vec<usize>; 3] =
            [of(SourceElementType::Node), of(SourceElementType::Way), of(SourceElementType::Relation)];
        ensure!(by_kind.iter().all(|list| !list.is_empty()), "the extract has no nodes, no ways or no relations");
        let is_area = |s: &&ElementSample| {
            let has = |key: &str| s.tags.iter().any(|(k, _)| k == key);
            let kind = s.tags.iter().find(|(k, _)| k == "type").map(|(_, v)| v.as_str());
            s.kind == SourceElementType::Relation
                && has("name")
                && (has("admin_level") || matches!(kind, Some("multipolygon" | "boundary")))
        };
        let incomplete = samples.iter().enumerate().filter(|(_, s)| s.incomplete).map(|(i, _)| i).collect();
        let areas = samples.iter().filter(is_area).map(|s| s.id).collect();
        Ok(SampledExtract { samples, by_kind, incomplete, areas, history: header.history })
    }

    /// Returns the number of elements to choose from.
    pub fn len(&self) -> usize {
        self.samples.len()
    }

    /// The element that a query is about, each type as likely as the others. Of an extract that lacks nodes or members,
    /// every third query is about an element that lacks one.
    pub fn anchor(&self, random: &mut DifferRandom) -> usize {
        if !self.incomplete.is_empty() && random.chance(33) {
            return *random.pick(&self.incomplete);
        }
        let kind = random.below(3);
        *random.pick(&self.by_kind[kind])
    }

    /// Returns an element near `anchor`, of the given type if there is one. Sometimes returns `anchor` itself if it is
    /// incomplete.
    pub fn near(&self, anchor: usize, kind: Option<SourceElementType>, random: &mut DifferRandom) -> &ElementSample {
        let itself = &self.samples[anchor];
        if itself.incomplete && kind.is_none_or(|kind| itself.kind == kind) && random.chance(30) {
            return itself;
        }
        for _ in 0..20 {
            let at = (anchor + random.below(120)).saturating_sub(60).min(self.samples.len() - 1);
            let sample = &self.samples[at];
            if kind.is_none_or(|kind| sample.kind == kind) {
                return sample;
            }
        }
        match kind {
            Some(kind) => &self.samples[*random.pick(&self.by_kind[kind as usize])],
            None => &self.samples[anchor],
        }
    }

    /// An element near another that has tags.
    pub fn tagged(&self, anchor: usize, kind: Option<SourceElementType>, random: &mut DifferRandom) -> &ElementSample {
        let mut sample = self.near(anchor, kind, random);
        for _ in 0..20 {
            if !sample.tags.is_empty() {
                break;
            }
            sample = self.near(anchor, kind, random);
        }
        sample
    }
}

/// Whether an element is more than the note that it was deleted.
fn is_there(element: &SourceElement<'_>) -> bool {
    match element {
        SourceElement::Node(node) => node.lat != NO_COORDINATE,
        SourceElement::Way(way) => way.meta.is_none_or(|meta| meta.visible),
        SourceElement::Relation(relation) => relation.meta.is_none_or(|meta| meta.visible),
    }
}

/// The southernmost, westernmost, northernmost and easternmost of some places, the first and the last.
fn extremes(places: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let by_lat = |a: &&(f64, f64), b: &&(f64, f64)| a.0.total_cmp(&b.0);
    let by_lon = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
    let all = || places.iter();
    let found = [
        all().min_by(by_lat),
        all().min_by(by_lon),
        all().max_by(by_lat),
        all().max_by(by_lon),
        all().next(),
        all().last(),
    ];
    found.into_iter().flatten().copied().collect()
}

/// An element as it was read: one that has members has its place from the first.
struct Raw {
    sample: ElementSample,
    members: Option<Vec<(SourceElementType, i64)>>,
}

impl Raw {
    fn of(element: SourceElement<'_>) -> Self {
        let sample = |kind, id, tags: &[(&str, &str)], meta: Option<SourceMeta<'_>>| ElementSample {
            kind,
            id,
            lat: 0.0,
            lon: 0.0,
            tags: tags.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
            user: meta.map_or(String::new(), |m| m.user.to_owned()),
            uid: meta.map_or(0, |m| m.uid),
            timestamp: meta.map_or(0, |m| m.timestamp),
            members: 0,
            roles: Vec::new(),
            incomplete: false,
            vertices: Vec::new(),
        };
        match element {
            SourceElement::Node(node) => {
                let mut sample = sample(SourceElementType::Node, node.id, node.tags, node.meta);
                (sample.lat, sample.lon) = (f64::from(node.lat) / 1e7, f64::from(node.lon) / 1e7);
                Raw { sample, members: None }
            }
            SourceElement::Way(way) => {
                let mut sample = sample(SourceElementType::Way, way.id, way.tags, way.meta);
                sample.members = way.refs.len();
                Raw { sample, members: Some(way.refs.iter().map(|&id| (SourceElementType::Node, id)).collect()) }
            }
            SourceElement::Relation(relation) => {
                let mut sample = sample(SourceElementType::Relation, relation.id, relation.tags, relation.meta);
                sample.members = relation.members.len();
                sample.roles = relation.members.iter().take(20).map(|m| m.role.to_owned()).collect();
                Raw { sample, members: Some(relation.members.iter().map(|m| (m.kind, m.id)).collect()) }
            }
        }
    }
}
