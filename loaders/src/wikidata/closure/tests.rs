use super::*;

fn id(letter: char, number: u32) -> String {
    format!("{letter}{number}")
}

fn table(links: &[(u32, u32, u32)]) -> LinkTable {
    let mut table = LinkTable::default();
    for &(from, property, to) in links {
        table.add(number(&id('P', property)).unwrap(), from, to);
    }
    table
}

fn link(subject: LinkEnd, property: u32, object: LinkEnd) -> QueryLink {
    let properties = vec![id('P', property)];
    QueryLink { subject, properties, inverse: Vec::new(), repeated: false, object, required: true }
}

fn optional(link: QueryLink) -> QueryLink {
    QueryLink { required: false, ..link }
}

fn closed(links: Vec<QueryLink>, table: LinkTable) -> (Vec<Number>, usize) {
    closed_with(links, table, 2)
}

fn closed_with(links: Vec<QueryLink>, table: LinkTable, open_links: u64) -> (Vec<Number>, usize) {
    closed_query(QueryLinks { links, ..QueryLinks::default() }, table, open_links)
}

fn closed_query(query: QueryLinks, table: LinkTable, open_links: u64) -> (Vec<Number>, usize) {
    let uses = QueryUses { links: vec![query], ..QueryUses::default() };
    let (taken, report) = close(&uses, table, open_links);
    let mut taken: Vec<Number> = taken.into_iter().collect();
    taken.sort_unstable();
    (taken, report.answerable)
}

/// Cities of a country, with their mayors: `?c wdt:P31/wdt:P279* wd:Q515; wdt:P17 wd:Q9; wdt:P6 ?m`.
#[test]
fn candidates_are_those_of_all_links() {
    use LinkEnd::{Entity, Variable};
    let data = [
        (1, 31, 515),
        (2, 31, 20),
        (3, 31, 515),
        (4, 31, 5),
        (20, 279, 21),
        (21, 279, 515),
        (1, 17, 9),
        (2, 17, 9),
        (3, 17, 8),
        (4, 17, 9),
        (1, 6, 100),
        (2, 6, 101),
        (3, 6, 102),
        (4, 6, 103),
    ];
    let class = QueryLink { repeated: true, ..link(Variable(1), 279, Entity("Q515".to_owned())) };
    let links = vec![
        link(Variable(0), 31, Variable(1)),
        class,
        link(Variable(0), 17, Entity("Q9".to_owned())),
        link(Variable(0), 6, Variable(2)),
    ];
    assert_eq!(closed(links.clone(), table(&data)), (vec![1, 2, 20, 21, 100, 101, 515], 1));
    // An optional link does not narrow.
    let mut optional = links;
    optional[3] = QueryLink { required: false, ..link(Variable(0), 99, Variable(2)) };
    assert_eq!(closed(optional, table(&data)), (vec![1, 2, 20, 21, 515], 1));
    assert_eq!(closed(vec![link(Variable(0), 17, Entity("Q7".to_owned()))], table(&data)), (vec![], 0));
}

#[test]
fn links_without_a_known_end_take_all_of_a_property() {
    use LinkEnd::{Value, Variable};
    let data = [(1, 625, 0), (2, 625, 0)];
    assert_eq!(closed(vec![link(Variable(0), 625, Value)], table(&data)), (vec![1, 2], 1));
    assert_eq!(closed_with(vec![link(Variable(0), 625, Value)], table(&data), 1), (vec![], 0));
}

/// The link with the fewest statements comes first: `?x wdt:P17 ?country` then has known subjects.
#[test]
fn an_unknown_link_waits_for_what_others_make_known() {
    use LinkEnd::Variable;
    let data = [(1, 17, 9), (2, 17, 9), (3, 17, 8), (1, 1435, 5)];
    let links = vec![link(Variable(0), 17, Variable(1)), link(Variable(0), 1435, Variable(2))];
    assert_eq!(closed_with(links, table(&data), 1), (vec![1, 5, 9], 1));
}

/// `?x wdt:P569 ?date. ?y wdt:P569 ?date. ?y wdt:P31 wd:Q5`: a date leads to all statements with one.
#[test]
fn values_are_no_start() {
    use LinkEnd::{Entity, Variable};
    let data = [(1, 569, 0), (2, 569, 0), (3, 569, 0), (2, 31, 5), (1, 106, 7)];
    let links = vec![
        link(Variable(0), 106, Entity("Q7".to_owned())),
        link(Variable(0), 569, Variable(1)),
        link(Variable(2), 569, Variable(1)),
        link(Variable(2), 31, Entity("Q5".to_owned())),
    ];
    assert_eq!(closed_with(links, table(&data), 1), (vec![1, 2], 1));
}

#[test]
fn optional_links_add_to_variables_without_a_required_link() {
    use LinkEnd::{Entity, Variable};
    let data =
        [(1, 31, 5), (1, 22, 10), (2, 31, 6), (1, 25, 11), (10, 19, 20), (11, 19, 21), (3, 22, 12), (12, 19, 20)];
    let links = vec![
        link(Variable(0), 31, Entity("Q5".to_owned())),
        optional(link(Variable(1), 19, Variable(2))),
        optional(link(Variable(0), 22, Variable(1))),
        optional(link(Variable(0), 25, Variable(1))),
    ];
    assert_eq!(closed(links, table(&data)), (vec![1, 10, 11, 20, 21], 1));
}

#[test]
fn given_entities_narrow_only_if_they_are_required() {
    use LinkEnd::{Entity, Variable};
    let data = [(1, 31, 5), (2, 31, 5), (1, 19, 10), (2, 19, 11)];
    let query = |required| QueryLinks {
        links: vec![link(Variable(0), 31, Entity("Q5".to_owned())), link(Variable(0), 19, Variable(1))],
        given: vec![GivenEntities { variable: 0, ids: vec!["Q1".to_owned()], required }],
        unfollowed: false,
    };
    assert_eq!(closed_query(query(true), table(&data), 2), (vec![1, 10], 1));
    assert_eq!(closed_query(query(false), table(&data), 2), (vec![1, 2, 10, 11], 1));
    let open = QueryLinks { unfollowed: true, ..query(true) };
    assert_eq!(closed_query(open, table(&data), 2), (vec![1, 10], 0));
}

/// `?x (wdt:P361|^wdt:P527)* wd:Q1`: both properties lead upwards.
#[test]
fn inverse_properties_are_followed_against_their_direction() {
    use LinkEnd::{Entity, Variable};
    let data = [(2, 361, 1), (2, 527, 3), (4, 361, 3), (1, 361, 9), (5, 527, 1)];
    let path = QueryLink {
        inverse: vec!["P527".to_owned()],
        repeated: true,
        ..link(Variable(0), 361, Entity("Q1".to_owned()))
    };
    assert_eq!(closed(vec![path], table(&data)), (vec![1, 2, 3, 4], 1));
}

/// An unknown father is a value; the places of the others are still found.
#[test]
fn unknown_values_do_not_stop_a_chain() {
    use LinkEnd::{Entity, Variable};
    let data = [(1, 31, 5), (2, 31, 5), (1, 22, 10), (2, 22, 0), (10, 19, 20), (11, 19, 21)];
    let human = link(Variable(0), 31, Entity("Q5".to_owned()));
    let (father, place) = (link(Variable(0), 22, Variable(1)), link(Variable(1), 19, Variable(2)));
    let required = vec![human.clone(), father.clone(), place.clone()];
    assert_eq!(closed_with(required, table(&data), 1), (vec![1, 2, 10, 20], 1));
    let all = vec![human, optional(father), optional(place)];
    assert_eq!(closed_with(all, table(&data), 1), (vec![1, 2, 10, 20], 1));
}

/// `?x wdt:P31 wd:Q5 OPTIONAL { ?x wdt:P19 ?place. ?place wdt:P17 ?country. ?country wdt:P36 ?capital }`, in any order: the
/// country does not lead back to its other places.
#[test]
fn optional_links_are_not_followed_back_from_their_own_candidates() {
    use LinkEnd::{Entity, Variable};
    let data = [(1, 31, 5), (1, 19, 10), (10, 17, 38), (11, 17, 38), (38, 36, 40), (39, 36, 40), (12, 17, 39)];
    let human = link(Variable(0), 31, Entity("Q5".to_owned()));
    let chain = [(0, 19, 1), (1, 17, 2), (2, 36, 3)]
        .map(|(from, property, to)| optional(link(Variable(from), property, Variable(to))));
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
        let links = [vec![human.clone()], order.map(|i| chain[i].clone()).to_vec()].concat();
        assert_eq!(closed(links, table(&data)), (vec![1, 10, 38, 40], 1), "{order:?}");
    }
    // `{ ?x wdt:P19 ?place } UNION { ?x wdt:P27 ?country. ?place wdt:P17 ?country }`: both ends come from other links.
    let nation = optional(link(Variable(0), 27, Variable(2)));
    let data = [&data[..], &[(1, 27, 39)]].concat();
    for links in [[&chain[0], &chain[1], &nation], [&chain[1], &nation, &chain[0]]] {
        let links = [vec![human.clone()], links.map(Clone::clone).to_vec()].concat();
        assert_eq!(closed(links, table(&data)), (vec![1, 10, 12, 38, 39], 1));
    }
}

/// `?x wdt:P31 ?c. ?c wdt:P279* ?d`: a class without superclasses is its own.
#[test]
fn repeated_links_need_a_known_end() {
    use LinkEnd::Variable;
    let data = [(1, 31, 5), (2, 31, 6), (5, 279, 7)];
    let class = QueryLink { repeated: true, ..link(Variable(1), 279, Variable(2)) };
    let both = vec![link(Variable(0), 31, Variable(1)), class.clone()];
    assert_eq!(closed_with(both.clone(), table(&data), 2), (vec![1, 2, 5, 6, 7], 1));
    // Without a known end, one step is not all of it.
    assert_eq!(closed_with(both, table(&data), 1), (vec![], 0));
    assert_eq!(closed_with(vec![class.clone()], table(&data), 2), (vec![], 0));
    assert_eq!(closed_with(vec![optional(class)], table(&data), 2), (vec![], 0));
}
