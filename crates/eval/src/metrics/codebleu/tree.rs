//! The two scores of CodeBLEU that compare programs. The text is parsed as Python, because the evaluation sets that
//! language. Queries are not Python, so most of the comparison concerns the parser's error recovery.

use std::collections::{BTreeMap, HashMap, HashSet};

use tree_sitter::{Node, Parser, Point, Tree};

/// Maximum depth for following data flows; a deeper tree has none.
const DEEPEST: usize = 400;
/// Maximum height of a tree that is written as text, which is recursive. Higher trees compare as if they were empty.
const TALLEST: u32 = 50_000;
/// Maximum total bytes of subtrees as text. Only queries written to exhaust memory exceed it.
const MOST_BYTES: usize = 64 << 20;

/// Parses a text as Python.
pub fn parse(text: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_python::language()).ok()?;
    parser.parse(text, None)
}

/// Returns the share of the reference's subtrees that also occur in the prediction.
pub fn syntax(gold: &Tree, pred: &Tree) -> f64 {
    let (gold, pred) = (subtrees(gold.root_node()), subtrees(pred.root_node()));
    let known: HashSet<&String> = pred.iter().collect();
    gold.iter().filter(|tree| known.contains(tree)).count() as f64 / gold.len().max(1) as f64
}

/// Returns the root and all descendants with children, as text.
fn subtrees(root: Node<'_>) -> Vec<String> {
    let (mut open, mut trees, mut bytes) = (vec![root], Vec::new(), 0);
    if levels(root) > TALLEST {
        return trees;
    }
    while let Some(node) = open.pop() {
        if bytes > MOST_BYTES {
            break;
        }
        let tree = node.to_sexp();
        bytes += tree.len();
        trees.push(tree);
        open.extend(children(node).into_iter().filter(|child| child.child_count() > 0));
    }
    trees
}

/// Counts the levels below a node, without recursion.
fn levels(root: Node<'_>) -> u32 {
    let mut cursor = root.walk();
    let mut deepest = 0;
    loop {
        if cursor.goto_first_child() {
            deepest = deepest.max(cursor.depth());
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return deepest;
            }
        }
    }
}

fn children(node: Node<'_>) -> Vec<Node<'_>> {
    node.children(&mut node.walk()).collect()
}

/// Returns the share of the reference's data flows that the prediction has. Returns 1 if none match, because the
/// published code does not distinguish this from having no flows.
pub fn flow(gold: (&str, &Tree), pred: (&str, &Tree)) -> f64 {
    let gold = named(flows(gold.0, gold.1.root_node()));
    let mut pred = named(flows(pred.0, pred.1.root_node()));
    let mut matches = 0;
    for flow in &gold {
        if let Some(at) = pred.iter().position(|other| other == flow) {
            pred.remove(at);
            matches += 1;
        }
    }
    if matches == 0 { 1.0 } else { f64::from(matches) / gold.len() as f64 }
}

/// The origin of a word's value.
#[derive(Debug, Clone, PartialEq)]
struct DataFlow {
    /// The word.
    word: String,
    /// The index of the word in the text.
    at: usize,
    /// Whether the value is computed from the others; otherwise it is equal to them.
    computed: bool,
    /// The words that the value comes from.
    from: Vec<String>,
    /// The indices of those words.
    from_at: Vec<usize>,
}

/// Replaces the names of words by their order of occurrence.
fn named(flows: Vec<DataFlow>) -> Vec<(usize, bool, Vec<usize>)> {
    let mut numbers: HashMap<String, usize> = HashMap::new();
    let mut number = |word: String| {
        let next = numbers.len();
        *numbers.entry(word).or_insert(next)
    };
    let mut name = |flow: DataFlow| {
        let from = flow.from.into_iter().map(&mut number).collect();
        (number(flow.word), flow.computed, from)
    };
    flows.into_iter().map(&mut name).collect()
}

type Span = (Point, Point);
type States = BTreeMap<String, Vec<usize>>;

struct WordPositions {
    /// The index and text of each word, by position.
    at: HashMap<Span, (usize, String)>,
}

/// A node that cannot be followed; the published code then finds no flows at all.
struct Lost;

fn span(node: Node<'_>) -> Span {
    (node.start_position(), node.end_position())
}

fn is_leaf(node: Node<'_>) -> bool {
    (node.child_count() == 0 || node.kind() == "string") && node.kind() != "comment"
}

/// Returns the data flows of a text, one for each word that has any.
fn flows(text: &str, root: Node<'_>) -> Vec<DataFlow> {
    let mut leaves = Vec::new();
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        if is_leaf(node) {
            leaves.push(span(node));
        } else {
            open.extend(children(node).into_iter().rev());
        }
    }
    let lines: Vec<Vec<char>> = text.split('\n').map(|line| line.chars().collect()).collect();
    let at = leaves.into_iter().enumerate().map(|(i, span)| (span, (i, word(&lines, span)))).collect();
    let words = WordPositions { at };
    let Ok((mut flows, _)) = words.follow(root, States::new(), 0) else { return Vec::new() };
    flows.sort_by_key(|flow| flow.at);
    let mut used: HashSet<usize> = HashSet::new();
    for flow in flows.iter().filter(|flow| !flow.from_at.is_empty()) {
        used.insert(flow.at);
        used.extend(&flow.from_at);
    }
    let mut merged: Vec<DataFlow> = Vec::new();
    let mut places: HashMap<usize, usize> = HashMap::new();
    for flow in flows.into_iter().filter(|flow| used.contains(&flow.at)) {
        match places.get(&flow.at).and_then(|place| merged.get_mut(*place)) {
            Some(known) => {
                let (word, computed) = (flow.word.clone(), flow.computed);
                join(known, flow);
                (known.word, known.computed) = (word, computed);
            }
            None => {
                places.insert(flow.at, merged.len());
                merged.push(flow);
            }
        }
    }
    merged
}

/// Merges another flow of the same word, without duplicate origins.
fn join(known: &mut DataFlow, other: DataFlow) {
    let mut from: Vec<String> = Vec::new();
    for word in known.from.drain(..).chain(other.from) {
        if !from.contains(&word) {
            from.push(word);
        }
    }
    known.from = from;
    known.from_at.extend(other.from_at);
    known.from_at.sort_unstable();
    known.from_at.dedup();
}

/// Returns the text at a position. Columns are bytes, but the published code treats them as characters.
fn word(lines: &[Vec<char>], (start, end): Span) -> String {
    let cut = |row: usize, from: usize, to: usize| -> String {
        let line = lines.get(row).map_or(&[][..], Vec::as_slice);
        line.iter().skip(from).take(to.saturating_sub(from)).collect()
    };
    if start.row == end.row {
        return cut(start.row, start.column, end.column);
    }
    let middle: String = (start.row + 1..end.row).map(|row| cut(row, 0, usize::MAX)).collect();
    cut(start.row, start.column, usize::MAX) + &middle + &cut(end.row, 0, end.column)
}

impl WordPositions {
    fn word(&self, span: Span) -> Result<(usize, &str), Lost> {
        self.at.get(&span).map(|(at, word)| (*at, word.as_str())).ok_or(Lost)
    }

    /// Returns the words below a node, without signs.
    fn below(&self, node: Node<'_>) -> Result<Vec<(usize, String)>, Lost> {
        let (mut words, mut open) = (Vec::new(), vec![node]);
        while let Some(node) = open.pop() {
            if is_leaf(node) {
                let (at, word) = self.word(span(node))?;
                if word != node.kind() {
                    words.push((at, word.to_owned()));
                }
            } else {
                open.extend(children(node).into_iter().rev());
            }
        }
        Ok(words)
    }

    /// Returns the flows below a node, and the origins of the words' values after it.
    fn follow(&self, node: Node<'_>, mut states: States, depth: usize) -> Result<(Vec<DataFlow>, States), Lost> {
        if depth > DEEPEST {
            return Err(Lost);
        }
        if is_leaf(node) {
            return self.leaf(node, states);
        }
        let mut flows = Vec::new();
        match node.kind() {
            "default_parameter" => states = self.parameter(node, states, &mut flows, depth)?,
            "assignment" | "augmented_assignment" if node.child_by_field_name("right").is_none() => {
                return Ok((flows, states));
            }
            "assignment" | "augmented_assignment" => {
                let (left, right) = sides(node)?;
                states = self.assign(&left, &right, states, &mut flows, depth)?;
            }
            "for_in_clause" => {
                let right = children(node).pop().ok_or(Lost)?;
                let left = node.child_by_field_name("left").ok_or(Lost)?;
                states = self.assign(&[left], &[right], states, &mut flows, depth)?;
            }
            "if_statement" => return self.branches(node, states, depth),
            "for_statement" => {
                for _ in 0..2 {
                    let (left, right) = sides(node)?;
                    states = self.assign(&left, &right, states, &mut flows, depth)?;
                    if let Some(block) = children(node).pop().filter(|last| last.kind() == "block") {
                        states = self.add(block, states, &mut flows, depth)?;
                    }
                }
                flows = once(flows);
            }
            "while_statement" => {
                for _ in 0..2 {
                    for child in children(node) {
                        states = self.add(child, states, &mut flows, depth)?;
                    }
                }
                flows = once(flows);
            }
            _ => {
                let (first, rest): (Vec<Node<'_>>, Vec<Node<'_>>) =
                    children(node).into_iter().partition(|child| child.kind() == "for_in_clause");
                for child in first.into_iter().chain(rest) {
                    states = self.add(child, states, &mut flows, depth)?;
                }
            }
        }
        Ok((sorted(flows), states))
    }

    /// Follows a parameter with a default value, which its words come from.
    fn parameter(
        &self,
        node: Node<'_>,
        mut states: States,
        flows: &mut Vec<DataFlow>,
        depth: usize,
    ) -> Result<States, Lost> {
        let name = node.child_by_field_name("name").ok_or(Lost)?;
        let Some(value) = node.child_by_field_name("value") else {
            for (at, word) in self.below(name)? {
                states.insert(word.clone(), vec![at]);
                flows.push(DataFlow { word, at, computed: false, from: vec![], from_at: vec![] });
            }
            return Ok(states);
        };
        let (names, values) = (self.below(name)?, self.below(value)?);
        states = self.add(value, states, flows, depth)?;
        for (at, word) in names {
            for (from_at, from) in &values {
                let (from, from_at) = (vec![from.clone()], vec![*from_at]);
                flows.push(DataFlow { word: word.clone(), at, computed: false, from, from_at });
            }
            states.insert(word, vec![at]);
        }
        Ok(states)
    }

    fn leaf(&self, node: Node<'_>, mut states: States) -> Result<(Vec<DataFlow>, States), Lost> {
        let (at, word) = self.word(span(node))?;
        if word == node.kind() {
            return Ok((Vec::new(), states));
        }
        let mut flow = DataFlow { word: word.to_owned(), at, computed: false, from: vec![], from_at: vec![] };
        match states.get(word) {
            Some(from_at) => (flow.from, flow.from_at) = (vec![word.to_owned()], from_at.clone()),
            None if node.kind() == "identifier" => drop(states.insert(word.to_owned(), vec![at])),
            None => {}
        }
        Ok((vec![flow], states))
    }

    fn add(&self, node: Node<'_>, states: States, flows: &mut Vec<DataFlow>, depth: usize) -> Result<States, Lost> {
        let (more, states) = self.follow(node, states, depth + 1)?;
        flows.extend(more);
        Ok(states)
    }

    fn assign(
        &self,
        left: &[Node<'_>],
        right: &[Node<'_>],
        mut states: States,
        flows: &mut Vec<DataFlow>,
        depth: usize,
    ) -> Result<States, Lost> {
        for node in right {
            states = self.add(*node, states, flows, depth)?;
        }
        for (left, right) in left.iter().zip(right) {
            let (from_at, from): (Vec<usize>, Vec<String>) = self.below(*right)?.into_iter().unzip();
            for (at, word) in self.below(*left)? {
                states.insert(word.clone(), vec![at]);
                flows.push(DataFlow { word, at, computed: true, from: from.clone(), from_at: from_at.clone() });
            }
        }
        Ok(states)
    }

    fn branches(&self, node: Node<'_>, states: States, depth: usize) -> Result<(Vec<DataFlow>, States), Lost> {
        let mut flows = Vec::new();
        let (mut current, mut others, mut otherwise) = (states.clone(), Vec::new(), false);
        for child in children(node) {
            otherwise |= child.kind().contains("else");
            if matches!(child.kind(), "elif_clause" | "else_clause") {
                others.push(self.add(child, states.clone(), &mut flows, depth)?);
            } else {
                current = self.add(child, current, &mut flows, depth)?;
            }
        }
        others.push(current);
        if !otherwise {
            others.push(states);
        }
        let mut together = States::new();
        for (word, from) in others.into_iter().flatten() {
            together.entry(word).or_default().extend(from);
        }
        for from in together.values_mut() {
            from.sort_unstable();
            from.dedup();
        }
        Ok((sorted(flows), together))
    }
}

/// Returns the targets and values of an assignment: pairwise if both sides have the same number.
fn sides<'t>(node: Node<'t>) -> Result<(Vec<Node<'t>>, Vec<Node<'t>>), Lost> {
    let side = |name: &str| node.child_by_field_name(name).ok_or(Lost);
    let parts =
        |node: Node<'t>| -> Vec<Node<'t>> { children(node).into_iter().filter(|child| child.kind() != ",").collect() };
    let (left, right) = (side("left")?, side("right")?);
    let (lefts, rights) = (parts(left), parts(right));
    if lefts.len() != rights.len() || lefts.is_empty() {
        return Ok((vec![left], vec![right]));
    }
    Ok((lefts, rights))
}

fn sorted(mut flows: Vec<DataFlow>) -> Vec<DataFlow> {
    flows.sort_by_key(|flow| flow.at);
    flows
}

/// Removes duplicate flows of a loop.
fn once(flows: Vec<DataFlow>) -> Vec<DataFlow> {
    let mut known: Vec<DataFlow> = Vec::new();
    for flow in flows {
        match known.iter_mut().find(|k| (&k.word, k.at, k.computed) == (&flow.word, flow.at, flow.computed)) {
            Some(same) => join(same, flow),
            None => known.push(flow),
        }
    }
    known
}
