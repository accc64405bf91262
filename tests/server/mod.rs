//! The server over HTTP.

mod feedback;
mod http;
mod http_bounds;
mod identity;
mod mcp;
mod operators;
mod page;
mod tiles;
