//! Formats places as XML, with the elements and attributes of Nominatim's documentation.

use std::fmt::Write;

use serde_json::Value;

use super::place::{LICENCE, PlaceResult};
use super::place_shape::PlaceShape;
use terrapin_geocoder::{Entrance, PlacePosition};

/// The attributes of a search answer about the search itself.
pub struct More {
    /// The ids of all places that were found or excluded.
    pub ids: String,
    /// The request that finds further places.
    pub address: String,
    /// The box, as in the request.
    pub viewbox: Option<String>,
}

/// Returns the answer to a search, or to a lookup, which has no `more`. `time` is the time of the data.
pub fn search(places: &[PlaceResult], query: &str, more: Option<More>, time: &str) -> String {
    let root = "searchresults";
    let mut out = begin(root, time);
    let _ = write!(out, " querystring=\"{}\"", escaped(query));
    if let Some(More { ids, address, viewbox }) = more {
        if let Some(viewbox) = viewbox {
            let _ = write!(out, " viewbox=\"{}\"", escaped(&viewbox));
        }
        if !ids.is_empty() {
            let _ = write!(out, " exclude_place_ids=\"{}\"", escaped(&ids));
        }
        let _ = write!(out, " more_url=\"{}\"", escaped(&address));
    }
    out.push_str(">\n");
    for place in places {
        out.push_str("<place");
        attributes(&mut out, place, true);
        out.push('>');
        inside(&mut out, place);
        for (label, text) in parts(place) {
            let _ = write!(out, "<{label}>{}</{label}>", escaped(&text));
        }
        out.push_str("</place>\n");
    }
    out + &format!("</{root}>\n")
}

/// Returns the answer to a reverse geocoding request. `query` is the request's point.
pub fn point(place: Option<&PlaceResult>, query: &str, time: &str) -> String {
    let mut out = begin("reversegeocode", time);
    let _ = writeln!(out, " querystring=\"{}\">", escaped(query));
    match place {
        None => out.push_str("<error>Unable to geocode</error>\n"),
        Some(place) => {
            out.push_str("<result");
            attributes(&mut out, place, false);
            let _ = writeln!(out, ">{}</result>", escaped(&place.label()));
            let parts = parts(place);
            if !parts.is_empty() {
                out.push_str("<addressparts>");
                for (label, text) in parts {
                    let _ = write!(out, "<{label}>{}</{label}>", escaped(&text));
                }
                out.push_str("</addressparts>\n");
            }
            inside(&mut out, place);
        }
    }
    out + "</reversegeocode>\n"
}

/// Returns an error document.
pub fn error(status: u16, message: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<error><code>{status}</code><message>{}</message></error>\n",
        escaped(message)
    )
}

fn begin(root: &str, time: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<{root} timestamp=\"{}\" attribution=\"{LICENCE}\"",
        escaped(time)
    )
}

/// Writes the attributes of a place. The name of a place in a list is an attribute; in a reverse geocoding answer it is
/// the element's text.
fn attributes(out: &mut String, place: &PlaceResult, is_listed: bool) {
    let all = place.properties("class");
    let (center, bounds) = place.position();
    let text = |name: &str| match &all[name] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let bbox = format!("{},{},{},{}", bounds.south, bounds.north, bounds.west, bounds.east);
    let own = ["place_id", "osm_type", "osm_id"].into_iter().filter(|name| all.contains_key(*name));
    let own = own.map(|name| (name, text(name))).chain(place.title().map(|title| ("ref", title.to_owned())));
    let at = [("lat", center.lat.clone()), ("lon", center.lon.clone()), ("boundingbox", bbox)];
    let rest = [("place_rank", "place_rank"), ("address_rank", "place_rank"), ("display_name", "display_name")]
        .into_iter()
        .chain(["class", "type", "importance"].map(|name| (name, name)))
        .filter(|(name, _)| is_listed || *name != "display_name")
        .map(|(name, from)| (name, text(from)));
    for (name, value) in own.chain(at).chain(rest) {
        let _ = write!(out, " {name}=\"{}\"", escaped(&value));
    }
    let PlaceShape { geojson, text, svg, .. } = place.shape();
    if let Some(geojson) = geojson {
        let _ = write!(out, " geojson=\"{}\"", escaped(&geojson.to_string()));
    }
    for (name, text) in [("geotext", text), ("geosvg", svg)] {
        if let Some(text) = text {
            let _ = write!(out, " {name}=\"{}\"", escaped(text));
        }
    }
}

/// Writes the requested child elements: the shape as KML, names, tags and entrances.
fn inside(out: &mut String, place: &PlaceResult) {
    if let Some(kml) = &place.shape().kml {
        let _ = write!(out, "<geokml>{kml}</geokml>");
    }
    if !place.entrances().is_empty() {
        out.push_str("<entrances>");
        for Entrance { id, kind, at, tags } in place.entrances() {
            let PlacePosition { lat, lon } = PlacePosition::of(*at);
            let _ = write!(out, "<entrance osm_id=\"{id}\" type=\"{}\" lat=\"{lat}\" lon=\"{lon}\">", escaped(kind));
            for (key, value) in tags {
                let _ = write!(out, "<tag key=\"{}\" value=\"{}\"/>", escaped(key), escaped(value));
            }
            out.push_str("</entrance>");
        }
        out.push_str("</entrances>");
    }
    let all = place.properties("class");
    for (list, item, key) in [("extratags", "tag", "key"), ("namedetails", "name", "desc")] {
        let Some(Value::Object(tags)) = all.get(list) else { continue };
        let _ = write!(out, "<{list}>");
        for (name, value) in tags {
            let value = escaped(value.as_str().unwrap_or_default());
            let _ = match item {
                "tag" => write!(out, "<tag {key}=\"{}\" value=\"{value}\"/>", escaped(name)),
                _ => write!(out, "<name {key}=\"{}\">{value}</name>", escaped(name)),
            };
        }
        let _ = write!(out, "</{list}>");
    }
}

/// Returns the parts of the address if they are requested. Parts with a label that is not a valid element name are
/// omitted.
fn parts(place: &PlaceResult) -> Vec<(String, String)> {
    let asked = place.properties("class").contains_key("address");
    let is_name = |label: &str| {
        label.starts_with(|c: char| c.is_ascii_alphabetic())
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b))
    };
    let all = if asked { place.address() } else { Vec::new() };
    all.into_iter().filter(|(label, _)| is_name(label)).collect()
}

/// Escapes a text for XML. Control characters are removed, since XML does not allow them even escaped.
fn escaped(text: &str) -> String {
    let allowed: String = text.chars().filter(|&c| c >= ' ' && c != '\u{fffe}' && c != '\u{ffff}').collect();
    html_escape::encode_quoted_attribute(&allowed).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_cannot_have_is_left_out() {
        assert_eq!(escaped("a\u{1}<\"&'>"), "a&lt;&quot;&amp;&#x27;&gt;");
        assert_eq!(
            point(None, "x=\"1\"", ""),
            format!(
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<reversegeocode timestamp=\"\" attribution=\"{LICENCE}\" querystring=\"x=&quot;1&quot;\">\n<error>Unable to geocode</error>\n</reversegeocode>\n"
            )
        );
    }
}
