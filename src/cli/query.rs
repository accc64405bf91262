//! `terrapin query`: answers one query on standard output.

use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use terrapin_diagnostic::Diagnostic;

use super::stdout::{StdoutWriter, tell};
use super::{CommandError, open, slips, sparql, words};
use crate::engine::{OverpassQuery, OverpassRejection, QueryContext};
use crate::entities::{Properties, chain_of};
use crate::items::ItemDescriptions;
use crate::osm::BoundingBox;
use crate::osm::history::StateSettings;
use crate::overpass::lint;
use crate::overpass::output::{AnswerFormat, GeoJsonLayout};
use crate::overpass::turbo::{self, Reason};
use crate::overpass::{self, Limits, OverpassCode, OverpassFailure};
use crate::size;
use crate::sparql::{Dialect, Entailment};
use crate::temporary;

/// The longest query in bytes.
const MAX_QUERY: u64 = 16 << 20;

/// Run an OverpassQL or SPARQL query and print the answer
///
/// The language is detected from the beginning of the query; --lang overrides it. OverpassQL answers have the format of
/// the query's [out:...] (XML without one), or GeoJSON with --format. Overpass Turbo's {{shortcuts}} are replaced
/// first; `now` is the time of the data. SPARQL has the dialect of the Wikidata Query Service or, if it has one of
/// QLever's constructs, that of QLever; --dialect overrides it. SPARQL answers have the format of --format. Errors of
/// the query go to standard error with their position.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin query malta.terrapin '[out:json];node[amenity=cafe];out;'
  terrapin query malta.terrapin -f cafes.overpassql > cafes.json
  terrapin query malta.terrapin 'way[natural=beach];out geom;' --format geojson > beaches.geojson
  terrapin query malta.terrapin 'nwr[place];out center;' --format geojson --with-wikidata P1082,P571
  terrapin query malta.terrapin '{{geocodeArea:Valletta}}->.a;node[shop](area.a);out;'
  terrapin query malta.terrapin --words 'cafes in Valletta' --explain
  terrapin query malta.terrapin 'node[shop]({{bbox}});out;' --bbox 35.89,14.50,35.91,14.52
  echo 'node(1);out;' | terrapin query malta.terrapin -
  terrapin query wikidata.terrapin 'SELECT ?capital ?capitalLabel { wd:Q233 wdt:P36 ?capital
    SERVICE wikibase:label { bd:serviceParam wikibase:language \"en\" } }'")]
pub struct QueryCommandArgs {
    /// The snapshot file
    snapshot: PathBuf,
    /// The query; `-` reads it from standard input
    #[arg(conflicts_with = "file", required_unless_present_any = ["file", "words"])]
    query: Option<String>,
    /// Read the query from a file
    #[arg(short, long)]
    file: Option<PathBuf>,
    /// Run the query that words stand for, such as "cafes in Valletta" or the syntax of Overpass Turbo's wizard. With
    /// --explain: print the meaning of each part and the queries instead; --lang selects a language
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["query", "file"])]
    words: Option<String>,
    /// Language of the query [default: detected from its beginning]
    #[arg(long, value_enum, ignore_case = true)]
    lang: Option<LanguageOption>,
    /// Dialect of a SPARQL query
    #[arg(long, value_enum, ignore_case = true, default_value_t = SparqlDialect::Auto)]
    dialect: SparqlDialect,
    /// Entailment regimes of a SPARQL query, with commas: simple (stored triples only), rdfs (subclasses,
    /// subproperties, domains and ranges), geosparql (geo:sfWithin and the other relations from the geometries)
    #[arg(long, value_name = "REGIMES", default_value = "simple")]
    entailment: Entailment,
    /// Format of the answer. OverpassQL: geojson, geojsonseq [default: as in [out:...]]. SPARQL: table, json, xml,
    /// csv, tsv, qlever (QLever's JSON); for CONSTRUCT and DESCRIBE ttl, nt, rdf [default: table]
    #[arg(long, value_name = "FORMAT")]
    format: Option<String>,
    /// Print the plan of a SPARQL query with the number of solutions of each step, instead of its answer
    #[arg(long)]
    explain: bool,
    /// Maximum number of rows of a SPARQL answer; more are an error
    #[arg(long, value_name = "ROWS")]
    max_rows: Option<u64>,
    /// With --format geojson or geojsonseq: add the Wikidata item of each feature's `wikidata` tag as
    /// `wikidata_item`, with its label and the values of these properties; without properties, only the label
    #[arg(long, value_name = "P1082,P571", num_args = 0..=1, default_missing_value = "")]
    with_wikidata: Option<Properties>,
    /// Language that replaces [AUTO_LANGUAGE] in SPARQL, and language of the labels of --with-wikidata
    #[arg(long, value_name = "TAG", default_value = "en")]
    language: String,
    /// Bounding box for {{bbox}} and {{center}}: south,west,north,east
    #[arg(long, value_name = "BOX", allow_hyphen_values = true)]
    bbox: Option<BoundingBox>,
    /// Geocoded places as a JSON file in the format of OverpassNL's nominatim_cache.json; other names are searched
    /// among the snapshot's areas
    #[arg(long, value_name = "FILE")]
    places: Option<PathBuf>,
    /// Timeout in seconds; overrides the query's own [timeout:]
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<u64>,
    /// Memory limit of the query; overrides the query's own [maxsize:]
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    memory: Option<u64>,
    /// Print errors as one JSON object
    #[arg(long)]
    json: bool,
}

/// The dialects of SPARQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum SparqlDialect {
    /// QLever's for a query with one of its constructs, otherwise that of the Wikidata Query Service
    Auto,
    /// The dialect of the Wikidata Query Service
    Wdqs,
    /// The dialect of QLever
    Qlever,
    /// SPARQL 1.1
    Standard,
}

impl From<SparqlDialect> for Dialect {
    fn from(dialect: SparqlDialect) -> Dialect {
        match dialect {
            SparqlDialect::Auto => Dialect::Auto,
            SparqlDialect::Wdqs => Dialect::Wdqs,
            SparqlDialect::Qlever => Dialect::Qlever,
            SparqlDialect::Standard => Dialect::Standard,
        }
    }
}

/// The languages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum LanguageOption {
    /// OverpassQL or its XML form
    Overpassql,
    /// SPARQL 1.1 with the extensions of its dialect
    Sparql,
}

/// Runs the command.
pub fn run(args: &QueryCommandArgs) -> Result<(), CommandError> {
    slips::in_order(&args.snapshot, args.query.as_deref())?;
    let (written, origin) = match &args.words {
        Some(words) => match of_words(args, words)? {
            Some(query) => (query, "words".to_owned()),
            None => return Ok(()),
        },
        None => text_of(args.query.as_deref(), args.file.as_deref())?,
    };
    let is_sparql = match args.lang {
        Some(named) => named == LanguageOption::Sparql,
        None => open::begins_as_sparql(&written),
    };
    if args.with_wikidata.is_some() && (is_sparql || args.format.is_none()) {
        return Err(CommandError::usage("--with-wikidata needs --format geojson or geojsonseq"));
    }
    if is_sparql {
        return sparql::run(sparql::SparqlQueryOptions {
            snapshot: &args.snapshot,
            text: written,
            origin,
            format: args.format.as_deref().unwrap_or("table"),
            language: &args.language,
            dialect: args.dialect.into(),
            entailment: args.entailment,
            timeout: args.timeout,
            memory: args.memory,
            rows: args.max_rows,
            explain: args.explain,
        });
    }
    let geojson = args.format.as_deref().map(layout).transpose()?;
    let table = open::places(args.places.as_deref())?;
    let engine = open::engine(&args.snapshot)?;
    let osm = engine.osm();
    if let Some(memory) = args.memory {
        osm.set_states(StateSettings { folder: temporary::folder(), memory, cache: memory / 2, disk: u64::MAX });
    }
    let triples = args.with_wikidata.as_ref();
    let triples = triples.map(|_| open::with_triples(engine.triples(), &args.snapshot)).transpose()?;
    let items = triples.as_ref().zip(args.with_wikidata.as_ref()).map(|(triples, properties)| {
        ItemDescriptions::new(&triples.store, properties, chain_of([args.language.as_str()]))
    });
    for property in items.iter().flat_map(ItemDescriptions::unknown) {
        tell(&format!("note: property {property} does not occur in this snapshot"));
    }
    let places = engine.places(table.as_ref());
    let context = QueryContext { bbox: args.bbox, places: &places };
    let prepared = engine.checked(|| engine.prepare_overpass(&written, &context)).map_err(open::error)?;
    let OverpassQuery { text, script } = match prepared {
        Ok(query) => query,
        Err(OverpassRejection::Shortcut(problem)) => {
            return Err(CommandError::Query { problems: vec![shortcut(&problem)], text: written, origin });
        }
        Err(OverpassRejection::Syntax { text, failure }) => return Err(stopped(failure, text.into_owned(), origin)),
    };
    let stop = Arc::new(AtomicBool::new(false));
    let limits = Limits {
        deadline: args.timeout.and_then(|seconds| Instant::now().checked_add(Duration::from_secs(seconds))),
        memory: args.memory,
        cancelled: Arc::clone(&stop),
        ..Limits::default()
    };
    let mut out = StdoutWriter::new(stop);
    let form = match (geojson, &items) {
        (None, _) => AnswerFormat::Asked(&script.settings.output),
        (Some(layout), None) => AnswerFormat::GeoJson(layout),
        (Some(layout), Some(items)) => AnswerFormat::WithItems(layout, items),
    };
    let result = engine.checked(|| overpass::run_as(osm, &script, form, &limits, &mut out));
    // If the output has no reader, that explains the query's failure. If the file is damaged, the written answer is
    // worthless.
    out.finish()?;
    let summary = result.map_err(open::error)?.map_err(|failure| stopped(failure, text.into_owned(), origin))?;
    if summary.elements == 0 && !args.json {
        let notes = lint::notes(&script, osm);
        notes.iter().for_each(|note| tell(&format!("note: {note}")));
        if geojson.is_some() && notes.is_empty() {
            tell("note: the result has no geometry: end the query with `out geom;` or `out center;`");
        }
    }
    Ok(())
}

/// Returns the query for `--words`; prints the explanation and returns `None` with `--explain`.
fn of_words(args: &QueryCommandArgs, words: &str) -> Result<Option<String>, CommandError> {
    words::query(&words::WordsQueryOptions {
        snapshot: &args.snapshot,
        text: words,
        bbox: args.bbox,
        language: &args.language,
        only: args.lang.map(|lang| if lang == LanguageOption::Sparql { "sparql" } else { "overpassql" }),
        explain: args.explain,
        json: args.json,
    })
}

/// Converts a rejected or stopped query to the error of a command.
pub fn stopped(failure: OverpassFailure, text: String, origin: String) -> CommandError {
    if failure.diagnostics.iter().any(|diagnostic| diagnostic.code == OverpassCode::Temporary) {
        return CommandError::system("temporary", format!("{failure}. {}", failure.help().unwrap_or_default()));
    }
    CommandError::Query { text, origin, problems: failure.erase() }
}

/// Returns the layout of an answer in GeoJSON.
fn layout(format: &str) -> Result<GeoJsonLayout, CommandError> {
    match format {
        "geojson" => Ok(GeoJsonLayout::Collection),
        "geojsonseq" => Ok(GeoJsonLayout::Sequence),
        other => Err(CommandError::usage(format!(
            "unknown format '{other}' for OverpassQL: use geojson or geojsonseq, or set [out:...] in the query"
        ))),
    }
}

/// Converts a shortcut that cannot be replaced to an error of the query.
fn shortcut(problem: &turbo::ShortcutProblem) -> Diagnostic {
    let help = match problem.reason {
        Reason::NoBox => Some("pass the bounding box: --bbox south,west,north,east"),
        Reason::NoPlace => Some("pass a file of geocoded names: --places FILE"),
        _ => None,
    };
    problem.diagnostic(help.map(str::to_owned)).erase()
}

/// Returns the text and the name of the query: an argument or a file, with `-` for standard input.
pub fn text_of(query: Option<&str>, file: Option<&Path>) -> Result<(String, String), CommandError> {
    match (file, query) {
        (Some(path), _) if path != Path::new("-") => {
            slips::no_address(path)?;
            let file = std::fs::File::open(path).map_err(|e| unreadable(path, e))?;
            Ok((read(file).map_err(|e| unreadable(path, e))?, path.display().to_string()))
        }
        (Some(_), _) | (None, Some("-")) => {
            let stdin = std::io::stdin();
            if stdin.is_terminal() {
                tell("reading the query from standard input; end it with Ctrl-D");
            }
            Ok((read(stdin.lock()).map_err(|e| unreadable(Path::new("standard input"), e))?, "stdin".into()))
        }
        (None, text) => {
            let text = text.unwrap_or_default();
            slips::no_file(text)?;
            Ok((text.to_owned(), "query".into()))
        }
    }
}

fn read(from: impl Read) -> std::io::Result<String> {
    let mut text = String::new();
    from.take(MAX_QUERY + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_QUERY {
        return Err(std::io::Error::other(format!("longer than {}, the limit of a query", size::show(MAX_QUERY))));
    }
    // Some editors begin a file with a byte order mark.
    if text.starts_with('\u{feff}') {
        text.remove(0);
    }
    Ok(text)
}

fn unreadable(path: &Path, error: std::io::Error) -> CommandError {
    CommandError::input("query-unreadable", format!("{}: {error}", path.display()))
}
