//! The namespaces of GML's versions.

/// The namespace of a literal's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GmlNamespace {
    /// That of the examples in GeoSPARQL 1.0 and 1.1.
    GeoSparql,
    /// That of GML 2 and 3.1.
    Gml31,
    /// That of GML 3.2, and the default.
    Gml32,
}

impl GmlNamespace {
    const ALL: [GmlNamespace; 3] = [GmlNamespace::GeoSparql, GmlNamespace::Gml31, GmlNamespace::Gml32];

    /// Returns the namespace's IRI.
    pub fn iri(self) -> &'static str {
        match self {
            GmlNamespace::GeoSparql => "http://www.opengis.net/ont/gml",
            GmlNamespace::Gml31 => "http://www.opengis.net/gml",
            GmlNamespace::Gml32 => "http://www.opengis.net/gml/3.2",
        }
    }

    /// Returns the namespace with an IRI.
    pub fn from_iri(iri: &str) -> Option<GmlNamespace> {
        GmlNamespace::ALL.into_iter().find(|namespace| namespace.iri() == iri)
    }
}
