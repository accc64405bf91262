//! The `{{shortcuts}}` of Overpass Turbo: no expanded text exceeds the size limit.

use terrapin::geocoder::PlaceTable;
use terrapin::osm::BoundingBox;
use terrapin::overpass::turbo::{self, ShortcutValues};

pub const WORDS: &[&str] = &[
    "{{bbox}}",
    "{{center}}",
    "{{date}}",
    "{{date:3 days}}",
    "{{date:2020-01-01T00:00:00Z}}",
    "{{geocodeArea:Rome}}",
    "{{geocodeId:Rome}}",
    "{{geocodeBbox:Rome}}",
    "{{geocodeCoords:Rome}}",
    "{{nominatimArea:Rome}}",
    "{{style:",
    "{{data:overpass}}",
    "{{a=b}}",
    "{{a}}",
    "{{a={{b}}{{b}}}}",
    "{{b={{c}}{{c}}}}",
    "{{c={{d}}{{d}}}}",
    "{{",
    "}}",
    "=",
    "<osm-script/>",
    "999999999999 years",
];

pub fn seeds() -> Vec<Vec<u8>> {
    super::texts(&[
        "{{radius=1000}}node[amenity=cafe](around:{{radius}},{{center}});({{geocodeArea:Rome}};)->.a;out;{{style: node{color:red}}}",
        "{{a={{b}}{{b}}}}{{b={{c}}{{c}}}}{{c=xx}}{{a}}{{date:3 days}}{{date:-1 week}}{{date:2020-01-01T00:00:00Z}}",
        "<osm-script><bbox-query {{bbox}}/><id-query {{geocodeId:Rome}}/><around {{geocodeCoords:Nowhere}}/></osm-script>",
        "{{data:overpass,server=x}}[date:\"{{date:2 months}}\"];{{a=a}}{{a}}{{{{a}}}}{{=}}{{:}}",
    ])
}

pub fn check(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let bbox = Some(BoundingBox { south: -1, west: 0, north: 10_000_000, east: 10_000_000 });
    let table = br#"{"Rome":{"lat":"41.9","lon":"12.5","osm_type":"relation","osm_id":41485,"boundingbox":["41","42","12","13"]}}"#;
    let places = PlaceTable::parse(table).unwrap_or_default();
    for bbox in [bbox, None] {
        let surroundings = ShortcutValues { bbox, now: 1_600_000_000, places: &places };
        if let Ok(expanded) = turbo::expand(&text, &surroundings) {
            assert!(expanded.len() <= text.len().max(17 << 20), "{} bytes", expanded.len());
        }
    }
}
