//! `/tiles/{z}/{x}/{y}.mvt`: vector tiles of the snapshot, and `/tiles.json`, their description for map libraries
//! (TileJSON 3). Recent tiles are cached; others are made in the search lane. A tile depends on the snapshot and this
//! program alone. A URL that names both in `v`, as in `/tiles.json`, may therefore be cached forever.

use std::io::{Cursor, Read};
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::on;
use flate2::read::GzDecoder;
use serde_json::{Value, json};

use crate::context::HttpRequestContext;
use crate::job::{self, Job, Lane};
use crate::json::JsonWording;
use crate::reply::Reply;
use crate::route::{Route, Schema, path, query};
use crate::service::{self, Wording};
use crate::{App, etag};
use terrapin_tiles::{self as tiles, DEEPEST, TileId};

/// The routes of vector tiles.
pub const ROUTES: &[Route] = &[
    Route::get("/tiles.json", "Description of the vector tiles (TileJSON 3)", |_, methods| on(methods, description)),
    Route {
        documented_path: Some("/tiles/{z}/{x}/{y}.mvt"),
        ..Route::get("/tiles/{z}/{x}/{y}", "A vector tile in the layers of Shortbread", |_, methods| on(methods, tile))
            .takes(&[&[
                path("z", Schema::Integer(0, DEEPEST as i64, None), "Zoom"),
                path("x", Schema::Integer(0, (1 << DEEPEST) - 1, None), "Column, below 2^z"),
                path("y", Schema::Integer(0, (1 << DEEPEST) - 1, None), "Row, below 2^z"),
                query("v", Schema::Text, "Version, as /tiles.json has it: such a tile may be cached for ever"),
            ]])
            .answers(&[MVT])
            .statuses_too(&[304, 429, 500, 503, 504])
    },
];

/// The media type of a tile.
const MVT: &str = "application/vnd.mapbox-vector-tile";
/// Bytes of a tile that are decompressed at once.
const PIECE: u64 = 64 << 10;
/// Time limit of a tile.
const LONGEST: Duration = Duration::from_secs(20);
/// The attribution that a map has to show.
const ATTRIBUTION: &str =
    "<a href=\"https://www.openstreetmap.org/copyright\" target=\"_blank\">&copy; OpenStreetMap contributors</a>";

/// Returns a tile.
pub async fn tile(
    State(app): State<Arc<App>>,
    Extension(context): Extension<Arc<HttpRequestContext>>,
    Path((z, x, y)): Path<(String, String, String)>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Reply {
    let Some(place) = place(&z, &x, &y) else {
        let message = format!("no such tile: expected /tiles/z/x/y.mvt with z from 0 to {DEEPEST}, x and y below 2^z");
        return JsonWording.refusal(StatusCode::NOT_FOUND, &message).into();
    };
    // A weak tag, since it is the same tile compressed or not.
    let tag = format!("W/\"{}\"", version(&app));
    if etag::is_known(&headers, &tag) {
        return finished(&app, query.as_deref(), &tag, StatusCode::NOT_MODIFIED.into_response()).into();
    }
    let packed: Bytes = match app.tiles.kept(place) {
        Some(kept) => Bytes::from_owner(kept),
        None => match service::run(&app, &context, Lane::Search, &JsonWording, move |job| work(job, place)).await {
            Reply::Whole(_, bytes) => bytes,
            // The tile is larger than the bytes that are held back, and is streamed.
            streaming @ Reply::Streaming(..) => {
                let mut response = streaming.into_response();
                response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
                return finished(&app, query.as_deref(), &tag, response).into();
            }
            other @ Reply::Other(_) => return other,
        },
    };
    let mut response = if takes_gzip(&headers) {
        let mut response = Body::from(packed).into_response();
        response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        response
    } else {
        unpacked(packed).into_response()
    };
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(MVT));
    finished(&app, query.as_deref(), &tag, response).into()
}

/// Returns a tile for clients without gzip. It is decompressed while it is sent, so that a slow reader holds at most
/// one piece of it in memory.
fn unpacked(packed: Bytes) -> Body {
    let mut tile = GzDecoder::new(Cursor::new(packed));
    let pieces = std::iter::from_fn(move || {
        let mut piece = Vec::new();
        let read = tile.by_ref().take(PIECE).read_to_end(&mut piece);
        read.map(|length| (length > 0).then(|| Bytes::from(piece))).transpose()
    });
    Body::from_stream(tokio_stream::iter(pieces))
}

/// Adds the headers for caching.
fn finished(app: &App, query: Option<&str>, tag: &str, mut response: Response) -> Response {
    let named = query.is_some_and(|query| query.split('&').any(|part| part.strip_prefix("v=") == Some(&version(app))));
    let kept = if named { "public, max-age=31536000, immutable" } else { "no-cache" };
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(kept));
    headers.append(header::VARY, HeaderValue::from_static("accept-encoding"));
    headers.extend(HeaderValue::from_str(tag).ok().map(|tag| (header::ETAG, tag)));
    job::from_snapshot(app, response)
}

/// Returns the version of all tiles: the snapshot and the program, on which a tile depends besides its position.
fn version(app: &App) -> String {
    let digest = app.engine.digest().trim_start_matches("sha256:");
    format!("{}-{}", digest.get(..16).unwrap_or(digest), env!("CARGO_PKG_VERSION"))
}

/// Parses the position of a tile in the URL.
fn place(z: &str, x: &str, y: &str) -> Option<TileId> {
    let number =
        |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<u32>().ok()).flatten();
    TileId::new(u8::try_from(number(z)?).ok()?, number(x)?, number(y.strip_suffix(".mvt")?)?)
}

/// Returns whether a client accepts gzip; without the header, it is assumed not to.
fn takes_gzip(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    accepted.flat_map(|value| value.split(',')).any(|coding| {
        let mut parts = coding.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let refused = parts.any(|part| part.strip_prefix("q=").is_some_and(|q| q.parse::<f32>() == Ok(0.0)));
        (name.eq_ignore_ascii_case("gzip") || name == "*") && !refused
    })
}

fn work(job: Job, place: TileId) {
    let memory = job.memory();
    let (run, sink) = job.begin(LONGEST, memory, MVT);
    let made = run.work(|app| app.tiles.make(app.engine.osm(), place));
    let made = made.map(|tile| {
        run.app().tiles.keep(place, &tile);
        (tile, 1)
    });
    service::end(run, sink, &JsonWording, "tile", made.map_err(|stop| service::stopped(&JsonWording, stop)));
}

/// Returns the description of the tiles (TileJSON).
pub async fn description(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    let manifest = app.engine.manifest();
    let text = |name: header::HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let scheme = match headers.get("x-forwarded-proto").map(HeaderValue::as_bytes) {
        Some(b"https") => "https",
        _ => "http",
    };
    let host = text(header::HOST).unwrap_or("localhost");
    let degrees = |number: i32| f64::from(number) / 1e7;
    let mut about = json!({
        "tilejson": "3.0.0",
        "name": "Terrapin",
        "description": "The snapshot in the layers of Shortbread 1.0",
        "version": "1.0.0",
        "attribution": ATTRIBUTION,
        "scheme": "xyz",
        "tiles": [format!("{scheme}://{host}/tiles/{{z}}/{{x}}/{{y}}.mvt?v={}", version(&app))],
        "minzoom": 0,
        "maxzoom": DEEPEST,
        "vector_layers": tiles::layers().map(layer).collect::<Vec<Value>>(),
    });
    if let Some([south, west, north, east]) = manifest.bounding_box.map(|sides| sides.map(degrees)) {
        // The Mercator projection ends before the poles.
        let (south, north) = (south.max(-85.0511287), north.min(85.0511287));
        about["bounds"] = json!([west, south, east, north]);
        about["center"] = json!([(west + east) / 2.0, (south + north) / 2.0, zoom(east - west)]);
    }
    job::from_snapshot(&app, axum::Json(about).into_response())
}

/// Returns the zoom level at which a screen of some tiles shows this many degrees.
fn zoom(degrees: f64) -> u8 {
    (0..DEEPEST).rev().find(|zoom| 720.0 / f64::from(1_u32 << zoom) >= degrees).unwrap_or_default()
}

fn layer((name, from, fields): (&str, u8, &[(&str, &str)])) -> Value {
    let fields: serde_json::Map<String, Value> =
        fields.iter().map(|(field, kind)| ((*field).to_owned(), json!(kind))).collect();
    json!({ "id": name, "minzoom": from, "maxzoom": DEEPEST, "fields": fields })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_have_one_address() {
        assert_eq!(place("14", "8852", "6418.mvt"), TileId::new(14, 8852, 6418));
        for (z, x, y) in [
            ("15", "0", "0.mvt"),
            ("0", "1", "0.mvt"),
            ("1", "0", "2.mvt"),
            ("1", "0", "0"),
            ("1", "0", "0.png"),
            ("-1", "0", "0.mvt"),
            ("+1", "0", "0.mvt"),
            ("1", "0x1", "0.mvt"),
            ("1", "", "0.mvt"),
            ("300", "0", "0.mvt"),
            ("1", "99999999999", "0.mvt"),
        ] {
            assert_eq!(place(z, x, y), None, "{z}/{x}/{y}");
        }
    }

    #[test]
    fn gzip_goes_to_those_who_read_it() {
        let takes = |value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(value));
            takes_gzip(&headers)
        };
        assert!(takes("gzip, deflate, br") && takes("br;q=1.0, gzip;q=0.8") && takes("*"));
        assert!(!takes("br") && !takes("gzip;q=0") && !takes("identity"));
        assert!(!takes_gzip(&HeaderMap::new()));
    }
}
