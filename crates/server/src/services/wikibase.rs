//! The services of a Wikibase: `/w/api.php` (action.rs), `/w/rest.php/wikibase/...` (rest.rs, described by openapi.rs)
//! and `/wiki/Special:EntityData/...` (data.rs). Search and JSON come from `terrapin_entities`.

mod action;
mod answer;
mod data;
mod openapi;
mod parameters;
mod rest;
mod wording;

use axum::routing::on;
use serde_json::json;

use crate::route::{Access, Route, Schema, form_body, path, query};

use action::ACTION_WORDING;
pub(super) use data::moved;
pub(super) use openapi::paths as described_paths;
use rest::REST_WORDING;

/// The name of an entity, form or sense, and an ending.
const PAGE: &str =
    r"^([QPLqpl][1-9][0-9]{0,18}|[Ll][1-9][0-9]{0,18}-[FSfs][1-9][0-9]{0,18})(\.(json|ttl|nt|rdf|n3|html))?$";

/// The routes.
pub const ROUTES: &[Route] = &[
    Route::get_and_post("/w/api.php", "Find or return entities, as Wikidata's action API does", |_, methods| {
        on(methods, action::action)
    })
    .takes(&[action::PARAMETERS])
    .reads(&[form_body(|| json!({ "type": "object" }))])
    .access(Access::Query)
    .of_triples()
    .worded(&ACTION_WORDING),
    Route {
        documented_path: Some("/w/rest.php/wikibase/v1/{path}"),
        ..Route::get(
            "/w/rest.php/wikibase/{version}/{*path}",
            "Items and properties, as Wikibase's REST API returns them",
            |_, methods| on(methods, rest::rest),
        )
        .takes(&[&[path("path", Schema::Text, "Such as entities/items/Q42/labels or search/items")]])
        .access(Access::Query)
        .of_triples()
        .worded(&REST_WORDING)
        .described_at("/w/rest.php/wikibase/v1/openapi.json")
    },
    Route {
        documented_path: Some("/wiki/Special:EntityData/{id}"),
        ..Route::get("/wiki/Special:EntityData/{page}", "An entity with all its parts", |_, methods| {
            on(methods, data::data)
        })
        .details(
            "An ending (.json, .ttl, .nt, .rdf, .n3, .html) or `Accept` selects the format; all but JSON redirect.",
        )
        .takes(&[&[
            path("id", Schema::Pattern(PAGE), "The entity's id"),
            query(
                "format",
                Schema::OneOf(&["json", "ttl", "nt", "rdf", "n3", "html"]),
                "The format, without an ending",
            ),
        ]])
        .statuses_too(&[303, 415])
        .access(Access::Query)
        .of_triples()
    },
];
