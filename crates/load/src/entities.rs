//! Loads dumps of Wikidata entities: all of them in one pass, or those a recipe selects in two passes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use oxrdf::Triple;
use terrapin_loaders as loaders;
use terrapin_loaders::wikidata::recipe::mentions;
use terrapin_loaders::wikidata::{Converter, EntitySelection, RdfShape, SubsetPlan, WikidataSummary};

use super::{Entities, LoadError, LoadOptions};
use terrapin_base::LoadProgress;
use terrapin_base::size::count;
use terrapin_osm::{CACHE_BYTES, Osm};
use terrapin_snapshot::{Error, Manifest, Snapshot, SnapshotWriter};

/// The counts of a file that was read.
pub(super) struct EntityLoadCounts {
    /// The number of entities taken, for a dump of entities.
    pub(super) entities: Option<u64>,
    /// The number of entities that the recipe selects directly.
    pub(super) chosen: u64,
    /// The number of triples.
    pub(super) triples: u64,
    /// The number of skipped wrong lines.
    pub(super) bad: u64,
    /// The errors of some of them.
    pub(super) errors: Vec<String>,
}

impl EntityLoadCounts {
    /// Returns the manifest's remark on the file.
    pub(super) fn remark(&self, name: &str) -> Option<String> {
        let bad = || format!("{} lines that are wrong left out", count(self.bad));
        match (self.entities, self.bad) {
            (Some(entities), 0) => Some(format!("{name}: {} entities", count(entities))),
            (Some(entities), _) => Some(format!("{name}: {} entities, {}", count(entities), bad())),
            (None, 0) => None,
            (None, _) => Some(format!("{name}: {}", bad())),
        }
    }
}

/// The dumps among the input files.
pub(super) struct Dumps {
    paths: Vec<PathBuf>,
    options: loaders::wikidata::WikidataOptions,
    /// The recipe as recorded in the manifest, and its state: before or after the first pass.
    recipe: Option<(String, Stage)>,
    /// The errors of each dump found in the first pass.
    surveyed: Vec<WikidataSummary>,
}

enum Stage {
    Plan(Box<SubsetPlan>),
    Selection(Box<EntitySelection>),
}

impl Dumps {
    /// Finds the dumps. The sections of elements must be written already, since a recipe may select items named by
    /// elements.
    pub(super) fn prepare(
        options: &LoadOptions,
        entities: &Entities,
        writer: &mut SnapshotWriter,
        manifest: &Manifest,
    ) -> Result<Self, LoadError> {
        let mut paths = Vec::new();
        for path in &options.wikidata {
            if loaders::wikidata::is_dump(path)? {
                paths.push(path.clone());
            } else if entities.recipe.is_some() {
                let reason = "triples, which a recipe cannot select from; pass them with --rdf to load all of them";
                return Err(loaders::LoaderError::Format { file: path.clone(), reason }.into());
            }
        }
        let recipe = match &entities.recipe {
            None => None,
            Some((recipe, lists)) => {
                let mut lists = lists.clone();
                if recipe.take.osm {
                    lists.linked = linked(options, writer, manifest)?;
                }
                let plan = SubsetPlan::new(recipe, &lists, options.memory).map_err(LoadError::Recipe)?;
                Some((recipe.canonical(&lists), Stage::Plan(Box::new(plan))))
            }
        };
        let memory = options.memory / super::UNDER_WAY;
        let options = loaders::wikidata::WikidataOptions { skip_bad: entities.skip_bad, memory, ..Default::default() };
        Ok(Self { paths, options, recipe, surveyed: Vec::new() })
    }

    pub(super) fn has(&self, path: &Path) -> bool {
        self.paths.iter().any(|dump| dump == path)
    }

    /// Reports whether a recipe selects the entities.
    pub(super) fn has_recipe(&self) -> bool {
        self.recipe.is_some()
    }

    /// Returns the manifest's text on the recipe.
    pub(super) fn recipe_text(&self) -> Option<String> {
        let (text, stage) = self.recipe.as_ref()?;
        let closure = match stage {
            Stage::Selection(selection) => selection.closure(),
            Stage::Plan(_) => None,
        };
        let closure = closure.map_or_else(String::new, |closure| {
            format!(
                "; closure over {} queries ({} unread) with {} alternatives, {} of them with candidates, {} with a \
                 link left out: {} links, {} \
                 entities",
                count(closure.queries as u64),
                count(closure.unread as u64),
                count(closure.alternatives as u64),
                count(closure.answerable as u64),
                count(closure.open as u64),
                count(closure.links as u64),
                count(closure.entities as u64)
            )
        });
        Some(format!("recipe: {}{closure}", text.trim_end().replace('\n', "; ")))
    }

    /// Runs the first pass, if there is a recipe.
    pub(super) fn survey(&mut self, progress: &dyn LoadProgress) -> Result<(), LoadError> {
        let Some((text, Stage::Plan(mut plan))) = self.recipe.take() else { return Ok(()) };
        for path in &self.paths {
            progress.phase("surveying entities", std::fs::metadata(path).map_or(0, |m| m.len()));
            let mut read = 0;
            let summary = plan.survey::<LoadError>(path, &self.options, |at| {
                progress.advance(at.bytes_read - read);
                read = at.bytes_read;
                Ok(())
            })?;
            self.surveyed.push(summary);
        }
        self.recipe = Some((text, Stage::Selection(Box::new(plan.choose()))));
        Ok(())
    }

    /// Reads a dump and passes the triples of the selected entities to `add`.
    pub(super) fn read(
        &self,
        path: &Path,
        progress: &dyn LoadProgress,
        mut add: impl FnMut(&[Triple]) -> Result<(), LoadError>,
    ) -> Result<EntityLoadCounts, LoadError> {
        progress.phase("reading entities", std::fs::metadata(path).map_or(0, |m| m.len()));
        let (mut read, mut given) = (0, 0);
        let consume = |triples: Vec<Triple>, at: loaders::ReadProgress| {
            given += triples.len() as u64;
            progress.advance(at.bytes_read - read);
            read = at.bytes_read;
            add(&triples)
        };
        let summary = match &self.recipe {
            Some((_, Stage::Selection(selection))) => selection.read(path, &self.options, consume)?,
            _ => loaders::wikidata::read(path, &self.options, &Converter::new(RdfShape::Service), consume)?,
        };
        // The first pass checks all lines, the second only those of candidate entities.
        let place = self.paths.iter().position(|dump| dump == path);
        let first = place.and_then(|place| self.surveyed.get(place)).filter(|first| first.bad >= summary.bad);
        let wrong = first.unwrap_or(&summary);
        let errors = wrong.errors.iter().map(ToString::to_string).collect();
        Ok(EntityLoadCounts {
            entities: Some(summary.entities),
            chosen: summary.chosen,
            triples: given,
            bad: wrong.bad,
            errors,
        })
    }
}

/// Returns the entities named in the elements' `wikidata` tags.
fn linked(
    options: &LoadOptions,
    writer: &mut SnapshotWriter,
    manifest: &Manifest,
) -> Result<std::collections::BTreeSet<String>, LoadError> {
    let (file, sections) = writer.so_far()?;
    let partial = Snapshot::partial(&file, &sections).map_err(|e| Error::io(&options.out, e))?;
    let osm = Osm::of(Arc::new(partial), manifest.counts, manifest.data_timestamp, CACHE_BYTES);
    let mut ids = std::collections::BTreeSet::new();
    if let Some(key) = osm.key("wikidata") {
        osm.for_values(key, |_, value| ids.append(&mut mentions(value)));
    }
    osm.check()?;
    Ok(ids)
}
