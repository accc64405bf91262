//! Questions in words: models, replies, examples, the experiments of the papers.

#[cfg(feature = "ask")]
mod cases;
#[cfg(feature = "ask")]
mod examples;
#[cfg(feature = "ask")]
mod model;
#[cfg(feature = "ask")]
mod papers;
#[cfg(feature = "ask")]
pub(crate) mod questions;
mod remember;
mod replies;
#[cfg(feature = "ask")]
mod system;
#[cfg(feature = "ask")]
mod tls;
mod words;
