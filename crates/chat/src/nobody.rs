//! What stands for a client in a program that was built without one.

use crate::{Endpoint, Error, Kind, Message, Model, Patience, Reply};

/// Nobody: there is no value of it.
pub enum Client {}

impl Client {
    /// None.
    ///
    /// # Errors
    /// Always: this program was built without a client.
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

    fn reply(&self, _: &[Message], _: Patience<'_>) -> Result<Reply, Error> {
        match *self {}
    }
}
