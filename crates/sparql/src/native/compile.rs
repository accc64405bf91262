//! Compiles a planned pattern to a program.

use oxrdf::Variable;

use super::comparison::is_dated;
use super::condition::{AmongValue, BindValue, ProgramCondition};
use super::constants::Constants;
use super::error::CompileError;
use super::layout::{PatternTest, PlanNode, ProgramLayout, Sequence, depth, strip};
use super::limits::MOST_DEPTH;
use super::operand::{GraphOperand, ProgramOperand, Slot};
use super::program::{Arrangement, GroupAggregate, GroupingStep, Program, ProgramBlock, ProgramStep, TableLookup};
use super::scope::{BlockScope, Mask, bit};
use super::values::{calculated, condition, constant, leaf};
use crate::functions::aggregates::{Fold, without_mark};
use crate::functions::exact::is_constant;
use crate::plan::{PatternCardinality, Variables, bound, is_plain};
use terrapin_sparql_syntax::algebra::{
    AggregateCall as Aggregation, AggregateFunction, Binary, Expression, Helper, NamedNodePattern, QueryPattern, Row,
    TermPattern, TriplePattern, Unary,
};
use terrapin_sparql_syntax::convert;
use terrapin_sparql_syntax::walk::{has_exists, on_all_variables, on_patterns, on_variables, replace_exists};
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

/// Collects the parts of a conjunction.
fn conjuncts<'e>(expression: &'e Expression, out: &mut Vec<&'e Expression>) {
    match expression {
        Expression::Binary(Binary::And, a, b) => {
            conjuncts(a, out);
            conjuncts(b, out);
        }
        other => out.push(other),
    }
}

impl Compiler<'_> {
    /// Compiles a pattern to a block of its own. Its columns are the projected variables, otherwise all variables in
    /// the order of their names. The given variables get its first slots.
    fn block(&mut self, pattern: &QueryPattern, given: &[GivenVariable], context: CompileContext) -> Result<usize> {
        let mut scope = BlockScope::default();
        let mut known = 0;
        for GivenVariable { variable, certain, .. } in given {
            let slot = scope.slot(variable);
            known |= if *certain { bit(slot) } else { 0 };
        }
        let Modifiers { mut distinct, reduced, limits, inner } = Modifiers::of(pattern);
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
        let block = ProgramBlock { start, slots, flags, columns, distinct, reduced, arrangement, once, group };
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
                let solution = variables.into_iter().map(|variable| place(variable, columns)).collect();
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

    /// Compiles GRAPH.
    fn graph(
        &mut self,
        name: &NamedNodePattern,
        inner: &QueryPattern,
        context: CompileContext,
        scope: &mut BlockScope,
        out: &mut Sequence,
    ) -> Result<Mask> {
        let (name, known) = match name {
            NamedNodePattern::NamedNode(node) => {
                (ProgramOperand::Term(self.view.id(&node.clone().into())), context.known)
            }
            NamedNodePattern::Variable(variable) => {
                let slot = scope.slot(variable);
                let known = context.known | bit(slot);
                out.push((PlanNode::Step(ProgramStep::Graphs(ProgramOperand::Slot(slot)), f64::NAN), known));
                (ProgramOperand::Slot(slot), known)
            }
        };
        self.sequence(inner, CompileContext { known, graph: GraphOperand::Named(name), ..context }, scope, out)
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

    /// Compiles a value. The tests of its EXISTS are added before it.
    fn calculated(
        &mut self,
        expression: &Expression,
        context: CompileContext,
        scope: &mut BlockScope,
        out: &mut Sequence,
    ) -> Result<BindValue> {
        if !has_exists(expression) {
            return Ok(calculated(expression, scope));
        }
        let mut tests = Vec::new();
        let expression = self.without_exists(expression, context, scope, &mut tests)?;
        out.extend(tests.into_iter().map(|test| (test, context.known)));
        Ok(calculated(&expression, scope))
    }

    /// Returns an expression with a test of a helper variable in place of each EXISTS. Adds the nodes that bind these
    /// variables to `tests`.
    fn without_exists(
        &mut self,
        expression: &Expression,
        context: CompileContext,
        scope: &mut BlockScope,
        tests: &mut Vec<PlanNode>,
    ) -> Result<Expression> {
        let mut expression = expression.clone();
        let mut failed = Ok(());
        replace_exists(&mut expression, &mut |pattern| {
            let variable = Variable::from(Helper::Exists(scope.slots.len()));
            let slot = scope.slot(&variable);
            if failed.is_ok() {
                failed = self.exists(pattern, context, scope).map(|body| tests.push(PlanNode::Exists(slot, body)));
            }
            Expression::Bound(variable)
        });
        failed.map(|()| expression)
    }

    /// Compiles the pattern of an EXISTS.
    fn exists(
        &mut self,
        pattern: &QueryPattern,
        context: CompileContext,
        scope: &mut BlockScope,
    ) -> Result<Vec<PlanNode>> {
        let mut body = Vec::new();
        self.sequence(pattern, CompileContext { asked: true, ..context }, scope, &mut body)?;
        Ok(strip(body))
    }

    /// Returns the step for constant rows in the query.
    fn values(&self, variables: &[Variable], rows: &[Row], scope: &mut BlockScope) -> ProgramStep {
        let slots = variables.iter().map(|v| scope.slot(v)).collect();
        let row = |row: &Row| row.iter().map(|v| v.as_ref().map(|v| self.view.id(v))).collect();
        ProgramStep::Values { slots, rows: rows.iter().map(row).collect() }
    }

    fn join(
        &mut self,
        left: &QueryPattern,
        right: &QueryPattern,
        context: CompileContext,
        scope: &mut BlockScope,
        out: &mut Sequence,
    ) -> Result<Mask> {
        let entry = PatternEntry { known: context.known, slots: scope.slots.len(), at: out.len() };
        if left.is_unit() {
            return self.sequence(right, context, scope, out);
        }
        if context.known == 0 && bound(left).0.common(&bound(right).0) == 0 {
            return self.product(left, right, context, scope, out);
        }
        // In an EXISTS, the table of a plain side is computed once; the order of the sides is free.
        let (left, right) = if context.asked && !is_plain(right) { (right, left) } else { (left, right) };
        let known = self.sequence(left, context, scope, out)?;
        self.probe(right, CompileContext { known, ..context }, entry, scope, out)
    }

    /// Compiles a Cartesian product. The planner puts the smaller sides first: these are stored as tables, and the last
    /// side is scanned once. If a side has no solution, no other work is done.
    fn product(
        &mut self,
        left: &QueryPattern,
        right: &QueryPattern,
        context: CompileContext,
        scope: &mut BlockScope,
        out: &mut Sequence,
    ) -> Result<Mask> {
        let entry = PatternEntry { known: context.known, slots: scope.slots.len(), at: out.len() };
        let mut sides = Vec::new();
        let mut first = left;
        while let QueryPattern::Join { left, right } = first
            && !left.is_unit()
            && bound(left).0.common(&bound(right).0) == 0
        {
            sides.push(&**right);
            first = left;
        }
        sides.push(first);
        let mut probes = Vec::new();
        for side in sides.into_iter().rev() {
            let (lookup, certain, _) = self.lookup(side, context, entry, scope, out)?;
            let any = ProgramStep::Any { table: lookup.table, given: lookup.given.clone() };
            out.push((PlanNode::Step(any, f64::NAN), context.known));
            probes.push((ProgramStep::Probe(lookup), certain));
        }
        let mut known = self.sequence(right, context, scope, out)?;
        for (probe, certain) in probes {
            known |= certain;
            out.push((PlanNode::Step(probe, f64::NAN), known));
        }
        Ok(known)
    }

    /// Compiles a pattern that is solved separately and then looked up.
    fn probe(
        &mut self,
        pattern: &QueryPattern,
        context: CompileContext,
        entry: PatternEntry,
        scope: &mut BlockScope,
        out: &mut Sequence,
    ) -> Result<Mask> {
        let (lookup, certain, _) = self.lookup(pattern, context, entry, scope, out)?;
        let known = context.known | certain;
        out.push((PlanNode::Step(ProgramStep::Probe(lookup), f64::NAN), known));
        Ok(known)
    }

    /// Returns the variables that a part that is solved separately gets from outside: those that it shows and that may
    /// be bound at the entry. A variable that may be bound only later is copied at the entry.
    fn given(
        &self,
        pattern: &QueryPattern,
        entry: PatternEntry,
        scope: &mut BlockScope,
        out: &mut Sequence,
    ) -> Vec<GivenVariable> {
        let mut variables = Variables::default();
        match Modifiers::of(pattern).inner {
            QueryPattern::Project { variables: shown, .. } => shown.iter().for_each(|v| variables.add(v)),
            inner => on_all_variables(inner, &mut |variable| variables.add(variable)),
        }
        let mut given = Vec::new();
        for variable in variables.sorted() {
            let Some(slot) = scope.known(&variable).filter(|slot| *slot < entry.slots) else { continue };
            let certain = entry.known & bit(slot) != 0;
            let outer = if certain {
                slot
            } else {
                let copy = scope.slot(&Helper::Outer(scope.slots.len()).into());
                let value = BindValue::Operand(ProgramOperand::Slot(slot));
                out.insert(entry.at, (PlanNode::Step(ProgramStep::Bind { slot: copy, value }, 1.0), entry.known));
                copy
            };
            given.push(GivenVariable { outer, variable, certain });
        }
        given
    }

    /// Compiles a pattern to a table. Returns the lookup of its rows, the slots that are bound in every row, and whether
    /// it gets values from outside.
    fn lookup(
        &mut self,
        pattern: &QueryPattern,
        context: CompileContext,
        entry: PatternEntry,
        scope: &mut BlockScope,
        out: &mut Sequence,
    ) -> Result<(TableLookup, Mask, bool)> {
        let asked = context.asked && !is_plain(pattern) || has_limits(pattern);
        let mut given = if asked { self.given(pattern, entry, scope, out) } else { Vec::new() };
        let graph = match context.graph {
            GraphOperand::Named(ProgramOperand::Slot(outer)) => {
                given.push(GivenVariable { outer, variable: Helper::Graph.into(), certain: true });
                GraphOperand::Named(ProgramOperand::Slot(given.len() - 1))
            }
            graph => graph,
        };
        let block = self.block(pattern, &given, CompileContext { known: 0, asked, graph })?;
        scope.depth = scope.depth.max(self.depth);
        let variables = match Modifiers::of(pattern).inner {
            QueryPattern::Project { variables, .. } => variables.clone(),
            QueryPattern::Group { variables, aggregates, .. } => {
                variables.iter().chain(aggregates.iter().map(|(variable, _)| variable)).cloned().collect()
            }
            pattern => bound(pattern).0.sorted(),
        };
        let slots = variables.iter().map(|v| scope.slot(v)).collect::<Vec<_>>();
        let mut certain = scope.mask(&bound(pattern).1);
        if let QueryPattern::Group { aggregates, .. } = pattern {
            // Any aggregate except a count may be an error.
            for (variable, aggregate) in aggregates {
                if is_count(aggregate) {
                    certain |= bit(scope.slot(variable));
                }
            }
        }
        let both = context.known & certain;
        let key = (0..slots.len()).filter(|&column| slots.get(column).is_some_and(|s| both & bit(*s) != 0)).collect();
        self.tables.push(block);
        let given = given.into_iter().map(|given| given.outer).collect();
        Ok((TableLookup { table: self.tables.len() - 1, slots, key, given }, certain, asked))
    }

    /// Adds an optional part, `body`, with an optional condition. Returns the slots that are always bound after it.
    fn optional(
        &mut self,
        condition: Option<&Expression>,
        context: CompileContext,
        inside: Mask,
        scope: &mut BlockScope,
        mut body: Sequence,
        out: &mut Sequence,
    ) -> Result<Mask> {
        if let Some(condition) = condition {
            self.filter(condition, context, inside, scope, &mut body, 0)?;
        }
        out.push((PlanNode::Optional(strip(body)), context.known));
        Ok(context.known)
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
            TermPattern::BlankNode(_) => return Err(CompileError::Pattern("a blank node")),
        })
    }

    /// Inserts each part of a filter as soon as its variables are bound, among the nodes from `from` on.
    fn filter(
        &mut self,
        expression: &Expression,
        context: CompileContext,
        after: Mask,
        scope: &mut BlockScope,
        out: &mut Sequence,
        from: usize,
    ) -> Result<()> {
        let mut parts = Vec::new();
        conjuncts(expression, &mut parts);
        for part in parts {
            let mut tests = Vec::new();
            let inside = CompileContext { known: after, ..context };
            let test = self.test(part, inside, scope, &mut tests)?;
            out.extend(tests.into_iter().map(|test| (test, after)));
            let mut needs: Mask = 0;
            let mut all = !has_exists(part);
            on_variables(part, &mut |variable| match scope.known(variable) {
                Some(slot) if bit(slot) != 0 => needs |= bit(slot),
                _ => all = false,
            });
            let earliest = if !all {
                None
            } else if needs & !context.known == 0 {
                Some((from, context.known))
            } else {
                let fitting = out.iter().enumerate().skip(from).find(|(_, (_, mask))| needs & !mask == 0);
                fitting.map(|(at, (_, mask))| (at + 1, *mask))
            };
            match earliest {
                Some((at, mask)) => out.insert(at, (PlanNode::Filter(test), mask)),
                None => out.push((PlanNode::Filter(test), after)),
            }
        }
        Ok(())
    }

    /// Compiles a condition. Adds the nodes that must precede it to `tests`.
    fn test(
        &mut self,
        expression: &Expression,
        context: CompileContext,
        scope: &mut BlockScope,
        tests: &mut Vec<PlanNode>,
    ) -> Result<PatternTest> {
        Ok(match expression {
            expression if is_dated(expression) && !has_exists(expression) => {
                PatternTest::Plain(condition(expression, scope))
            }
            Expression::Binary(Binary::And, a, b) => {
                PatternTest::And(vec![self.test(a, context, scope, tests)?, self.test(b, context, scope, tests)?])
            }
            Expression::Binary(Binary::Or, a, b) => {
                PatternTest::Or(vec![self.test(a, context, scope, tests)?, self.test(b, context, scope, tests)?])
            }
            Expression::Unary(Unary::Not, inner) => {
                PatternTest::Not(Box::new(self.test(inner, context, scope, tests)?))
            }
            Expression::Exists(pattern) => PatternTest::Exists(self.exists(pattern, context, scope)?),
            expression if has_exists(expression) => {
                let expression = self.without_exists(expression, context, scope, tests)?;
                self.test(&expression, context, scope, tests)?
            }
            Expression::Bound(variable) => PatternTest::Plain(ProgramCondition::Bound(scope.slot(variable))),
            Expression::In(value, list) if !list.is_empty() && list.iter().all(is_constant) => {
                let value = match &**value {
                    Expression::Variable(variable) => AmongValue::Slot(scope.slot(variable)),
                    value => AmongValue::Leaf(leaf(value, scope, false)),
                };
                PatternTest::Plain(ProgramCondition::Among(value, Constants::new(list.iter().filter_map(constant))))
            }
            Expression::Binary(operator @ (Binary::SameTerm | Binary::Equal), a, b) => {
                let places = (self.operand(a, scope), self.operand(b, scope));
                match (places, operator) {
                    ((Some(a), Some(b)), Binary::SameTerm) => PatternTest::Plain(ProgramCondition::Same(a, b)),
                    ((Some(a), Some(b)), _) => {
                        PatternTest::Plain(ProgramCondition::Equal(a, b, leaf(expression, scope, true)))
                    }
                    _ => PatternTest::Plain(condition(expression, scope)),
                }
            }
            expression => PatternTest::Plain(condition(expression, scope)),
        })
    }

    /// Returns the operand of an expression that is a term or a variable.
    fn operand(&self, expression: &Expression, scope: &mut BlockScope) -> Option<ProgramOperand> {
        match expression {
            Expression::Variable(variable) => Some(ProgramOperand::Slot(scope.slot(variable))),
            Expression::NamedNode(node) => Some(ProgramOperand::Term(self.view.id(&node.clone().into()))),
            Expression::Literal(literal) => Some(ProgramOperand::Term(self.view.id(&literal.clone().into()))),
            _ => None,
        }
    }
}

/// The modifiers around a projection or a group.
struct Modifiers<'q> {
    distinct: bool,
    reduced: bool,
    /// OFFSET and LIMIT.
    limits: Option<(usize, Option<usize>)>,
    inner: &'q QueryPattern,
}

impl<'q> Modifiers<'q> {
    /// Splits a pattern into its modifiers and the rest.
    fn of(pattern: &'q QueryPattern) -> Modifiers<'q> {
        let mut modifiers = Modifiers { distinct: false, reduced: false, limits: None, inner: pattern };
        if let QueryPattern::Slice { inner, start, length } = modifiers.inner {
            modifiers.limits = Some((*start, *length));
            modifiers.inner = inner;
        }
        match modifiers.inner {
            QueryPattern::Distinct { inner } => {
                modifiers.distinct = true;
                modifiers.inner = inner;
            }
            QueryPattern::Reduced { inner } => {
                modifiers.reduced = true;
                modifiers.inner = inner;
            }
            _ => {}
        }
        modifiers
    }
}

/// Returns whether a pattern contains LIMIT or OFFSET, so that values from outside must be known before.
fn has_limits(pattern: &QueryPattern) -> bool {
    let mut any = false;
    on_patterns(pattern, &mut |pattern| any |= matches!(pattern, QueryPattern::Slice { .. }));
    any
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

fn is_count(aggregate: &Aggregation) -> bool {
    match aggregate {
        Aggregation::CountSolutions { .. } => true,
        Aggregation::Call { function, .. } => *function == AggregateFunction::Count,
    }
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
