//! Tests which queries are rejected because of their depth, from parsing to planning.

use terrapin_base::stack::STACK;

use crate::{SparqlCode, SparqlSettings, prepare};

fn refused(text: &str) -> Option<SparqlCode> {
    // Uses the stack size of the project's threads, not that of the test.
    std::thread::scope(|scope| {
        let prepare = || prepare(text, &SparqlSettings::default()).map_err(|error| error.code).err();
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, prepare);
        thread.expect("a thread").join().expect("no panic")
    })
}

#[test]
fn towers_are_refused_and_lists_are_not() {
    let many = |part: &str| part.repeat(500);
    assert_eq!(refused(&format!("SELECT * {{ {} }}", many("?a ?b ?c . "))), Some(SparqlCode::TooLarge));
    assert_eq!(
        refused(&format!("SELECT * {{ ?a ?b ?c {} }}", many("OPTIONAL { ?a ?d ?e } "))),
        Some(SparqlCode::TooLarge)
    );
    assert_eq!(refused(&format!("SELECT * {{ ?a wdt:P31{} ?b }}", many("/wdt:P279"))), Some(SparqlCode::TooLarge));
    assert_eq!(refused(&format!("SELECT * {{ ?a ?b ?c }} ORDER BY {}", many("(?a + 1)"))), Some(SparqlCode::TooLarge));
    assert_eq!(refused(&format!("SELECT * {{ ?a ?b ?c FILTER(?a = 1{}) }}", many(" || ?a = 2"))), None);
    assert_eq!(refused(&format!("SELECT * {{ ?a ?b ?c FILTER(?c IN (1{})) }}", many(", 2"))), None);
    assert_eq!(refused(&format!("SELECT * {{ ?a ?b ?c VALUES ?c {{ {} }} }}", many("1 "))), None);
    assert_eq!(refused(&format!("SELECT * {{ ?a wdt:P31{} ?b }}", many("|wdt:P279"))), None);
    assert_eq!(refused(&format!("SELECT * {{ ?a ?b ?c }} HAVING {}", many("(1)"))), None);
    assert_eq!(refused(&format!("SELECT * {{ ?a ?b ?c }} ORDER BY {}", many("?a "))), None);
    assert_eq!(refused(&format!("DESCRIBE {}", many("wd:Q1 wd:Q2 "))), None);
}

#[test]
fn what_is_joined_counts_together() {
    // Neither side is deep, but the planned join of them is.
    let side = "{ ?a ?b ?c FILTER(?a) } ";
    let join = |many: usize| format!("SELECT * {{ {} }}", side.repeat(many));
    assert_eq!(refused(&join(300)), None);
    let group = |many: usize| format!("{{ {} }} OPTIONAL {{ ?x ?y ?z }} ", "?a ?b ?c . ".repeat(many));
    assert_eq!(refused(&format!("SELECT * {{ {} }}", group(150).repeat(2))), None);
    let paths = format!("?a ^wdt:P1* ?b . {}", "?a ?b ?c . ".repeat(150));
    assert_eq!(refused(&format!("SELECT * {{ {} }}", paths.repeat(3))), Some(SparqlCode::TooLarge));
}
