//! A town of a few elements and triples, loaded once, for targets that need data.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use terrapin::load::Quiet;
use terrapin::load::{LoadOptions, load};
use terrapin::osm::Osm;
use terrapin::snapshot::Snapshot;
use terrapin::sparql::Environment;

/// The town's elements.
pub const ELEMENTS: &str = r#"<osm version="0.6" generator="hand">
<bounds minlat="10" minlon="20" maxlat="10.06" maxlon="20.06"/>
<node id="1" lat="10.0010" lon="20.0010" version="1" timestamp="2020-01-01T00:00:00Z" changeset="11" uid="7" user="ann"><tag k="amenity" v="cafe"/><tag k="name" v="Bean &amp; Leaf"/></node>
<node id="2" lat="10.0020" lon="20.0020" version="2" timestamp="2020-01-02T00:00:00Z" changeset="12" uid="8" user="bob"><tag k="amenity" v="cafe"/><tag k="wikidata" v="Q1"/></node>
<node id="4" lat="10.0500" lon="20.0500"/>
<node id="11" lat="10.0000" lon="20.0000"/><node id="12" lat="10.0000" lon="20.0100"/>
<node id="13" lat="10.0100" lon="20.0100"/><node id="14" lat="10.0100" lon="20.0000"/>
<way id="21"><nd ref="11"/><nd ref="12"/><nd ref="13"/><nd ref="14"/><nd ref="11"/></way>
<way id="22" version="3"><nd ref="11"/><nd ref="13"/><nd ref="98"/><tag k="highway" v="residential"/><tag k="name" v="Ladle Street"/></way>
<relation id="31" version="1"><member type="way" ref="21" role="outer"/><tag k="type" v="multipolygon"/><tag k="name" v="Ladle"/><tag k="admin_level" v="8"/></relation>
<relation id="32"><member type="way" ref="22" role=""/><member type="way" ref="99" role="stop"/><member type="relation" ref="31" role="stop"/><member type="node" ref="1" role=""/><tag k="type" v="route"/></relation>
</osm>
"#;

/// The town's triples.
pub const TRIPLES: &str = "\
<http://www.wikidata.org/entity/Q1> <http://www.wikidata.org/prop/direct/P31> <http://www.wikidata.org/entity/Q3957> .
<http://www.wikidata.org/entity/Q3957> <http://www.wikidata.org/prop/direct/P279> <http://www.wikidata.org/entity/Q5> .
<http://www.wikidata.org/entity/Q1> <http://www.w3.org/2000/01/rdf-schema#label> \"Ladle\"@en .
<http://www.wikidata.org/entity/Q1> <http://www.wikidata.org/prop/direct/P1082> \"+1200\"^^<http://www.w3.org/2001/XMLSchema#decimal> .
<http://www.wikidata.org/entity/Q1> <http://www.wikidata.org/prop/direct/P625> \"Point(20.01 10.01)\"^^<http://www.opengis.net/ont/geosparql#wktLiteral> .
<http://www.wikidata.org/entity/Q1> <http://schema.org/dateModified> \"2020-01-01T00:00:00Z\"^^<http://www.w3.org/2001/XMLSchema#dateTime> .
<http://www.wikidata.org/entity/Q2> <http://www.wikidata.org/prop/direct/P131> <http://www.wikidata.org/entity/Q1> <http://example.org/graph> .
_:b1 <http://example.org/p> _:b2 .
_:b2 <http://example.org/p> \"some longer text that is no number\" .
";

/// The opened town.
pub struct FuzzTown {
    pub snapshot: Arc<Snapshot>,
    pub osm: Osm,
    pub environment: Environment,
    /// The folder with the snapshot.
    pub folder: tempfile::TempDir,
}

impl FuzzTown {
    /// Returns the path of the snapshot.
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("town.terrapin")
    }
}

/// Creates a new folder, in memory if the system has such a file system.
pub fn folder() -> tempfile::TempDir {
    let shared = Path::new("/dev/shm");
    // The parent process removes this folder, even if this process is killed.
    if let Some(parent) = std::env::var_os("TERRAPIN_FUZZ_FOLDER") {
        return tempfile::tempdir_in(parent).expect("a folder");
    }
    let parent = if shared.is_dir() { shared.to_owned() } else { std::env::temp_dir() };
    tempfile::Builder::new().prefix("terrapin-fuzz-").tempdir_in(parent).expect("a folder")
}

/// Returns the town.
pub fn opened() -> &'static FuzzTown {
    static TOWN: OnceLock<FuzzTown> = OnceLock::new();
    TOWN.get_or_init(|| {
        let folder = folder();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("town.osm"), ELEMENTS).expect("written");
        std::fs::write(path("town.nq"), TRIPLES).expect("written");
        let options = LoadOptions {
            osm: Some(path("town.osm")),
            rdf: vec![path("town.nq")],
            memory: 64 << 20,
            ..LoadOptions::new(path("town.terrapin"))
        };
        load(&options, &Quiet).expect("the town loads");
        let snapshot = Arc::new(Snapshot::open(&path("town.terrapin")).expect("it opens"));
        let osm = Osm::open(snapshot.clone()).expect("it has elements");
        let environment = Environment::open(&snapshot).expect("it is whole").expect("it has triples");
        FuzzTown { snapshot, osm, environment, folder }
    })
}

/// Returns the made-up village of the tests, with all its versions.
pub fn village() -> Arc<Snapshot> {
    let out = scratch().join("village.terrapin");
    let source = scratch().join("village.osh");
    std::fs::write(&source, VILLAGE).expect("written");
    let options = LoadOptions { osm: Some(source), history: true, memory: 64 << 20, ..LoadOptions::new(out.clone()) };
    load(&options, &Quiet).expect("the village loads");
    Arc::new(Snapshot::open(&out).expect("it opens"))
}

/// The history of the village.
const VILLAGE: &str = include_str!("../../tests/snapshot/history/village.osh");

/// Returns a folder for temporary files, always the same one.
pub fn scratch() -> PathBuf {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    FOLDER.get_or_init(folder).path().to_owned()
}

/// Writes an input to a file, always the same one, and returns its path.
pub fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let path = scratch().join(name);
    std::fs::write(&path, bytes).expect("written");
    path
}
