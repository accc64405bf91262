//! OSM XML: parsed as elements and as changes, and sometimes loaded into a snapshot.

use terrapin_loaders::{LoaderError, ReadOptions, header, read, read_changes};

pub const WORDS: &[&str] = &[
    "<node id=\"1\" lat=\"1\" lon=\"2\"/>",
    "<way id=\"1\">",
    "</way>",
    "<nd ref=\"1\"/>",
    "<nd ref=\"1\" lat=\"1\" lon=\"2\"/>",
    "<relation id=\"1\">",
    "</relation>",
    "<member type=\"way\" ref=\"1\" role=\"outer\"/>",
    "<tag k=\"a\" v=\"b\"/>",
    "<osm version=\"0.6\">",
    "</osm>",
    "visible=\"false\"",
    "timestamp=\"2020-01-01T00:00:00Z\"",
    "&amp;",
    "&#0;",
    "&#xffff;",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "<!DOCTYPE a [<!ENTITY a \"b\">]>",
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
    "&a;",
    "\u{feff}",
    "uid=\"7\" user=\"ann\"",
    "changeset=\"1\"",
    "lat=\"90.00000001\"",
    "lon=\"-180\"",
    "<bounds minlat=\"1\"/>",
    "<create>",
    "</create>",
    "<modify>",
    "<delete>",
    "<osmChange version=\"0.6\">",
    "</osmChange>",
    "version=\"2\"",
    "1e5",
];

pub fn seeds() -> Vec<Vec<u8>> {
    super::texts(&[
        super::town::ELEMENTS,
        "<?xml version='1.0'?><osm version='0.6'><bound box='1,2,3,4' origin='x'/><note>n</note><meta osm_base='2020-01-01T00:00:00Z'/><way id='-1' visible='false' version='2'><nd ref='1' lat='1.5e1' lon='2'/></way></osm>",
        "<osmChange version='0.6'><create><node id='1' version='1' lat='1' lon='2'/></create><delete><way id='2' version='3'/></delete></osmChange>",
    ])
}

pub fn check(input: &[u8]) {
    elements(&super::town::file("input.osm", input));
}

/// Reads a file of elements in every supported way.
pub fn elements(path: &std::path::Path) {
    let _ = header(path);
    let options = ReadOptions { memory: 8 << 20, ..ReadOptions::default() };
    let map = |block: &terrapin_loaders::ElementBlock| {
        let mut count = 0_u64;
        block.for_each(|_| count += 1)?;
        Ok(count)
    };
    let read = read::<u64, LoaderError>(path, &options, map, |_, _| Ok(()));
    if let Err(error) = &read {
        let _ = error.to_string();
    }
    if let Err(error) = read_changes::<u64, LoaderError>(path, &options, map, |_, _| Ok(())) {
        let _ = error.to_string();
    }
    // A file that can be parsed can also be loaded, or the load returns an error. Loading is slow.
    if read.is_ok() {
        load(path);
    }
}

fn load(path: &std::path::Path) {
    let options = terrapin::load::LoadOptions {
        osm: Some(path.to_owned()),
        memory: 32 << 20,
        ..terrapin::load::LoadOptions::new(path.with_extension("terrapin"))
    };
    if let Err(error) = terrapin::load::load(&options, &terrapin::load::Quiet) {
        let _ = error.to_string();
    } else {
        terrapin::snapshot::verify(&options.out).expect("what was loaded is whole");
    }
}
