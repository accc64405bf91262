//! `terrapin load`: makes a snapshot from an OpenStreetMap file and from triples.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use terrapin_loaders::wikidata::recipe::{Keep, Recipe, RecipeLists, Take};

use super::info::remark_line;
use super::mirror::mirror;
use super::progress::Shown;
use super::whole::stop_on_signal;
use super::work::{self, WorkArgs};
use super::{CommandError, for_queries, slips, stdout};
use crate::load::room::Room;
use crate::load::{self, Base, Entities, LoadError, LoadOptions, LoadProgress, Loaded, Quiet};
use crate::size::{self, count};
use crate::snapshot::{self, facts};

/// Make a snapshot from an OpenStreetMap file, from triples, or from both
///
/// Reads PBF and OSM XML; N-Triples, N-Quads, Turtle and RDF/XML; and Wikidata entity dumps in JSON, whole or filtered
/// by a recipe; all plain or compressed. The same files and version give the same bytes, independent of the number of
/// threads, the memory and the order of the files. A stopped load leaves no partial file.
///
/// With --base, the elements and triples come from a snapshot, and --osc or --replication updates its elements. The
/// result has the same content as a load of the whole newer extract. Changes of the whole planet add elements outside
/// a smaller extract: cut them off with terrapin extract, or use changes made for the extract.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin load --osm malta.osm.pbf --out malta.terrapin
  terrapin load --osm malta.osm.pbf --wikidata malta.nt.gz --out malta.terrapin
  terrapin load --wikidata latest-all.json.bz2 --recipe cities.toml --out cities.terrapin
  terrapin load --osm europe.osm.pbf --out europe.terrapin --memory 16GiB --temp /scratch
  terrapin load --osm niue.osh.pbf --at 2022-11-01T00:00:00Z --out niue-2022.terrapin
  terrapin load --base malta.terrapin --osc 4711.osc.gz --osc 4712.osc.gz --out malta.terrapin
  terrapin load --base malta.terrapin --replication malta-updates --until 2024-01-01T00:00:00Z --out new-year.terrapin
  terrapin load --osm niue.osh.pbf --history --out niue-history.terrapin

A recipe, of which every line may be left out; without [take] all is taken:
  [take]
  classes = [\"Q515\"]                    # instances of these classes and of their subclasses
  boxes = [[35.7, 14.1, 36.1, 14.6]]    # south, west, north, east: what has coordinates there
  entities = [\"Q42\"]
  entities_from = [\"ids.txt\"]           # files beside the recipe
  queries_from = [\"gold.jsonl.gz\"]      # what queries mention
  for_queries = [\"gold.jsonl\"]          # what may be in solutions of a benchmark's queries, with links and classes
  open_links = 1000000                  # of these, the most statements of a link without a known end
  osm = true                            # what OpenStreetMap's elements name in wikidata=*
  steps = 1                             # and what is linked with all these, so many steps far
  follow = [\"P31\", \"P17\"]               # by these properties; else by those that the queries mention
  properties = true                     # all properties, which tell what predicates mean
  [keep]
  languages = [\"en\", \"mul\"]             # of labels, descriptions and aliases
  properties = [\"P31\", \"P625\"]          # of statements
  qualifiers = [\"P580\"]                # properties of qualifiers
  references = false                    # all references; by default kept
  sitelinks = [\"en\"]                    # languages of the sites

--recipe for-queries=FILE is a recipe with for_queries = [FILE]. With for_queries, the lists of [keep] that a recipe
leaves out are those that the queries use")]
#[command(group = clap::ArgGroup::new("sources").required(true).multiple(true).args(["osm", "base", "wikidata", "rdf"]))]
pub struct LoadArgs {
    /// OpenStreetMap file
    #[arg(long, value_name = "FILE")]
    osm: Option<PathBuf>,
    /// Load the state at this time from a history file: 2022-11-01T00:00:00Z
    #[arg(long, value_name = "TIME", requires = "osm")]
    at: Option<jiff::Timestamp>,
    /// Snapshot to copy, unchanged or with changes applied
    #[arg(long, value_name = "OLD.terrapin", conflicts_with = "osm")]
    base: Option<PathBuf>,
    /// Changes to apply to the base: osmChange files, plain or compressed, oldest first
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "base")]
    osc: Vec<PathBuf>,
    /// Replication folder (000/012/345.osc.gz and 000/012/345.state.txt) with the changes that the base lacks: a
    /// local mirror or, with --mirror, a server such as https://planet.openstreetmap.org/replication/day
    #[arg(long, value_name = "DIR or URL", requires = "base", conflicts_with = "osc")]
    replication: Option<PathBuf>,
    /// Folder for changes fetched from a server; files already there are not fetched again
    #[arg(long, value_name = "DIR", requires = "replication")]
    mirror: Option<PathBuf>,
    /// Apply changes up to this time instead of the newest state of the folder
    #[arg(long, value_name = "TIME", requires = "replication")]
    until: Option<jiff::Timestamp>,
    /// Also keep all older versions of a history file, so that queries may use any date
    #[arg(long, requires = "osm")]
    history: bool,
    /// Leave out versions, timestamps, changesets and users: a smaller file whose queries lack them
    #[arg(long, conflicts_with = "history")]
    no_meta: bool,
    /// Wikidata entity dumps, or triples of a part of Wikidata
    #[arg(long, value_name = "FILE", num_args = 1..)]
    wikidata: Vec<PathBuf>,
    /// Recipe: a TOML file that selects entities from the dumps, or for-queries=FILE
    #[arg(long, value_name = "FILE.toml", requires = "wikidata")]
    recipe: Option<PathBuf>,
    /// Keep numbers, dates and truth values of triples as written, so that `01` and `1` are different terms, as in
    /// SPARQL's standard. A base with triples must keep them. Default: each value is stored in its canonical form
    #[arg(long)]
    lexical_forms: bool,
    /// Skip and count entities and triples whose line is wrong, and nodes without a position; load the first part of
    /// a truncated dump
    #[arg(long)]
    skip_bad: bool,
    /// Also load if a file has no triples or the recipe selects nothing
    #[arg(long)]
    allow_empty: bool,
    /// Other files of triples
    #[arg(long, value_name = "FILE", num_args = 1..)]
    rdf: Vec<PathBuf>,
    /// Snapshot file to write; an existing one is replaced atomically at the end
    #[arg(long, value_name = "NAME.terrapin")]
    out: PathBuf,
    #[command(flatten)]
    work: WorkArgs,
}

/// Runs the command.
pub fn run(args: &LoadArgs) -> Result<(), CommandError> {
    for source in args.sources() {
        slips::no_address(source)?;
    }
    if args.mirror.is_none() && args.replication.as_deref().is_some_and(slips::is_address) {
        return Err(CommandError::usage("changes from a server need a folder to keep them: pass --mirror DIR"));
    }
    let options = LoadOptions {
        osm: args.osm.clone(),
        wikidata: args.wikidata.clone(),
        rdf: args.rdf.clone(),
        at: args.at.map(jiff::Timestamp::as_second),
        history: args.history,
        without_metadata: args.no_meta,
        lexical_forms: args.lexical_forms,
        out: args.out.clone(),
        memory: args.work.memory,
        temporary: args.work.temp.clone(),
    };
    let entities = Entities { recipe: recipe(args)?, skip_bad: args.skip_bad, allow_empty: args.allow_empty };
    let pool = work::pool(args.work.threads.map_or(0, usize::from))?;
    let shown = (!args.work.json).then(|| Arc::new(Shown::new()));
    let progress: &dyn LoadProgress = shown.as_deref().map_or(&Quiet, |shown| shown);
    stop_on_signal(args.out.clone(), args.work.json, shown.clone())?;
    let base = base(args, progress)?;
    if !args.work.json {
        load::room_needed(&options, base.as_ref())
            .iter()
            .filter(|room| room.most >= WORTH_A_LINE || room.free < room.most)
            .for_each(tell_room);
    }
    crate::allocator::prepare_for_arrays();
    let result = pool.install(|| match &base {
        Some(base) => load::load_from(base, &options, &entities, progress),
        None => load::load_entities(&options, &entities, progress),
    });
    if let Some(shown) = &shown {
        shown.finish();
    }
    let loaded = result.map_err(|e| error(args, e))?;
    for warning in &loaded.warnings {
        stdout::tell(&format!("terrapin: left out: {warning}"));
    }
    tell(&args.out, &loaded, args.work.json)
}

/// Prints the summary.
pub fn tell(out: &Path, loaded: &Loaded, as_json: bool) -> Result<(), CommandError> {
    let bytes = std::fs::metadata(out).map_err(|e| CommandError::system("output", e))?.len();
    if as_json {
        return stdout::print_json(&facts::to_json(&loaded.digest, bytes, &loaded.manifest));
    }
    let counts = &loaded.manifest.counts;
    let mut text = format!("{}\n{}: {}", loaded.digest, out.display(), size::show(bytes));
    // A snapshot without an OpenStreetMap source has only triples.
    if loaded.manifest.triples.is_none() || counts.nodes + counts.ways + counts.relations > 0 {
        text.push_str(&format!(
            ", {} nodes, {} ways, {} relations, {} areas",
            count(counts.nodes),
            count(counts.ways),
            count(counts.relations),
            count(counts.areas)
        ));
    }
    if let Some(triples) = &loaded.manifest.triples {
        text.push_str(&format!(", {} triples, {} terms", count(triples.triples), count(triples.terms)));
    }
    text.push('\n');
    for remark in &loaded.manifest.remarks {
        text.push_str(&remark_line(remark));
        text.push('\n');
    }
    stdout::print(&text)
}

/// The smallest use of the disk that is reported, in bytes.
const WORTH_A_LINE: u64 = 1_000_000_000;

/// Reports the disk space that a load needs.
fn tell_room(room: &Room) {
    let Room { folder, most, free, .. } = room;
    let warning = if free < most { ": this may not be enough" } else { "" };
    let (most, free) = (size::show(*most), size::show(*free));
    stdout::tell(&format!(
        "up to {most} on disk while loading, in {}, where {free} are free{warning}",
        folder.display()
    ));
}

impl LoadArgs {
    /// Collects all inputs.
    fn sources(&self) -> impl Iterator<Item = &PathBuf> {
        let elements = self.osm.iter().chain(&self.base).chain(&self.osc);
        elements.chain(&self.wikidata).chain(&self.rdf)
    }
}

/// Opens the base and its changes.
fn base(args: &LoadArgs, progress: &dyn LoadProgress) -> Result<Option<Base>, CommandError> {
    let Some(snapshot) = &args.base else { return Ok(None) };
    let (mut changes, mut time) = (args.osc.clone(), None);
    if let Some(place) = &args.replication {
        let until = args.until.map(jiff::Timestamp::as_second);
        let folder = match &args.mirror {
            None => place,
            Some(folder) => {
                let since = load::replicated_until(snapshot).map_err(|e| error(args, e))?;
                mirror(&place.to_string_lossy(), folder, since, until, progress)?;
                folder
            }
        };
        let found = load::replication(snapshot, folder, until).map_err(|e| error(args, e))?;
        (changes, time) = (found.files, Some(found.time));
    }
    Ok(Some(Base { snapshot: snapshot.clone(), changes, time, cut: None, perturbation: None }))
}

/// Reads the recipe and its files.
fn recipe(args: &LoadArgs) -> Result<Option<(Recipe, RecipeLists)>, CommandError> {
    let Some(path) = &args.recipe else { return Ok(None) };
    let failed = |e: &dyn std::fmt::Display| format!("{}: {e}", path.display());
    let queries = path.to_str().and_then(|text| text.strip_prefix("for-queries="));
    let mut recipe = match queries {
        Some(file) => {
            // The file is named from here, not from a recipe's folder.
            let file = std::path::absolute(file).map_err(|e| CommandError::input("recipe-unreadable", failed(&e)))?;
            Recipe { take: Take { for_queries: vec![file], ..Take::default() }, ..Recipe::default() }
        }
        None => {
            let text = std::fs::read_to_string(path);
            let text = text.map_err(|e| CommandError::input("recipe-unreadable", failed(&e)))?;
            toml::from_str(&text).map_err(|e| CommandError::input("recipe-broken", failed(&e)))?
        }
    };
    recipe.check().map_err(|e| CommandError::input("recipe-broken", failed(&e)))?;
    if recipe.take.osm && args.osm.is_none() && args.base.is_none() {
        return Err(CommandError::usage("the recipe selects items named in OpenStreetMap (osm = true): pass --osm"));
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut lists = recipe.lists(folder).map_err(|e| CommandError::input("source-unreadable", e))?;
    if !recipe.take.for_queries.is_empty() {
        let files: Vec<PathBuf> = recipe.take.for_queries.iter().map(|file| folder.join(file)).collect();
        lists.uses = for_queries::uses_of(&files)?;
        keep_what_is_used(&mut recipe.keep, &lists);
    }
    Ok(Some((recipe, lists)))
}

/// Fills the lists that a recipe for queries leaves out with what the queries use.
fn keep_what_is_used(keep: &mut Keep, lists: &RecipeLists) {
    let uses = &lists.uses;
    let list = |used: &BTreeSet<String>, more: &[&str]| {
        let all: BTreeSet<String> = used.iter().cloned().chain(more.iter().map(|&text| text.to_owned())).collect();
        all.into_iter().collect::<Vec<String>>()
    };
    // Classes describe every entity, and `mul` has the labels that all languages share.
    keep.properties.get_or_insert_with(|| list(&uses.properties, &["P31", "P279"]));
    keep.languages.get_or_insert_with(|| list(&uses.languages, &["en", "mul"]));
    keep.qualifiers.get_or_insert_with(|| list(&uses.qualifiers, &[]));
    keep.references.get_or_insert(uses.references);
}

/// The hint for an empty input.
const EMPTY: &str = "pass --allow-empty to make a snapshot anyway";

/// Converts an error of a load to the error of a command.
fn error(args: &LoadArgs, error: LoadError) -> CommandError {
    match &error {
        LoadError::Snapshot(snapshot::Error::Io { path, .. })
            if *path != args.out && args.sources().any(|s| s == path) =>
        {
            CommandError::input("source-unreadable", error)
        }
        LoadError::Snapshot(snapshot::Error::Io { .. }) => CommandError::system("output", error),
        LoadError::LexicalForms => CommandError::input("snapshot", error),
        // A snapshot error concerns the base, since the other snapshot is still being written.
        LoadError::Snapshot(_) if args.base.is_some() => CommandError::input("snapshot", error),
        LoadError::Snapshot(_) | LoadError::Temporary(_) | LoadError::Room(_) => CommandError::system("output", error),
        LoadError::Recipe(_) => CommandError::input("recipe-broken", error),
        LoadError::NoTriples { .. } => CommandError::input("no-triples", format!("{error}; {EMPTY}")),
        LoadError::NothingTaken(_) => CommandError::input("nothing-taken", format!("{error}; {EMPTY}")),
        _ => CommandError::input("source-broken", error),
    }
}
