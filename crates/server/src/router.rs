//! The router, made of the table of routes.

use std::sync::Arc;

use axum::Router;
use axum::http::StatusCode;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{MethodRouter, any};
use tower_http::compression::CompressionLayer;

use crate::route::{Access, Route};
use crate::services::web;
use crate::{App, access, admit, sites};

/// Returns the router of the public address.
pub fn public(app: Arc<App>) -> Router {
    let mut router = Router::new();
    for route in app.offered_routes() {
        for path in route.paths() {
            router = router.route(path, with_layers(route, &app));
        }
    }
    // Without a token no client learns which paths there are.
    let missing = any(async || StatusCode::NOT_FOUND).layer(from_fn_with_state(Arc::clone(&app), admit::authenticate));
    router
        .fallback_service(missing.with_state(()))
        .layer(app.settings.sites.pages.layer())
        .layer(from_fn_with_state(Arc::clone(&app), sites::guard))
        .layer(from_fn_with_state(Arc::clone(&app), access::access))
        .with_state(app)
}

/// Returns a route's handler within the layers of its access.
fn with_layers(route: &'static Route, app: &Arc<App>) -> MethodRouter<Arc<App>> {
    let mut service = (route.handler)(app, route.methods.filter());
    if route.access == Access::Query {
        // A request with another method is no query.
        service = service.route_layer(from_fn_with_state(Arc::clone(app), admit::quota));
    }
    if matches!(route.access, Access::Client | Access::Query | Access::Browser) {
        service = service.layer(from_fn_with_state(Arc::clone(app), admit::authenticate));
    }
    if route.access == Access::Browser {
        service = service.layer(from_fn(web::for_browsers));
    }
    if route.access != Access::Page {
        service = service.layer(CompressionLayer::new());
    }
    service
}
