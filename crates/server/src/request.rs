//! Parses the parameters that accompany an OverpassQL query. As in the Overpass API: `bbox`, the box for a query that
//! leaves it open, and `jsonp`, the function to call with the answer. In addition: `with-wikidata`, the data of linked
//! items that features contain, and `accept-language`, the languages of their labels.

use std::borrow::Cow;

use crate::form;
use terrapin_entities::Properties;

/// Maximum length of a function's name.
const LONGEST_NAME: usize = 128;

/// The parameter that selects the data of linked items that features contain.
pub const WITH_WIKIDATA: &str = "with-wikidata";

/// The parameters that accompany a query.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Beside {
    /// South, west, north and east, in the order of queries.
    bbox: Option<String>,
    /// The name of a function.
    pub jsonp: Option<String>,
    /// The properties of linked items to include.
    pub items: Option<Properties>,
    /// The languages of labels, in the syntax of the header `Accept-Language`.
    pub languages: Option<String>,
}

impl Beside {
    /// Parses the parameters of a URL or a form; the URL takes precedence.
    ///
    /// # Errors
    /// Returns a message that explains the first wrong parameter.
    pub fn read(in_address: &[u8], in_form: &[u8]) -> Result<Beside, String> {
        let given = |name: &str| {
            let found =
                [in_address, in_form].into_iter().flat_map(form::pairs).find(|(key, _)| *key == name.as_bytes());
            found.map(|(_, value)| form::decoded(value).unwrap_or_default())
        };
        let value = |name: &str| given(name).filter(|value| !value.is_empty());
        let bbox = value("bbox").map(|text| latitude_first(&text).ok_or(NO_BOX)).transpose()?;
        let jsonp =
            value("jsonp").map(|name| if is_function(&name) { Ok(name) } else { Err(NO_FUNCTION) }).transpose()?;
        // An empty value requests labels alone.
        let items = given(WITH_WIKIDATA).map(|names| names.parse::<Properties>());
        let items = items.transpose().map_err(|wrong| format!("The parameter \"{WITH_WIKIDATA}\": {wrong}"))?;
        Ok(Beside { bbox, jsonp, items, languages: value("accept-language") })
    }

    /// Inserts the box into a query that leaves it open: `(bbox)` anywhere, `[bbox]` among its settings.
    pub fn fill<'a>(&self, query: &'a str) -> Cow<'a, str> {
        let Some(bbox) = &self.bbox else { return query.into() };
        let settings = if query.trim_start().starts_with('[') { query.find(';').unwrap_or(query.len()) } else { 0 };
        let (head, rest) = query.split_at(settings);
        let whole = head.replace("[bbox]", &format!("[bbox:{bbox}]")) + rest;
        whole.replace("(bbox)", &format!("({bbox})")).into()
    }
}

const NO_BOX: &str = "The parameter \"bbox\" must be four numbers: west,south,east,north";
const NO_FUNCTION: &str = "The parameter \"jsonp\" must be the name of a function";

/// Converts a box from longitude first, the order of map libraries, to latitude first.
fn latitude_first(text: &str) -> Option<String> {
    let sides: Vec<&str> = text.split(',').map(str::trim).collect();
    let [west, south, east, north] = sides.try_into().ok()?;
    let is_number = |side: &str| side.parse::<f64>().is_ok_and(f64::is_finite);
    [west, south, east, north].into_iter().all(is_number).then(|| format!("{south},{west},{north},{east}"))
}

/// Returns whether the text is a name or a path of names. Anything else would let the author of a URL inject a script.
pub fn is_function(name: &str) -> bool {
    let is_name = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '$')
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'$')
    };
    name.len() <= LONGEST_NAME && name.split('.').all(is_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_is_put_where_the_query_leaves_one_open() {
        let beside = Beside::read(b"data=x&bbox=14.5,35.8,%2014.6,36e0", b"").expect("a box");
        let filled = |query| beside.fill(query).into_owned();
        assert_eq!(filled("node(bbox);out geom(bbox);"), "node(35.8,14.5,36e0,14.6);out geom(35.8,14.5,36e0,14.6);");
        assert_eq!(filled("[out:json][bbox];node[bbox];out;"), "[out:json][bbox:35.8,14.5,36e0,14.6];node[bbox];out;");
        assert_eq!(filled("node[bbox];out;"), "node[bbox];out;");
        assert_eq!(Beside::default().fill("node(bbox);out;"), "node(bbox);out;");
        for wrong in ["1,2,3", "1,2,3,4,5", "a,b,c,d", "1,2,3,inf", "1,2,3,4);out;"] {
            assert_eq!(Beside::read(b"", format!("bbox={wrong}").as_bytes()), Err(NO_BOX.to_owned()), "{wrong}");
        }
    }

    #[test]
    fn properties_of_items_are_named_by_their_identifiers() {
        let read = |text: &str| Beside::read(text.as_bytes(), b"").map(|beside| beside.items);
        assert_eq!(read("data=x"), Ok(None));
        assert_eq!(read("with-wikidata="), Ok(Some(Properties::default())));
        assert_eq!(read("with-wikidata=P1082%2CP571"), Ok(Some("P1082,P571".parse().unwrap())));
        assert!(read("with-wikidata=population").is_err_and(|wrong| wrong.contains("'population' is no property")));
    }

    #[test]
    fn only_a_name_is_called() {
        let read = |name: &str| Beside::read(format!("jsonp={name}").as_bytes(), b"").map(|beside| beside.jsonp);
        for name in ["parseResponse", "$", "_a1", "OpenLayers.Protocol.Script.registry.c1"] {
            assert_eq!(read(name), Ok(Some(name.to_owned())));
        }
        assert_eq!(read(""), Ok(None));
        for wrong in ["alert(1)", "a.", ".a", "1a", "a[0]", "a%20b", "a;b", "%ff", "\u{e9}"] {
            assert!(read(wrong) == Err(NO_FUNCTION.to_owned()) || wrong == "%ff", "{wrong}");
        }
    }
}
