//! Replaces the client in builds without HTTP.

use crate::{Endpoint, Error, Kind, Model, Patience, Reply, Request};

/// A client that cannot be made.
pub enum Client {}

impl Client {
    /// Returns an error: this build has no client.
    ///
    /// # Errors
    /// Always returns an error.
    pub fn new(_: Endpoint) -> Result<Client, Error> {
        Err(Error::new(
            Kind::Unreachable,
            "asking a model needs the feature `ask`, which this build lacks; build it with `cargo build --release --features ask`",
        ))
    }
}

impl Model for Client {
    fn name(&self) -> &str {
        match *self {}
    }

    fn reply(&self, _: &Request<'_>, _: Patience<'_>) -> Result<Reply, Error> {
        match *self {}
    }
}
