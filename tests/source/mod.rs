//! Rules for the source code.

mod maps;
mod walls;
