//! `geocode`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Limits, Tool, Trouble, World};
use crate::geocoder::{Areas, Details, Places};

/// Finds the area of a name.
pub struct Geocode;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Name {
    /// The name of a country, a town or another area, as it is written on the map or in any language: "Valletta".
    name: String,
}

#[derive(Serialize, JsonSchema)]
pub struct Place {
    name: String,
    /// node, way or relation.
    osm_type: &'static str,
    osm_id: i64,
    /// The tag that says what it is: boundary=administrative.
    category: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    admin_level: Option<String>,
    /// Its id as an area of Overpass queries.
    #[serde(skip_serializing_if = "Option::is_none")]
    area_id: Option<i64>,
    /// The middle of its box, degrees.
    #[serde(skip_serializing_if = "Option::is_none")]
    center: Option<[String; 2]>,
    /// South, west, north, east, degrees.
    #[serde(skip_serializing_if = "Option::is_none")]
    bbox: Option<[String; 4]>,
    /// How to use it in an Overpass query.
    hint: String,
}

impl Tool for Geocode {
    const NAME: &'static str = "geocode";
    const TITLE: &'static str = "Find a place by name";
    const DESCRIPTION: &'static str = "Find the area (country, region, town, park) that a name stands for in this data: its id \
        for Overpass queries, its middle and its box. Names of things that are no areas, such as a restaurant, are found by \
        query_overpass with [name=...].";
    type Input = Name;
    type Output = Place;

    fn run(world: World<'_>, input: Name, _: &Limits) -> Result<Place, Trouble> {
        let name = input.name.trim();
        let osm = world.osm();
        let found = Areas::new(osm).find(name).and_then(|place| Some((*place.element.value()?, place)));
        let Some((element, place)) = found else {
            return Err(Trouble::new(format!("no area is called {name:?} here")).hint(
                "write the name as the map has it, the whole of it and nothing else; for what is no area ask \
                 query_overpass: nwr[\"name\"~\"...\",i];out center 10;",
            ));
        };
        let details = osm.find(element.kind, element.id).map(|ordinal| Details::of(osm, element.kind, ordinal));
        let details = details.unwrap_or(Details { tags: Vec::new() });
        let (key, value) = details.category();
        let hint = match element.area_id() {
            Some(id) => format!("area({id})->.a; nwr[...](area.a); out center 20;"),
            None => "use the box".to_owned(),
        };
        Ok(Place {
            name: details.tag("name").unwrap_or(name).to_owned(),
            osm_type: element.kind.name(),
            osm_id: element.id,
            category: format!("{key}={value}"),
            admin_level: details.tag("admin_level").map(str::to_owned),
            area_id: element.area_id(),
            center: place.center.value().map(|at| [at.lat.clone(), at.lon.clone()]),
            bbox: place.bounds.value().map(|b| [&b.south, &b.west, &b.north, &b.east].map(String::clone)),
            hint,
        })
    }
}
