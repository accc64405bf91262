//! The sections that hold triples. A snapshot without triples has none of them. A change here is a new format version.

use terrapin_snapshot::WordSections;

/// The dictionary's keys.
pub const STRINGS: &str = "rdf.strings";
/// Where the dictionary's buckets begin: a column.
pub const BUCKETS: &str = "rdf.strings.buckets";
/// The codes of the terms that need no text, ascending: a column.
pub const CODES: &str = "rdf.codes";
/// Where each kind of term begins among the numbers: a column.
pub const KINDS: &str = "rdf.kinds";
/// The numbers of the predicates, ascending: a column. A predicate's place in it is what the permutations have.
pub const PREDICATES: &str = "rdf.predicates";
/// Distinct subjects of each predicate: a column.
pub const PREDICATE_SUBJECTS: &str = "rdf.predicates.subjects";
/// Distinct objects of each predicate: a column.
pub const PREDICATE_OBJECTS: &str = "rdf.predicates.objects";

/// The three columns of a permutation: where the triples of each first component begin; second components; third ones.
pub type Permutation = [&'static str; 3];

/// Subject, predicate, object.
pub const SPO: Permutation = ["rdf.spo.starts", "rdf.spo.predicates", "rdf.spo.objects"];
/// Predicate, object, subject.
pub const POS: Permutation = ["rdf.pos.starts", "rdf.pos.objects", "rdf.pos.subjects"];
/// Object, subject, predicate.
pub const OSP: Permutation = ["rdf.osp.starts", "rdf.osp.subjects", "rdf.osp.predicates"];

/// The numbers of the named graphs' names, ascending: a column. There only where there are named graphs, as are the
/// other sections of graphs; the permutations have the triples of all graphs together.
pub const GRAPHS: &str = "rdf.graphs";
/// Where the triples of each graph begin, those of the default graph last, and the end: a column.
pub const GRAPH_STARTS: &str = "rdf.graphs.starts";
/// The triples of one graph after the other, each in the order of a permutation: a column of each component.
pub const GRAPH_ORDERS: [[&str; 3]; 3] = [
    ["rdf.graphs.spo.subjects", "rdf.graphs.spo.predicates", "rdf.graphs.spo.objects"],
    ["rdf.graphs.pos.predicates", "rdf.graphs.pos.objects", "rdf.graphs.pos.subjects"],
    ["rdf.graphs.osp.objects", "rdf.graphs.osp.subjects", "rdf.graphs.osp.predicates"],
];

/// The literals that are points, along a curve: a column of their numbers.
pub const POINTS: &str = "rdf.points";
/// Where they are: boxes without a size.
pub const POINT_BOXES: &str = "rdf.points.boxes";

/// The texts of entities, the best known entity's first: a column of their literals and numbers of words.
pub const LABELS: &str = "rdf.labels";
/// Words, and the texts that have each.
pub const LABEL_WORDS: WordSections = WordSections { words: "rdf.labels.words", lists: "rdf.labels.lists" };
