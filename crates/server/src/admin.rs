//! The services for operators, on an address of their own. Every client that can reach this address may list and stop
//! all queries.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;

use crate::connections::{self, ConnectionLimits, Connections};
use crate::{App, sites};

/// Maximum number of connections at once.
const MOST: usize = 64;

/// Listens at `address` and serves there until the process ends, also while the server drains. Returns the bound
/// address; a port 0 is replaced by the port that the system chose.
pub fn listen(app: &Arc<App>, address: SocketAddr) -> io::Result<SocketAddr> {
    let named = |e: io::Error| io::Error::new(e.kind(), format!("--metrics-bind {address}: {e}"));
    let listener = connections::listen(address).map_err(named)?;
    let bound = listener.local_addr()?;
    tracing::info!("metrics at http://{bound}/metrics");
    let connections =
        Connections::new(ConnectionLimits { most: MOST, per_client: 0, ..app.settings.connections.clone() });
    tokio::spawn(Arc::clone(&connections).sweep());
    tokio::spawn(connections.serve(listener, router(Arc::clone(app))));
    Ok(bound)
}

/// Returns the router of the operators' address, made of the table of routes.
fn router(app: Arc<App>) -> Router {
    let mut router = Router::new();
    for route in app.routes.all() {
        if let Some(handler) = route.operator_handler {
            router = router.route(route.path, handler(&app, route.methods.filter()));
        }
    }
    router.layer(from_fn_with_state(Arc::clone(&app), sites::guard)).with_state(app)
}
