//! The vocabulary of osm2rdf (<https://github.com/ad-freiburg/osm2rdf>) for OpenStreetMap elements: its namespaces and
//! predicates.

use terrapin_osm::ElementType;

use crate::geo::Spatial;

/// `osm:`, with the classes `osm:node`, `osm:way` and `osm:relation`.
pub const OSM: &str = "https://www.openstreetmap.org/";
/// `osmnode:`, `osmway:` and `osmrel:`, indexed by element type.
pub const ELEMENTS: [&str; 3] = [
    "https://www.openstreetmap.org/node/",
    "https://www.openstreetmap.org/way/",
    "https://www.openstreetmap.org/relation/",
];
/// `osmkey:`: from an element to the value of a tag.
pub const KEY: &str = "https://www.openstreetmap.org/wiki/Key:";
/// `osmmeta:`: version, time and author.
pub const META: &str = "https://www.openstreetmap.org/meta/";
/// `osmchangeset:`: the changesets.
pub const CHANGESET: &str = "https://www.openstreetmap.org/changeset/";
/// `osm2rdf:`: properties computed from an element.
pub const OSM2RDF: &str = "https://osm2rdf.cs.uni-freiburg.de/rdf#";
/// `osm2rdfkey:`: the item, article or date that a tag's value refers to.
pub const LINK: &str = "https://osm2rdf.cs.uni-freiburg.de/rdf/key#";
/// `osm2rdfgeom:`: the geometries.
pub const GEOMETRY: &str = "https://osm2rdf.cs.uni-freiburg.de/rdf/geom#";
/// `osm2rdfmember:`: properties of a member in earlier versions of osm2rdf.
pub const MEMBER: &str = "https://osm2rdf.cs.uni-freiburg.de/rdf/member#";
/// `geo:`: GeoSPARQL's properties.
pub const GEO: &str = "http://www.opengis.net/ont/geosparql#";
/// `ogc:`: osm2rdf's spatial relations.
pub const OGC: &str = "http://www.opengis.net/rdf#";
/// The namespace of tags in Sophox, used for suggestions only.
const SOPHOX_KEY: &str = "https://wiki.openstreetmap.org/wiki/Key:";
/// Wikidata's items.
pub const ITEM: &str = "http://www.wikidata.org/entity/";
/// `rdf:type`.
pub const TYPE: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";

/// The spatial relations by their names in [`OGC`].
const SPATIAL: [(&str, Spatial); 8] = [
    ("sfContains", Spatial::Contains),
    ("sfCovers", Spatial::Covers),
    ("sfCrosses", Spatial::Crosses),
    ("sfEquals", Spatial::Equals),
    ("sfIntersects", Spatial::Intersects),
    ("sfOverlaps", Spatial::Overlaps),
    ("sfTouches", Spatial::Touches),
    ("sfWithin", Spatial::Within),
];

/// A property with at most one value per element or geometry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum ElementProperty {
    Type,
    Geometry,
    Centroid,
    /// The WKT of a geometry.
    Wkt,
    Area,
    Length,
    /// Whether the extract has all members of a relation with a geometry.
    Complete,
    Tags,
    Version,
    Timestamp,
    Changeset,
    User,
    Uid,
}

/// The predicates of the facts: namespace and local name.
pub const FACTS: [(ElementProperty, &str, &str); 13] = [
    (ElementProperty::Type, TYPE, ""),
    (ElementProperty::Geometry, GEO, "hasGeometry"),
    (ElementProperty::Centroid, GEO, "hasCentroid"),
    (ElementProperty::Wkt, GEO, "asWKT"),
    (ElementProperty::Area, OSM2RDF, "area"),
    (ElementProperty::Length, OSM2RDF, "length"),
    (ElementProperty::Complete, OSM2RDF, "hasCompleteGeometry"),
    (ElementProperty::Tags, OSM2RDF, "facts"),
    (ElementProperty::Version, META, "version"),
    (ElementProperty::Timestamp, META, "timestamp"),
    (ElementProperty::Changeset, META, "changeset"),
    (ElementProperty::User, META, "user"),
    (ElementProperty::Uid, META, "uid"),
];

/// Alternative predicates of facts.
const OTHER_NAMES: [(&str, ElementProperty); 1] =
    [("https://osm2rdf.cs.uni-freiburg.de/rdf#hasCentroid", ElementProperty::Centroid)];

/// A predicate that leads to a member, or a property of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum MembershipPredicate {
    /// From a relation to a member.
    OfRelation,
    /// From a way to a member, which refers to a node.
    OfWay,
    /// From a way to a member, and from the member to its node (earlier versions of osm2rdf).
    Node,
    /// From a member to its element; the type restricts it to members of ways or of relations.
    Id(Option<ElementType>),
    Role,
    Position(Option<ElementType>),
}

const OF_WAY: Option<ElementType> = Some(ElementType::Way);
const OF_RELATION: Option<ElementType> = Some(ElementType::Relation);

/// The predicates of members: namespace and local name.
pub const MEMBERSHIPS: [(MembershipPredicate, &str, &str); 7] = [
    (MembershipPredicate::OfRelation, ELEMENTS[2], "member"),
    (MembershipPredicate::Id(OF_RELATION), ELEMENTS[2], "member_id"),
    (MembershipPredicate::Role, ELEMENTS[2], "member_role"),
    (MembershipPredicate::Position(OF_RELATION), ELEMENTS[2], "member_pos"),
    (MembershipPredicate::OfWay, ELEMENTS[1], "member"),
    (MembershipPredicate::Id(OF_WAY), ELEMENTS[1], "member_id"),
    (MembershipPredicate::Position(OF_WAY), ELEMENTS[1], "member_pos"),
];

/// The predicates of members in earlier versions of osm2rdf, which older queries use.
const EARLIER_MEMBERSHIPS: [(MembershipPredicate, &str, &str); 4] = [
    (MembershipPredicate::Node, ELEMENTS[1], "node"),
    (MembershipPredicate::Id(None), MEMBER, "id"),
    (MembershipPredicate::Role, MEMBER, "role"),
    (MembershipPredicate::Position(None), MEMBER, "pos"),
];

/// The meaning of a predicate.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Predicate {
    /// The value of the tag with this key.
    Tag(String),
    /// The item, article or date that the tag with this key refers to.
    Link(String),
    /// A property with one value.
    Fact(ElementProperty),
    /// A member, or a property of one.
    Member(MembershipPredicate),
    /// A spatial relation of two elements.
    Spatial(Spatial),
}

impl Predicate {
    /// Returns the meaning of the predicate `iri`, or `None` if it is not in this vocabulary.
    pub fn of(iri: &str) -> Option<Predicate> {
        if let Some(key) = iri.strip_prefix(KEY) {
            return Some(Predicate::Tag(key.to_owned()));
        }
        if let Some(key) = iri.strip_prefix(LINK) {
            return Some(Predicate::Link(key.to_owned()));
        }
        if let Some(name) = iri.strip_prefix(OGC) {
            return SPATIAL.iter().find(|(known, _)| *known == name).map(|(_, spatial)| Predicate::Spatial(*spatial));
        }
        if let Some((_, fact)) = OTHER_NAMES.iter().find(|(name, _)| *name == iri) {
            return Some(Predicate::Fact(*fact));
        }
        let is = |namespace: &str, name: &str| iri.strip_prefix(namespace) == Some(name);
        let fact = FACTS.iter().find(|(_, namespace, name)| is(namespace, name));
        if let Some((fact, ..)) = fact {
            return Some(Predicate::Fact(*fact));
        }
        let member = MEMBERSHIPS.iter().chain(&EARLIER_MEMBERSHIPS).find(|(_, namespace, name)| is(namespace, name));
        member.map(|(member, ..)| Predicate::Member(*member))
    }

    /// Returns whether only elements and their parts have the predicate. `rdf:type` also occurs in other triples.
    pub fn is_of_elements(&self) -> bool {
        !matches!(self, Predicate::Fact(ElementProperty::Type))
    }
}

/// Suggests predicates for an unknown one in a namespace of elements. Returns `None` if the predicate is known or in
/// another namespace.
pub fn meant(iri: &str) -> Option<Vec<String>> {
    if let Some(key) = iri.strip_prefix(SOPHOX_KEY) {
        return Some(vec![format!("{KEY}{key}")]);
    }
    let spaces = [MEMBER, META, OSM2RDF, OGC].into_iter().chain(ELEMENTS).chain([OSM]);
    let name = spaces.into_iter().find_map(|space| iri.strip_prefix(space))?;
    let is_other = Predicate::of(iri).is_some() || of_class(iri).is_some() || name.contains(':');
    // A numeric local name is an element or a changeset, not a predicate.
    if is_other || name.contains('/') || name.bytes().all(|b| b.is_ascii_digit() || b == b'-') {
        return None;
    }
    if ["wikidata", "wikipedia"].contains(&name) {
        return Some(vec![format!("{LINK}{name}")]);
    }
    let words = |name: &str| name.split('_').map(str::to_lowercase).collect::<Vec<_>>();
    let asked = words(name);
    let facts = FACTS.iter().map(|(_, space, name)| (*space, *name));
    let members = MEMBERSHIPS.iter().map(|(_, space, name)| (*space, *name));
    let spatial = SPATIAL.iter().map(|(name, _)| (OGC, *name));
    // The best suggestions share the most words with the name; ties go to the fewest additional words.
    let far = |name: &str| {
        let known = words(name.strip_prefix("sf").unwrap_or(name));
        let common = asked.iter().filter(|word| known.contains(word)).count();
        (common > 0).then(|| (asked.len() - common, known.len() - common))
    };
    let known = || facts.clone().chain(members.clone()).chain(spatial.clone());
    let nearest = known().filter_map(|(_, name)| far(name)).min();
    let meant = known().filter(|(_, name)| nearest.is_some() && far(name) == nearest);
    Some(meant.map(|(space, name)| format!("{space}{name}")).collect())
}

/// Returns the class of an element type.
pub fn class(kind: ElementType) -> String {
    format!("{OSM}{}", kind.name())
}

/// Returns the element type of a class.
pub fn of_class(iri: &str) -> Option<ElementType> {
    let name = iri.strip_prefix(OSM)?;
    ElementType::ALL.into_iter().find(|kind| kind.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predicates_are_known_by_their_iris() {
        for (iri, expected) in [
            ("https://www.openstreetmap.org/wiki/Key:addr:city", Some(Predicate::Tag("addr:city".to_owned()))),
            ("https://osm2rdf.cs.uni-freiburg.de/rdf/key#wikidata", Some(Predicate::Link("wikidata".to_owned()))),
            ("https://osm2rdf.cs.uni-freiburg.de/rdf#area", Some(Predicate::Fact(ElementProperty::Area))),
            ("https://osm2rdf.cs.uni-freiburg.de/rdf#hasCentroid", Some(Predicate::Fact(ElementProperty::Centroid))),
            ("https://www.openstreetmap.org/relation/member", Some(Predicate::Member(MembershipPredicate::OfRelation))),
            ("https://www.openstreetmap.org/way/member_id", Some(Predicate::Member(MembershipPredicate::Id(OF_WAY)))),
            (
                "https://osm2rdf.cs.uni-freiburg.de/rdf/member#id",
                Some(Predicate::Member(MembershipPredicate::Id(None))),
            ),
            ("https://www.openstreetmap.org/relation/1", None),
            ("http://www.opengis.net/rdf#sfWithin", Some(Predicate::Spatial(Spatial::Within))),
            ("http://www.opengis.net/rdf#sfDisjoint", None),
            ("http://www.wikidata.org/prop/direct/P31", None),
        ] {
            assert_eq!(Predicate::of(iri), expected, "{iri}");
        }
        assert_eq!(of_class(&class(ElementType::Way)), Some(ElementType::Way));
        let meant = |iri: &str| meant(iri).map(|names| names.join(" "));
        let osm = |name: &str| format!("https://www.openstreetmap.org/{name}");
        assert_eq!(
            meant("http://www.opengis.net/rdf#contains"),
            Some("http://www.opengis.net/rdf#sfContains".to_owned())
        );
        assert_eq!(meant(&osm("wikidata")), Some(format!("{LINK}wikidata")));
        assert_eq!(meant(&osm("meta/area")), Some(format!("{OSM2RDF}area")));
        assert_eq!(meant(&osm("way/member_ref")), Some(format!("{} {}", osm("relation/member"), osm("way/member"))));
        assert_eq!(meant("https://wiki.openstreetmap.org/wiki/Key:amenity"), Some(osm("wiki/Key:amenity")));
        for iri in
            [osm("node"), osm("node/1"), osm("wiki/Key:x"), osm("meta/uid"), "http://www.wikidata.org/".to_owned()]
        {
            assert_eq!(meant(&iri), None, "{iri}");
        }
        assert_eq!(of_class("https://www.openstreetmap.org/way/1"), None);
    }
}
