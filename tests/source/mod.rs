//! Rules for the source code.

mod links;
mod maps;
mod walls;
