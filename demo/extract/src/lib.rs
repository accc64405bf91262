//! An empty crate: the package only depends on the one that contains the extract.
