//! Compiles a planned pattern to a program.

mod filters;
mod joins;

use oxrdf::Variable;

use super::condition::BindValue;
use super::error::CompileError;
use super::layout::{PlanNode, ProgramLayout, Sequence, depth, strip};
use super::limits::MOST_DEPTH;
use super::operand::{GraphOperand, ProgramOperand, Slot};
use super::program::{Arrangement, GroupAggregate, GroupingStep, Program, ProgramBlock, ProgramStep};
use super::scope::{BlockScope, Mask, bit};
use crate::functions::aggregates::{Fold, without_mark};
use crate::plan::{PatternCardinality, Variables, bound, constant};
use terrapin_sparql_syntax::algebra::{
    AggregateCall as Aggregation, AggregateFunction, Expression, Helper, NamedNodePattern, QueryPattern, Row,
    TermPattern, TriplePattern,
};
use terrapin_sparql_syntax::convert;
use terrapin_triples::{GraphSelection, TripleView};

type Result<T> = std::result::Result<T, CompileError>;

/// The state of compiling one pattern.
struct Compiler<'v> {
    view: &'v TripleView,
    /// The separators of the query's GROUP_CONCATs.
    separators: &'v [String],
    estimates: bool,
    layout: ProgramLayout,
    blocks: Vec<ProgramBlock>,
    tables: Vec<usize>,
    /// The number of steps that follow each other in the last block, including its tables.
    depth: usize,
}

/// The context of a pattern.
#[derive(Clone, Copy)]
struct CompileContext {
    /// Slots that are always bound before the pattern.
    known: Mask,
    /// Whether the pattern is in an EXISTS. A part that is solved separately then gets the values around it. (The right
    /// sides of the planner's lateral joins give the same result without these values.)
    asked: bool,
    /// The graphs that the pattern reads.
    graph: GraphOperand,
}

/// The state before a pattern, from which its parts that are solved separately get values.
#[derive(Clone, Copy)]
struct PatternEntry {
    /// Slots that are always bound.
    known: Mask,
    /// The number of slots.
    slots: usize,
    /// The number of nodes in the sequence.
    at: usize,
}

/// A variable with a value from outside in a block.
struct GivenVariable {
    /// The slot outside.
    outer: Slot,
    /// The variable inside.
    variable: Variable,
    /// Whether the slot is always bound.
    certain: bool,
}

/// Compiles a planned projection. With `estimates`, every step has its expected number of solutions.
///
/// # Errors
/// Returns an error if the program is too deep, or an aggregate does not exist.
pub fn compile(pattern: &QueryPattern, view: &TripleView, separators: &[String], estimates: bool) -> Result<Program> {
    let mut compiler = Compiler {
        view,
        separators,
        estimates,
        layout: ProgramLayout::default(),
        blocks: Vec::new(),
        tables: Vec::new(),
        depth: 0,
    };
    let graph = match view.selected() {
        GraphSelection::All => GraphOperand::All,
        GraphSelection::Default => GraphOperand::Default,
        GraphSelection::Named(name) => GraphOperand::Named(ProgramOperand::Term(name)),
    };
    let main = compiler.block(pattern, &[], CompileContext { known: 0, asked: false, graph })?;
    let Compiler { layout: ProgramLayout { steps }, blocks, tables, .. } = compiler;
    Ok(Program { steps, blocks, tables, main })
}

impl Compiler<'_> {
    /// Compiles a pattern to a block of its own. Its columns are the projected variables, otherwise all variables in
    /// the order of their names. The given variables get its first slots.
    fn block(&mut self, pattern: &QueryPattern, given: &[GivenVariable], context: CompileContext) -> Result<usize> {
        let keeps_forms = self.view.store().keeps_lexical_forms();
        let mut scope = BlockScope { keeps_forms, ..BlockScope::default() };
        let mut known = 0;
        for GivenVariable { variable, certain, .. } in given {
            let slot = scope.slot(variable);
            known |= if *certain { bit(slot) } else { 0 };
        }
        let Modifiers { mut distinct, limits, inner } = Modifiers::of(pattern);
        let (mut group, mut keys, mut made) = (None, Vec::new(), Vec::new());
        let mut inner = inner;
        let mut shown = match inner {
            QueryPattern::Project { inner: below, variables } => {
                inner = below;
                variables.clone()
            }
            QueryPattern::Group { inner: below, variables, aggregates } => {
                inner = below;
                let mut columns = variables.clone();
                let solution = bound(below).0;
                let aggregates = aggregates.iter().map(|(_, a)| self.aggregate(a, &solution, &mut columns, &mut made));
                let aggregates = aggregates.collect::<Result<_>>()?;
                group = Some(GroupingStep { keys: variables.len(), aggregates });
                columns
            }
            _ => bound(pattern).0.sorted(),
        };
        let width = shown.len();
        if let QueryPattern::OrderBy { inner: below, keys: sorted } = inner {
            inner = below;
            keys = sorted.iter().map(|key| (column(&key.expression, &mut shown, &mut made), key.descends)).collect();
        }
        let mut sequence = Vec::new();
        let context = CompileContext { known, ..context };
        let known = self.sequence(inner, context, &mut scope, &mut sequence)?;
        for (variable, expression) in made {
            let value = self.calculated(expression, CompileContext { known, ..context }, &mut scope, &mut sequence)?;
            let slot = scope.slot(&variable);
            sequence.push((PlanNode::Step(ProgramStep::Bind { slot, value }, 1.0), known));
        }
        let columns: Vec<Option<Slot>> = shown.iter().map(|variable| scope.known(variable)).collect();
        let arrangement = (!keys.is_empty() || limits.is_some()).then(|| {
            let (start, length) = limits.unwrap_or((0, None));
            let late = distinct && !keys.is_empty();
            Arrangement { keys, width, distinct: late, start, length }
        });
        distinct &= arrangement.as_ref().is_none_or(|arrangement| !arrangement.distinct);
        let once = distinct && group.is_none() && once(&columns, &mut sequence, known);
        let (start, nodes) = (self.layout.steps.len(), strip(sequence));
        self.depth = depth(&nodes) + scope.depth;
        if self.depth > MOST_DEPTH {
            return Err(CompileError::Depth);
        }
        self.layout.lay(nodes, &mut scope, 0);
        self.layout.push(ProgramStep::Emit, 1.0, 0);
        let BlockScope { slots, flags, .. } = scope;
        let block = ProgramBlock { start, slots, flags, columns, distinct, arrangement, once, group };
        self.blocks.push(block);
        Ok(self.blocks.len() - 1)
    }

    /// Compiles an aggregate and adds its argument to the columns. An argument that is not a variable gets a variable
    /// of its own in `made`.
    fn aggregate<'e>(
        &self,
        aggregate: &'e Aggregation,
        solution: &Variables,
        columns: &mut Vec<Variable>,
        made: &mut Vec<(Variable, &'e Expression)>,
    ) -> Result<GroupAggregate> {
        let (function, argument, distinct) = match aggregate {
            Aggregation::CountSolutions { distinct } => {
                let variables = if *distinct { solution.sorted() } else { Vec::new() };
                // Solutions are mappings of the query's variables: blank nodes and the steps of paths are not among them.
                let variables = variables.into_iter().filter(|variable| !Helper::is_helper(variable));
                let solution = variables.map(|variable| place(variable, columns)).collect();
                return Ok(GroupAggregate { fold: None, column: None, distinct: *distinct, skips: true, solution });
            }
            Aggregation::Call { function, argument, distinct } => (function, argument, *distinct),
        };
        let fold = match function {
            AggregateFunction::Count => None,
            AggregateFunction::Custom(name) => {
                let fold = Fold::of(name, self.separators);
                Some(fold.ok_or_else(|| CompileError::Aggregate(name.to_string()))?)
            }
            function => return Err(CompileError::Aggregate(format!("{function:?}"))),
        };
        let unmarked = without_mark(argument);
        let column = Some(column(unmarked.unwrap_or(argument), columns, made));
        let skips = fold.is_none() || unmarked.is_some();
        Ok(GroupAggregate { skips, fold, column, distinct, solution: Vec::new() })
    }

    /// Compiles a pattern to nodes. Returns the slots that are always bound after them.
    fn sequence(
        &mut self,
        pattern: &QueryPattern,
        context: CompileContext,
        scope: &mut BlockScope,
        out: &mut Sequence,
    ) -> Result<Mask> {
        let entry = PatternEntry { known: context.known, slots: scope.slots.len(), at: out.len() };
        match pattern {
            QueryPattern::Bgp { patterns } => {
                if let (true, GraphOperand::Named(name @ ProgramOperand::Term(_))) =
                    (patterns.is_empty(), context.graph)
                {
                    out.push((PlanNode::Step(ProgramStep::Graphs(name), 1.0), context.known));
                }
                patterns.iter().try_fold(context.known, |known, triple| {
                    Ok(known | self.triple(triple, CompileContext { known, ..context }, scope, out)?)
                })
            }
            QueryPattern::Relation { subject, number, object } => {
                Ok(context.known | self.relation(subject, *number, object, context, scope, out)?)
            }
            QueryPattern::Graph { name, inner } => self.graph(name, inner, context, scope, out),
            QueryPattern::Lateral { left, right } => {
                let known = self.sequence(left, context, scope, out)?;
                self.sequence(right, CompileContext { known, ..context }, scope, out)
            }
            QueryPattern::LeftLateral { left, right, condition } => {
                let known = self.sequence(left, context, scope, out)?;
                let mut body = Vec::new();
                let inside = self.sequence(right, CompileContext { known, ..context }, scope, &mut body)?;
                self.optional(condition.as_ref(), CompileContext { known, ..context }, inside, scope, body, out)
            }
            QueryPattern::Join { left, right } => self.join(left, right, context, scope, out),
            QueryPattern::LeftJoin { left, right, condition } => {
                let known = self.sequence(left, context, scope, out)?;
                let context = CompileContext { known, ..context };
                let (lookup, certain, _) = self.lookup(right, context, entry, scope, out)?;
                let body = vec![(PlanNode::Step(ProgramStep::Probe(lookup), f64::NAN), known | certain)];
                self.optional(condition.as_ref(), context, known | certain, scope, body, out)
            }
            QueryPattern::Minus { left, right } => {
                let known = self.sequence(left, context, scope, out)?;
                let context = CompileContext { known, ..context };
                let (lookup, _, from_outside) = self.lookup(right, context, entry, scope, out)?;
                // Values from outside are in the solutions of both sides.
                let shares = from_outside && entry.known != 0;
                out.push((PlanNode::Step(ProgramStep::Minus { lookup, shares }, 1.0), known));
                Ok(known)
            }
            QueryPattern::Filter { inner, condition } => {
                let known = self.sequence(inner, context, scope, out)?;
                self.filter(condition, context, known, scope, out, entry.at)?;
                Ok(known)
            }
            QueryPattern::Union { left, right } => self.union([left, right], context, scope, out),
            QueryPattern::Extend { inner, variable, expression } => {
                let known = self.sequence(inner, context, scope, out)?;
                self.extend(variable, expression, CompileContext { known, ..context }, scope, out)
            }
            QueryPattern::Values { variables, rows } => {
                let step = self.values(variables, rows, scope);
                let known = context.known | scope.mask(&bound(pattern).1);
                out.push((PlanNode::Step(step, rows.len() as f64), known));
                Ok(known)
            }
            QueryPattern::Project { .. }
            | QueryPattern::Distinct { .. }
            | QueryPattern::Reduced { .. }
            | QueryPattern::Slice { .. }
            | QueryPattern::Group { .. } => self.probe(pattern, context, entry, scope, out),
            QueryPattern::OrderBy { inner, .. } => self.sequence(inner, context, scope, out),
            QueryPattern::Table { .. } | QueryPattern::Include { .. } => Err(CompileError::Pattern("a table")),
            QueryPattern::Path { .. } => Err(CompileError::Pattern("a path")),
            QueryPattern::Service { .. } => Err(CompileError::Pattern("SERVICE")),
        }
    }

    /// Compiles GRAPH. Within the pattern, its variable has no value from it.
    fn graph(
        &mut self,
        name: &NamedNodePattern,
        inner: &QueryPattern,
        context: CompileContext,
        scope: &mut BlockScope,
        out: &mut Sequence,
    ) -> Result<Mask> {
        let (name, variable) = match name {
            NamedNodePattern::NamedNode(node) => (ProgramOperand::Term(self.view.id(&node.clone().into())), None),
            NamedNodePattern::Variable(variable) => {
                let slot = scope.slot(variable);
                let is_known = context.known & bit(slot) != 0;
                let graph = if is_known { slot } else { scope.slot(&Helper::Graph(scope.slots.len()).into()) };
                (ProgramOperand::Slot(graph), Some(slot))
            }
        };
        let mut known = context.known;
        if let ProgramOperand::Slot(graph) = name {
            known |= bit(graph);
            out.push((PlanNode::Step(ProgramStep::Graphs(name), f64::NAN), known));
        }
        let context = CompileContext { known, graph: GraphOperand::Named(name), ..context };
        let known = self.sequence(inner, context, scope, out)?;
        match (name, variable) {
            (ProgramOperand::Slot(graph), Some(slot)) if graph != slot => {
                out.push((PlanNode::Step(ProgramStep::Equate { graph, slot }, 1.0), known | bit(slot)));
                Ok(known | bit(slot))
            }
            _ => Ok(known),
        }
    }

    /// Compiles a union, with nested unions as further branches. After it, the slots that every branch binds are bound.
    fn union(
        &mut self,
        [left, right]: [&QueryPattern; 2],
        context: CompileContext,
        scope: &mut BlockScope,
        out: &mut Sequence,
    ) -> Result<Mask> {
        let mut branches = Vec::new();
        let mut all = Mask::MAX;
        let mut open = vec![right, left];
        while let Some(pattern) = open.pop() {
            if let QueryPattern::Union { left, right } = pattern {
                open.extend([&**right, &**left]);
                continue;
            }
            let mut branch = Vec::new();
            all &= self.sequence(pattern, context, scope, &mut branch)?;
            branches.push(strip(branch));
        }
        let known = context.known | all;
        out.push((PlanNode::Union(branches), known));
        Ok(known)
    }

    /// Compiles an assignment. Its value may be missing if an expression fails.
    fn extend(
        &mut self,
        variable: &Variable,
        expression: &Expression,
        context: CompileContext,
        scope: &mut BlockScope,
        out: &mut Sequence,
    ) -> Result<Mask> {
        let slot = scope.slot(variable);
        let value = match self.operand(expression, scope) {
            Some(place) => BindValue::Operand(place),
            None => self.calculated(expression, context, scope, out)?,
        };
        let known = context.known;
        let certain = match value {
            BindValue::Operand(ProgramOperand::Term(_)) => true,
            BindValue::Operand(ProgramOperand::Slot(from)) => known & bit(from) != 0,
            BindValue::Calculated(..) | BindValue::Leaf(_) | BindValue::Exists(_) => false,
        };
        let known = if certain { known | bit(slot) } else { known };
        out.push((PlanNode::Step(ProgramStep::Bind { slot, value }, 1.0), known));
        Ok(known)
    }

    /// Returns the step for constant rows in the query.
    fn values(&self, variables: &[Variable], rows: &[Row], scope: &mut BlockScope) -> ProgramStep {
        let slots = variables.iter().map(|v| scope.slot(v)).collect();
        let row = |row: &Row| row.iter().map(|v| v.as_ref().map(|v| self.view.id(v))).collect();
        ProgramStep::Values { slots, rows: rows.iter().map(row).collect() }
    }

    /// Compiles a triple pattern. Returns the slots that it binds.
    fn triple(
        &self,
        triple: &TriplePattern,
        context: CompileContext,
        scope: &mut BlockScope,
        out: &mut Sequence,
    ) -> Result<Mask> {
        let subject = self.term(&triple.subject, scope)?;
        let predicate = match &triple.predicate {
            NamedNodePattern::NamedNode(node) => ProgramOperand::Term(self.view.id(&node.clone().into())),
            NamedNodePattern::Variable(variable) => ProgramOperand::Slot(scope.slot(variable)),
        };
        let object = self.term(&triple.object, scope)?;
        let counted = self.estimates.then(|| PatternCardinality::of_triple(triple, self.view));
        Ok(self.places([subject, predicate, object], counted, context, scope, out))
    }

    /// Compiles a relation. Returns the slots that it binds.
    fn relation(
        &self,
        subject: &TermPattern,
        number: usize,
        object: &TermPattern,
        context: CompileContext,
        scope: &mut BlockScope,
        out: &mut Sequence,
    ) -> Result<Mask> {
        let counted = self.estimates.then(|| PatternCardinality::of_relation(subject, number, object, self.view));
        let (subject, object) = (self.term(subject, scope)?, self.term(object, scope)?);
        let relation = ProgramOperand::Term(self.view.id(&convert::relation(number).into()));
        Ok(self.places([subject, relation, object], counted, context, scope, out))
    }

    /// Adds the step for the operands of a triple pattern. Returns the slots that it binds.
    fn places(
        &self,
        places: [ProgramOperand; 3],
        counted: Option<PatternCardinality>,
        context: CompileContext,
        scope: &mut BlockScope,
        out: &mut Sequence,
    ) -> Mask {
        let mask = places.iter().fold(0, |mask, place| match place {
            ProgramOperand::Slot(slot) => mask | bit(*slot),
            ProgramOperand::Term(_) => mask,
        });
        let estimate = counted.map_or(f64::NAN, |counted| {
            let names = scope.slots.iter().enumerate();
            let names: Variables =
                names.filter(|(slot, _)| context.known & bit(*slot) != 0).map(|(_, v)| v.clone()).collect();
            let rows = counted.rows(self.view, &scope.values.and(&names));
            scope.values = scope.values.or(&counted.variables);
            rows
        });
        let step = match context.graph {
            GraphOperand::All => ProgramStep::Triple(places),
            graph => ProgramStep::InGraph(graph, places),
        };
        out.push((PlanNode::Step(step, estimate), context.known | mask));
        mask
    }

    /// Returns the operand for a term of a triple pattern.
    fn term(&self, term: &TermPattern, scope: &mut BlockScope) -> Result<ProgramOperand> {
        Ok(match term {
            TermPattern::NamedNode(node) => ProgramOperand::Term(self.view.id(&node.clone().into())),
            TermPattern::Literal(literal) => ProgramOperand::Term(self.view.id(&literal.clone().into())),
            TermPattern::Variable(variable) => ProgramOperand::Slot(scope.slot(variable)),
            TermPattern::Triple(triple) => match constant(triple) {
                Some(term) => ProgramOperand::Term(self.view.id(&term)),
                None => return Err(CompileError::Pattern("a triple term")),
            },
            TermPattern::BlankNode(_) => return Err(CompileError::Pattern("a blank node")),
        })
    }
}

/// The modifiers around a projection or a group.
struct Modifiers<'q> {
    /// Whether duplicates are removed: REDUCED permits it.
    distinct: bool,
    /// OFFSET and LIMIT.
    limits: Option<(usize, Option<usize>)>,
    inner: &'q QueryPattern,
}

impl<'q> Modifiers<'q> {
    /// Splits a pattern into its modifiers and the rest.
    fn of(pattern: &'q QueryPattern) -> Modifiers<'q> {
        let mut modifiers = Modifiers { distinct: false, limits: None, inner: pattern };
        if let QueryPattern::Slice { inner, start, length } = modifiers.inner {
            modifiers.limits = Some((*start, *length));
            modifiers.inner = inner;
        }
        if let QueryPattern::Distinct { inner } | QueryPattern::Reduced { inner } = modifiers.inner {
            modifiers.distinct = true;
            modifiers.inner = inner;
        }
        modifiers
    }
}

/// Returns the column of a variable, adding it if necessary.
fn place(variable: Variable, columns: &mut Vec<Variable>) -> usize {
    columns.iter().position(|column| *column == variable).unwrap_or_else(|| {
        columns.push(variable);
        columns.len() - 1
    })
}

/// Returns the column of an expression's value. An expression that is not a variable gets one in `made`.
fn column<'e>(
    expression: &'e Expression,
    columns: &mut Vec<Variable>,
    made: &mut Vec<(Variable, &'e Expression)>,
) -> usize {
    let variable = match expression {
        Expression::Variable(variable) => variable.clone(),
        expression => {
            let variable = Variable::from(Helper::Argument(made.len()));
            made.push((variable.clone(), expression));
            variable
        }
    };
    place(variable, columns)
}

/// Inserts [`Step::Once`] if all projected variables are bound before the last step. DISTINCT then turns the remaining
/// steps into an existence test.
fn once(columns: &[Option<Slot>], sequence: &mut Sequence, known: Mask) -> bool {
    let shown = columns.iter().flatten().fold(0, |mask, &slot| mask | bit(slot));
    if shown & !known != 0 || columns.iter().flatten().any(|&slot| bit(slot) == 0) {
        return false;
    }
    let at = sequence.iter().position(|(_, mask)| shown & !mask == 0);
    if let Some(at) = at
        && at + 1 < sequence.len()
        && let Some(&(_, mask)) = sequence.get(at)
    {
        sequence.insert(at + 1, (PlanNode::Step(ProgramStep::Once, 1.0), mask));
        return true;
    }
    false
}
