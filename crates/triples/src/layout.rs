//! Names of the sections with triples. A snapshot without triples has none of them. A change here is a new format
//! version.

use terrapin_snapshot::WordSections;

/// The dictionary's keys.
pub const STRINGS: &str = "rdf.strings";
/// Starts of the dictionary's buckets: a column.
pub const BUCKETS: &str = "rdf.strings.buckets";
/// The codes of the encoded terms, ascending: a column.
pub const CODES: &str = "rdf.codes";
/// The first number of each kind of term, and 1 if literals are kept as written: a column.
pub const KINDS: &str = "rdf.kinds";
/// The numbers of the predicates, ascending: a column. The permutations store indices into it.
pub const PREDICATES: &str = "rdf.predicates";
/// The number of distinct subjects of each predicate: a column.
pub const PREDICATE_SUBJECTS: &str = "rdf.predicates.subjects";
/// The number of distinct objects of each predicate: a column.
pub const PREDICATE_OBJECTS: &str = "rdf.predicates.objects";

/// The three columns of a permutation: the starts of each first component; second components; third components.
pub type Permutation = [&'static str; 3];

/// Subject, predicate, object.
pub const SPO: Permutation = ["rdf.spo.starts", "rdf.spo.predicates", "rdf.spo.objects"];
/// Predicate, object, subject.
pub const POS: Permutation = ["rdf.pos.starts", "rdf.pos.objects", "rdf.pos.subjects"];
/// Object, subject, predicate.
pub const OSP: Permutation = ["rdf.osp.starts", "rdf.osp.subjects", "rdf.osp.predicates"];

/// The numbers of the named graphs' names, ascending: a column. The sections of graphs exist only if named graphs
/// exist; the permutations contain the triples of all graphs.
pub const GRAPHS: &str = "rdf.graphs";
/// The start of each graph's triples, with the default graph last, and the end: a column.
pub const GRAPH_STARTS: &str = "rdf.graphs.starts";
/// The triples of all graphs, one graph after the other, each in the order of a permutation: a column per component.
pub const GRAPH_ORDERS: [[&str; 3]; 3] = [
    ["rdf.graphs.spo.subjects", "rdf.graphs.spo.predicates", "rdf.graphs.spo.objects"],
    ["rdf.graphs.pos.predicates", "rdf.graphs.pos.objects", "rdf.graphs.pos.subjects"],
    ["rdf.graphs.osp.objects", "rdf.graphs.osp.subjects", "rdf.graphs.osp.predicates"],
];

/// The literals that are points, in the order of a Hilbert curve: a column of their numbers.
pub const POINTS: &str = "rdf.points";
/// Their positions, as empty boxes.
pub const POINT_BOXES: &str = "rdf.points.boxes";

/// The texts of entities, best known entities first: a column of their literals and numbers of words.
pub const LABELS: &str = "rdf.labels";
/// Words, and the texts with each word.
pub const LABEL_WORDS: WordSections = WordSections { words: "rdf.labels.words", lists: "rdf.labels.lists" };
