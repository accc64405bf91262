//! The services, one file each, and the table of their routes.

mod annotations;
mod ask;
mod convert;
mod cost;
mod feedback;
mod format;
mod health;
mod home;
mod interpreter;
mod kill;
pub mod mcp;
mod openapi;
mod place;
mod place_request;
mod place_shape;
mod place_xml;
#[cfg(test)]
mod reference;
mod score;
mod search;
mod sparql;
mod status;
mod taginfo;
mod text2sparql;
mod tiles;
mod timestamp;
pub mod web;
mod wikibase;
mod words;
mod xapi;

use crate::metrics;
use crate::route::Route;

/// The routes, in the order of the list of services.
pub const ROUTES: &[&[Route]] = &[
    interpreter::ROUTES,
    convert::ROUTES,
    xapi::ROUTES,
    sparql::ROUTES,
    search::ROUTES,
    feedback::ROUTES,
    format::ROUTES,
    words::ROUTES,
    score::ROUTES,
    ask::ROUTES,
    annotations::ROUTES,
    text2sparql::ROUTES,
    mcp::ROUTES,
    taginfo::ROUTES,
    wikibase::ROUTES,
    tiles::ROUTES,
    home::ROUTES,
    openapi::ROUTES,
    status::ROUTES,
    timestamp::ROUTES,
    kill::ROUTES,
    cost::ROUTES,
    health::ROUTES,
    metrics::ROUTES,
    web::ROUTES,
];
