//! The optional features of the build, and the error for a missing one.

use super::CommandError;

/// The features of the package, in the order of `Cargo.toml`, and whether this build has them.
const FEATURES: [(&str, bool); 5] = [
    ("ask", cfg!(feature = "ask")),
    ("cache", cfg!(feature = "cache")),
    ("geoparquet", cfg!(feature = "geoparquet")),
    ("parquet", cfg!(feature = "parquet")),
    ("remote", cfg!(feature = "remote")),
];

/// Lists the features of this build and the missing ones.
pub fn list() -> String {
    let names = |built: bool| {
        let names: Vec<&str> = FEATURES.iter().filter(|(_, has)| *has == built).map(|(name, _)| *name).collect();
        names.join(", ")
    };
    match (names(true), names(false)) {
        (all, none) if none.is_empty() => all,
        (none, all) if none.is_empty() => format!("none (without {all})"),
        (built, lacking) => format!("{built} (without {lacking})"),
    }
}

/// Returns the error for a command or flag that needs a feature this build lacks.
#[cfg_attr(
    all(feature = "remote", feature = "geoparquet"),
    expect(dead_code, reason = "only builds without a feature call it")
)]
pub fn missing(what: &str, feature: &str) -> CommandError {
    CommandError::usage(format!(
        "{what} needs the feature `{feature}`, which this build lacks; build it with `cargo build --release --features {feature}`"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_feature_of_the_manifest_is_listed() {
        let manifest: toml::Table = include_str!("../../Cargo.toml").parse().unwrap();
        let in_manifest: Vec<&str> = manifest["features"]
            .as_table()
            .unwrap()
            .keys()
            .map(String::as_str)
            .filter(|name| !["default", "standard"].contains(name))
            .collect();
        assert_eq!(in_manifest, FEATURES.map(|(name, _)| name));
        for (name, _) in FEATURES {
            assert!(list().contains(name));
        }
    }
}
