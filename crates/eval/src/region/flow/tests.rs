use super::*;

struct NoKnowledge;

impl AreaKnowledge for NoKnowledge {
    fn boxes_of(&self, _: i64) -> Option<Vec<BoundingBox>> {
        None
    }

    fn area_named(&self, _: &str) -> Option<i64> {
        None
    }

    fn found_by(&self, _: SourceSpan) -> Option<Vec<i64>> {
        None
    }

    fn extent_of(&self, _: (usize, usize)) -> Option<Vec<BoundingBox>> {
        None
    }
}

/// The memory of a loop does not grow with the number of all sets of the query.
#[test]
fn loops_keep_only_the_sets_that_they_assign() {
    let sets: String = (0..150).map(|i| format!("node[a](1,{i},2,{i}.5)->.s{i};")).collect();
    let loops: String =
        (0..150).map(|i| format!("foreach.s{i}->.x(if(count(nodes)>0){{(way(bn.x);.x;)->.t{i};}})")).collect();
    let text = format!("{sets}foreach.s0->.y({loops});out;");
    let script = terrapin_overpass::parse(&text).unwrap();
    let (sets, loops, grown, needs) = Default::default();
    // The sets of a loop are cleared only after the outermost one.
    let (knowledge, global, is_in_loop, steps) = (&NoKnowledge, None, true, 0);
    let mut flow = RegionFlow { knowledge, text: &text, global, sets, loops, grown, is_in_loop, steps, needs };
    flow.block(&script.statements);
    let mut sizes: Vec<usize> = flow.loops.values().map(|sets| sets.places.len()).collect();
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    // The default set, x and one t; in the loop around them, y, the default set, x and each t.
    assert_eq!((sizes.len(), sizes[0], sizes[1]), (151, 153, 3));
    let last = BoundingBox { south: 10_000_000, west: 1_490_000_000, north: 20_000_000, east: 1_495_000_000 };
    assert_eq!(flow.set("t149").boxes, [last]);
}
