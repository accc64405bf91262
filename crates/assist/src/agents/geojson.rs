//! The tool `export_geojson`.

use std::collections::BTreeMap;
use std::io;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::overpass::{script, stopped};
use super::part::ResultPage;
use super::{Limits, Tool, Trouble, triples};
use crate::items::ItemDescriptions;
use terrapin_budget as budget;
use terrapin_engine::Engine;
use terrapin_entities::{Properties, chain_of};
use terrapin_overpass as overpass;
use terrapin_overpass::output::{ItemSource, MapFeature, MapFeatureSink};

/// Default and maximum number of features in an answer.
const FEATURES: (usize, usize) = (50, 500);
/// Maximum total size of the features in bytes. A long geometry is never cut; the first feature is always returned.
const LARGEST: usize = 256 << 10;

/// Returns the results of a query as features with geometries.
pub struct ExportGeoJson;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GeoJsonToolRequest {
    /// The query in OverpassQL, which has to print positions: "nwr[tourism=museum]({{bbox}}); out geom;" or "out
    /// center;".
    query: String,
    /// The box that replaces {{bbox}}: "south,west,north,east" in degrees.
    bbox: Option<String>,
    /// Maximum number of features; default: 50, at most 500, and fewer if their geometries are long.
    limit: Option<usize>,
    /// next_cursor of the previous answer, for the next features of the same query.
    cursor: Option<String>,
    /// Properties of Wikidata, "P1082,P571": features with a tag `wikidata` get a member wikidata_item with the label
    /// and these properties of their item. "" for the label alone.
    with_wikidata: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub struct GeoJsonToolAnswer {
    /// FeatureCollection.
    r#type: &'static str,
    /// Number of all features of the query.
    total: usize,
    /// The selected features.
    features: Vec<BTreeMap<String, Value>>,
    /// The cursor for the next features.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// The next step, if there are no features or more features.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl Tool for ExportGeoJson {
    const NAME: &'static str = "export_geojson";
    const TITLE: &'static str = "Export GeoJSON";
    const DESCRIPTION: &'static str = "Run a query in OverpassQL and give what it finds as features of GeoJSON, with geometry and \
        tags, to be shown on a map or saved. For counts and tags alone use query_overpass, whose answers are shorter.";
    type Input = GeoJsonToolRequest;
    type Output = GeoJsonToolAnswer;

    fn run(engine: &Engine, input: GeoJsonToolRequest, limits: &Limits) -> Result<GeoJsonToolAnswer, Trouble> {
        let part = ResultPage::asked(input.limit, input.cursor.as_deref(), FEATURES.0, FEATURES.1)?;
        let script = script(engine, &input.query, input.bbox.as_deref(), limits)?;
        let properties = input.with_wikidata.as_deref().map(str::parse::<Properties>).transpose();
        let properties = properties.map_err(|wrong| Trouble::new(format!("with_wikidata: {wrong}")))?;
        let items = match &properties {
            Some(properties) => Some(ItemDescriptions::new(&triples(engine)?.store, properties, chain_of([]))),
            None => None,
        };
        let items = items.as_ref().map(|items| items as &dyn ItemSource);
        let mut found = FeaturePage { part, total: 0, features: Vec::new(), bytes: 0, is_full: false };
        overpass::run_features(engine.osm(), &script, items, limits, &mut found).map_err(|why| stopped(&why))?;
        let FeaturePage { total, features, .. } = found;
        let next = part.skip.saturating_add(features.len());
        let next_cursor = (next < total && !features.is_empty()).then(|| next.to_string());
        let hint = if total == 0 {
            Some(
                "nothing with a position: end the query with `out geom;` or `out center;`, or see query_overpass"
                    .to_owned(),
            )
        } else {
            next_cursor.as_ref().map(|_| {
                "go on with next_cursor, or have all of it at once over HTTP: /api/interpreter with Accept: \
                 application/geo+json"
                    .to_owned()
            })
        };
        Ok(GeoJsonToolAnswer { r#type: "FeatureCollection", total, features, next_cursor, hint })
    }
}

/// The features of one page. All features are counted.
struct FeaturePage {
    part: ResultPage,
    total: usize,
    features: Vec<BTreeMap<String, Value>>,
    /// Total size of the features in bytes.
    bytes: usize,
    /// Whether a feature of the page was too large to be added.
    is_full: bool,
}

impl MapFeatureSink for FeaturePage {
    fn feature(&mut self, feature: &MapFeature<'_>) -> io::Result<()> {
        budget::checkpoint();
        if self.part.has(self.total) && !self.is_full {
            // The first feature is returned regardless of its size.
            self.is_full = self.bytes > 0 && self.bytes + feature.text.len() > LARGEST;
            if !self.is_full {
                self.features.push(serde_json::from_str(feature.text)?);
                self.bytes += feature.text.len();
            }
        }
        self.total += 1;
        Ok(())
    }
}
