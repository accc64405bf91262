//! Compiles a planned pattern to a program.

use oxrdf::Variable;

use super::comparison::is_dated;
use super::condition::{AmongValue, BindValue, ProgramCondition};
use super::constants::Constants;
use super::fallback::Fallback;
use super::layout::{PatternTest, PlanNode, ProgramLayout, Sequence, strip};
use super::limits::MOST_STEPS;
use super::operand::{ProgramOperand, Slot};
use super::program::{GroupAggregate, GroupingStep, Program, ProgramBlock, ProgramStep};
use super::scope::{BlockScope, Mask, bit};
use super::values::{Result, calculated, condition, constant, leaf};
use crate::functions::aggregates::{Fold, without_mark};
use crate::functions::exact::is_constant;
use crate::plan::{PatternCardinality, Variables, bound, is_plain};
use terrapin_sparql_syntax::algebra::{
    AggregateCall as Aggregation, AggregateFunction, Binary, Expression, Helper, NamedNodePattern, QueryPattern, Row,
    TermPattern, TriplePattern, Unary,
};
use terrapin_sparql_syntax::convert;
use terrapin_sparql_syntax::walk::{has_exists, on_variables, replace_exists};
use terrapin_triples::TripleView;

/// The state of compiling one pattern.
struct Compiler<'v> {
    view: &'v TripleView,
    /// The separators of the query's GROUP_CONCATs.
    separators: &'v [String],
    estimates: bool,
    layout: ProgramLayout,
    blocks: Vec<ProgramBlock>,
    tables: Vec<usize>,
}

/// The context of a pattern.
#[derive(Clone, Copy)]
struct CompileContext {
    /// Slots that are always bound before the pattern.
    known: Mask,
    /// Whether the pattern is in an EXISTS. A part that is solved separately would then not see the values around the
    /// EXISTS. (The right sides of the planner's lateral joins give the same result if they are solved separately.)
    asked: bool,
}

/// Compiles a planned projection. With `estimates`, every step has its expected number of solutions.
///
/// # Errors
/// Returns the reason if a part needs the evaluator.
pub fn compile(pattern: &QueryPattern, view: &TripleView, separators: &[String], estimates: bool) -> Result<Program> {
    let projection = match pattern {
        QueryPattern::Distinct { inner } => inner,
        pattern => pattern,
    };
    if !matches!(projection, QueryPattern::Project { .. }) {
        return Err(Fallback::Pattern("REDUCED"));
    }
    let mut compiler = Compiler {
        view,
        separators,
        estimates,
        layout: ProgramLayout::default(),
        blocks: Vec::new(),
        tables: Vec::new(),
    };
    let main = compiler.block(pattern)?;
    let Compiler { layout: ProgramLayout { steps }, blocks, tables, .. } = compiler;
    if steps.len() > MOST_STEPS {
        return Err(Fallback::Steps);
    }
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
    /// the order of their names.
    fn block(&mut self, pattern: &QueryPattern) -> Result<usize> {
        let mut scope = BlockScope::default();
        let (mut distinct, mut group, mut arguments, mut inner) = (false, None, Vec::new(), pattern);
        if let QueryPattern::Distinct { inner: below } = inner {
            distinct = true;
            inner = below;
        }
        let mut shown: Option<Vec<Variable>> = None;
        if let QueryPattern::Project { inner: below, variables } = inner {
            shown = Some(variables.clone());
            inner = below;
        } else if let QueryPattern::Group { inner: below, variables, aggregates } = inner {
            let mut columns = variables.clone();
            let mut made = Vec::new();
            let aggregates = aggregates.iter().map(|(_, a)| self.aggregate(a, &mut columns, &mut made));
            let aggregates = aggregates.collect::<Result<_>>()?;
            group = Some(GroupingStep { keys: variables.len(), aggregates });
            arguments = made;
            shown = Some(columns);
            inner = below;
        }
        let shown = shown.unwrap_or_else(|| bound(pattern).0.sorted());
        let mut sequence = Vec::new();
        let known = self.sequence(inner, CompileContext { known: 0, asked: false }, &mut scope, &mut sequence)?;
        for (variable, expression) in arguments {
            let value = self.calculated(expression, known, &mut scope, &mut sequence)?;
            let slot = scope.slot(&variable)?;
            sequence.push((PlanNode::Step(ProgramStep::Bind { slot, value }, 1.0), known));
        }
        let columns: Vec<Option<Slot>> = shown.iter().map(|variable| scope.known(variable)).collect();
        let once = distinct && group.is_none() && once(&columns, &mut sequence, known);
        let start = self.layout.steps.len();
        self.layout.lay(strip(sequence), &mut scope, 0)?;
        self.layout.push(ProgramStep::Emit, 1.0, 0);
        let block = ProgramBlock { start, slots: scope.slots, flags: scope.flags, columns, distinct, once, group };
        self.blocks.push(block);
        Ok(self.blocks.len() - 1)
    }

    /// Compiles an aggregate and adds its argument to the columns. An argument that is not a variable gets a variable
    /// of its own in `made`.
    fn aggregate<'e>(
        &self,
        aggregate: &'e Aggregation,
        columns: &mut Vec<Variable>,
        made: &mut Vec<(Variable, &'e Expression)>,
    ) -> Result<GroupAggregate> {
        let (function, argument, distinct) = match aggregate {
            Aggregation::CountSolutions { distinct: false } => {
                return Ok(GroupAggregate { fold: None, column: None, distinct: false, skips: true });
            }
            Aggregation::CountSolutions { distinct: true } => return Err(Fallback::DistinctCount),
            Aggregation::Call { function, argument, distinct } => (function, argument, *distinct),
        };
        let fold = match function {
            AggregateFunction::Count => None,
            AggregateFunction::Custom(name) => Some(Fold::of(name, self.separators).ok_or(Fallback::Aggregate)?),
            _ => return Err(Fallback::Aggregate),
        };
        let unmarked = without_mark(argument);
        let variable = match unmarked.unwrap_or(argument) {
            Expression::Variable(variable) => variable.clone(),
            expression => {
                let variable = Variable::from(Helper::Argument(made.len()));
                made.push((variable.clone(), expression));
                variable
            }
        };
        let column = columns.iter().position(|c| *c == variable).unwrap_or_else(|| {
            columns.push(variable);
            columns.len() - 1
        });
        Ok(GroupAggregate { skips: fold.is_none() || unmarked.is_some(), fold, column: Some(column), distinct })
    }

    /// Compiles a pattern to nodes. Returns the slots that are always bound after them.
    fn sequence(
        &mut self,
        pattern: &QueryPattern,
        context: CompileContext,
        scope: &mut BlockScope,
        out: &mut Sequence,
    ) -> Result<Mask> {
        match pattern {
            QueryPattern::Bgp { patterns } => patterns
                .iter()
                .try_fold(context.known, |known, triple| Ok(known | self.triple(triple, known, scope, out)?)),
            QueryPattern::Relation { subject, number, object } => {
                Ok(context.known | self.relation(subject, *number, object, context.known, scope, out)?)
            }
            QueryPattern::Lateral { left, right } => {
                let known = self.sequence(left, context, scope, out)?;
                self.sequence(right, CompileContext { known, ..context }, scope, out)
            }
            QueryPattern::LeftLateral { left, right, condition } => {
                let known = self.sequence(left, context, scope, out)?;
                let mut body = Vec::new();
                let inside = self.sequence(right, CompileContext { known, ..context }, scope, &mut body)?;
                self.optional(condition.as_ref(), known, inside, scope, body, out)
            }
            QueryPattern::Join { left, right } => self.join(left, right, context, scope, out),
            QueryPattern::LeftJoin { left, right, condition } => {
                let known = self.sequence(left, context, scope, out)?;
                let mut body = Vec::new();
                let inside = self.probe(right, CompileContext { known, ..context }, scope, &mut body)?;
                self.optional(condition.as_ref(), known, inside, scope, body, out)
            }
            QueryPattern::Minus { left, right } => self.minus(left, right, context, scope, out),
            QueryPattern::Filter { inner, condition } => {
                let from = out.len();
                let known = self.sequence(inner, context, scope, out)?;
                self.filter(condition, context.known, known, scope, out, from)?;
                Ok(known)
            }
            QueryPattern::Union { left, right } => self.union([left, right], context, scope, out),
            QueryPattern::Extend { inner, variable, expression } => {
                let known = self.sequence(inner, context, scope, out)?;
                self.extend(variable, expression, known, scope, out)
            }
            QueryPattern::Values { variables, rows } => {
                let step = self.values(variables, rows, scope)?;
                let known = context.known | scope.mask(&bound(pattern).1)?;
                out.push((PlanNode::Step(step, rows.len() as f64), known));
                Ok(known)
            }
            QueryPattern::Project { .. } | QueryPattern::Distinct { .. } | QueryPattern::Group { .. } => {
                self.probe(pattern, context, scope, out)
            }
            QueryPattern::Table { .. } | QueryPattern::Include { .. } => Err(Fallback::Pattern("a table")),
            QueryPattern::Path { .. } => Err(Fallback::Pattern("a path")),
            QueryPattern::Graph { .. } => Err(Fallback::Pattern("GRAPH")),
            QueryPattern::OrderBy { .. } => Err(Fallback::Pattern("ORDER BY in EXISTS or LATERAL")),
            QueryPattern::Reduced { .. } => Err(Fallback::Pattern("REDUCED")),
            QueryPattern::Slice { .. } => Err(Fallback::Pattern("LIMIT in EXISTS or LATERAL")),
            QueryPattern::Service { .. } => Err(Fallback::Pattern("SERVICE")),
        }
    }

    fn minus(
        &mut self,
        left: &QueryPattern,
        right: &QueryPattern,
        context: CompileContext,
        scope: &mut BlockScope,
        out: &mut Sequence,
    ) -> Result<Mask> {
        let known = self.sequence(left, context, scope, out)?;
        if context.asked && !is_plain(right) {
            return Err(Fallback::Apart);
        }
        let (table, slots, key, _) = self.table(right, known, scope)?;
        out.push((PlanNode::Step(ProgramStep::Minus { table, slots, key }, 1.0), known));
        Ok(known)
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
        known: Mask,
        scope: &mut BlockScope,
        out: &mut Sequence,
    ) -> Result<Mask> {
        let slot = scope.slot(variable)?;
        let value = match self.operand(expression, scope)? {
            Some(place) => BindValue::Operand(place),
            None => self.calculated(expression, known, scope, out)?,
        };
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
        known: Mask,
        scope: &mut BlockScope,
        out: &mut Sequence,
    ) -> Result<BindValue> {
        if !has_exists(expression) {
            return calculated(expression, scope);
        }
        let mut tests = Vec::new();
        let expression = self.without_exists(expression, known, scope, &mut tests)?;
        out.extend(tests.into_iter().map(|test| (test, known)));
        calculated(&expression, scope)
    }

    /// Returns an expression with a test of a helper variable in place of each EXISTS. Adds the nodes that bind these
    /// variables to `tests`.
    fn without_exists(
        &mut self,
        expression: &Expression,
        known: Mask,
        scope: &mut BlockScope,
        tests: &mut Vec<PlanNode>,
    ) -> Result<Expression> {
        let mut expression = expression.clone();
        let mut failed = Ok(());
        replace_exists(&mut expression, &mut |pattern| {
            let variable = Variable::from(Helper::Exists(scope.slots.len()));
            if failed.is_ok() {
                failed = self.exists(pattern, known, scope).and_then(|body| {
                    tests.push(PlanNode::Exists(scope.slot(&variable)?, body));
                    Ok(())
                });
            }
            Expression::Bound(variable)
        });
        failed.map(|()| expression)
    }

    /// Compiles the pattern of an EXISTS.
    fn exists(&mut self, pattern: &QueryPattern, known: Mask, scope: &mut BlockScope) -> Result<Vec<PlanNode>> {
        let mut body = Vec::new();
        self.sequence(pattern, CompileContext { known, asked: true }, scope, &mut body)?;
        Ok(strip(body))
    }

    /// Returns the step for constant rows in the query.
    fn values(&self, variables: &[Variable], rows: &[Row], scope: &mut BlockScope) -> Result<ProgramStep> {
        let slots = variables.iter().map(|v| scope.slot(v)).collect::<Result<_>>()?;
        let row = |row: &Row| row.iter().map(|v| v.as_ref().map(|v| self.view.id(v))).collect();
        Ok(ProgramStep::Values { slots, rows: rows.iter().map(row).collect() })
    }

    fn join(
        &mut self,
        left: &QueryPattern,
        right: &QueryPattern,
        context: CompileContext,
        scope: &mut BlockScope,
        out: &mut Sequence,
    ) -> Result<Mask> {
        if left.is_unit() {
            return self.sequence(right, context, scope, out);
        }
        if context.known == 0 && bound(left).0.common(&bound(right).0) == 0 {
            return self.product(left, right, scope, out);
        }
        // In an EXISTS, only a plain side can be stored as a table; the order of the sides is free.
        let (left, right) = if context.asked && !is_plain(right) { (right, left) } else { (left, right) };
        let known = self.sequence(left, context, scope, out)?;
        self.probe(right, CompileContext { known, ..context }, scope, out)
    }

    /// Compiles a Cartesian product. The planner puts the smaller sides first: these are stored as tables, and the last
    /// side is scanned once. If a side has no solution, no other work is done.
    fn product(
        &mut self,
        left: &QueryPattern,
        right: &QueryPattern,
        scope: &mut BlockScope,
        out: &mut Sequence,
    ) -> Result<Mask> {
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
            let (table, slots, _, certain) = self.table(side, 0, scope)?;
            out.push((PlanNode::Step(ProgramStep::Any { table }, f64::NAN), 0));
            probes.push((ProgramStep::Probe { table, slots, key: Vec::new() }, certain));
        }
        let mut known = self.sequence(right, CompileContext { known: 0, asked: false }, scope, out)?;
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
        scope: &mut BlockScope,
        out: &mut Sequence,
    ) -> Result<Mask> {
        if context.asked && !is_plain(pattern) {
            return Err(Fallback::Apart);
        }
        let (table, slots, key, certain) = self.table(pattern, context.known, scope)?;
        let known = context.known | certain;
        out.push((PlanNode::Step(ProgramStep::Probe { table, slots, key }, f64::NAN), known));
        Ok(known)
    }

    /// Compiles a pattern to a table. Returns its number, the slots of its columns, the columns that are bound on both
    /// sides, and the slots that are bound in every row.
    fn table(
        &mut self,
        pattern: &QueryPattern,
        known: Mask,
        scope: &mut BlockScope,
    ) -> Result<(usize, Vec<Slot>, Vec<usize>, Mask)> {
        let block = self.block(pattern)?;
        let variables = match pattern {
            QueryPattern::Project { variables, .. } => variables.clone(),
            QueryPattern::Distinct { inner } => match &**inner {
                QueryPattern::Project { variables, .. } => variables.clone(),
                inner => bound(inner).0.sorted(),
            },
            QueryPattern::Group { variables, aggregates, .. } => {
                variables.iter().chain(aggregates.iter().map(|(variable, _)| variable)).cloned().collect()
            }
            pattern => bound(pattern).0.sorted(),
        };
        let slots = variables.iter().map(|v| scope.slot(v)).collect::<Result<Vec<_>>>()?;
        let mut certain = scope.mask(&bound(pattern).1)?;
        if let QueryPattern::Group { aggregates, .. } = pattern {
            // Any aggregate except a count may be an error.
            for (variable, aggregate) in aggregates {
                if is_count(aggregate) {
                    certain |= bit(scope.slot(variable)?);
                }
            }
        }
        let both = known & certain;
        let key = (0..slots.len()).filter(|&column| slots.get(column).is_some_and(|s| both & bit(*s) != 0)).collect();
        self.tables.push(block);
        Ok((self.tables.len() - 1, slots, key, certain))
    }

    /// Adds an optional part, `body`, with an optional condition. Returns the slots that are always bound after it.
    fn optional(
        &mut self,
        condition: Option<&Expression>,
        known: Mask,
        inside: Mask,
        scope: &mut BlockScope,
        mut body: Sequence,
        out: &mut Sequence,
    ) -> Result<Mask> {
        if let Some(condition) = condition {
            self.filter(condition, known, inside, scope, &mut body, 0)?;
        }
        out.push((PlanNode::Optional(strip(body)), known));
        Ok(known)
    }

    /// Compiles a triple pattern. Returns the slots that it binds.
    fn triple(&self, triple: &TriplePattern, known: Mask, scope: &mut BlockScope, out: &mut Sequence) -> Result<Mask> {
        let subject = self.term(&triple.subject, scope)?;
        let predicate = match &triple.predicate {
            NamedNodePattern::NamedNode(node) => ProgramOperand::Term(self.view.id(&node.clone().into())),
            NamedNodePattern::Variable(variable) => ProgramOperand::Slot(scope.slot(variable)?),
        };
        let object = self.term(&triple.object, scope)?;
        let counted = self.estimates.then(|| PatternCardinality::of_triple(triple, self.view));
        Ok(self.places([subject, predicate, object], counted, known, scope, out))
    }

    /// Compiles a relation. Returns the slots that it binds.
    fn relation(
        &self,
        subject: &TermPattern,
        number: usize,
        object: &TermPattern,
        known: Mask,
        scope: &mut BlockScope,
        out: &mut Sequence,
    ) -> Result<Mask> {
        let counted = self.estimates.then(|| PatternCardinality::of_relation(subject, number, object, self.view));
        let (subject, object) = (self.term(subject, scope)?, self.term(object, scope)?);
        let relation = ProgramOperand::Term(self.view.id(&convert::relation(number).into()));
        Ok(self.places([subject, relation, object], counted, known, scope, out))
    }

    /// Adds the step for the operands of a triple pattern. Returns the slots that it binds.
    fn places(
        &self,
        places: [ProgramOperand; 3],
        counted: Option<PatternCardinality>,
        known: Mask,
        scope: &mut BlockScope,
        out: &mut Sequence,
    ) -> Mask {
        let mask = places.iter().fold(0, |mask, place| match place {
            ProgramOperand::Slot(slot) => mask | bit(*slot),
            ProgramOperand::Term(_) => mask,
        });
        let estimate = counted.map_or(f64::NAN, |counted| {
            let names = scope.slots.iter().enumerate();
            let names: Variables = names.filter(|(slot, _)| known & bit(*slot) != 0).map(|(_, v)| v.clone()).collect();
            let rows = counted.rows(self.view, &scope.values.and(&names));
            scope.values = scope.values.or(&counted.variables);
            rows
        });
        out.push((PlanNode::Step(ProgramStep::Triple(places), estimate), known | mask));
        mask
    }

    /// Returns the operand for a term of a triple pattern.
    fn term(&self, term: &TermPattern, scope: &mut BlockScope) -> Result<ProgramOperand> {
        Ok(match term {
            TermPattern::NamedNode(node) => ProgramOperand::Term(self.view.id(&node.clone().into())),
            TermPattern::Literal(literal) => ProgramOperand::Term(self.view.id(&literal.clone().into())),
            TermPattern::Variable(variable) => ProgramOperand::Slot(scope.slot(variable)?),
            TermPattern::BlankNode(_) => return Err(Fallback::Pattern("a blank node")),
        })
    }

    /// Inserts each part of a filter as soon as its variables are bound, among the nodes from `from` on.
    fn filter(
        &mut self,
        expression: &Expression,
        before: Mask,
        after: Mask,
        scope: &mut BlockScope,
        out: &mut Sequence,
        from: usize,
    ) -> Result<()> {
        let mut parts = Vec::new();
        conjuncts(expression, &mut parts);
        for part in parts {
            let mut tests = Vec::new();
            let test = self.test(part, after, scope, &mut tests)?;
            out.extend(tests.into_iter().map(|test| (test, after)));
            let mut needs: Mask = 0;
            let mut all = !has_exists(part);
            on_variables(part, &mut |variable| match scope.known(variable) {
                Some(slot) => needs |= bit(slot),
                None => all = false,
            });
            let earliest = if !all {
                None
            } else if needs & !before == 0 {
                Some((from, before))
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
        known: Mask,
        scope: &mut BlockScope,
        tests: &mut Vec<PlanNode>,
    ) -> Result<PatternTest> {
        Ok(match expression {
            expression if is_dated(expression) && !has_exists(expression) => {
                PatternTest::Plain(condition(expression, scope)?)
            }
            Expression::Binary(Binary::And, a, b) => {
                PatternTest::And(vec![self.test(a, known, scope, tests)?, self.test(b, known, scope, tests)?])
            }
            Expression::Binary(Binary::Or, a, b) => {
                PatternTest::Or(vec![self.test(a, known, scope, tests)?, self.test(b, known, scope, tests)?])
            }
            Expression::Unary(Unary::Not, inner) => PatternTest::Not(Box::new(self.test(inner, known, scope, tests)?)),
            Expression::Exists(pattern) => PatternTest::Exists(self.exists(pattern, known, scope)?),
            expression if has_exists(expression) => {
                let expression = self.without_exists(expression, known, scope, tests)?;
                self.test(&expression, known, scope, tests)?
            }
            Expression::Bound(variable) => PatternTest::Plain(ProgramCondition::Bound(scope.slot(variable)?)),
            Expression::In(value, list) if !list.is_empty() && list.iter().all(is_constant) => {
                let value = match &**value {
                    Expression::Variable(variable) => AmongValue::Slot(scope.slot(variable)?),
                    value => AmongValue::Leaf(leaf(value, scope, false)?),
                };
                PatternTest::Plain(ProgramCondition::Among(value, Constants::new(list.iter().filter_map(constant))))
            }
            Expression::Binary(operator @ (Binary::SameTerm | Binary::Equal), a, b) => {
                let places = (self.operand(a, scope)?, self.operand(b, scope)?);
                match (places, operator) {
                    ((Some(a), Some(b)), Binary::SameTerm) => PatternTest::Plain(ProgramCondition::Same(a, b)),
                    ((Some(a), Some(b)), _) => {
                        PatternTest::Plain(ProgramCondition::Equal(a, b, leaf(expression, scope, true)?))
                    }
                    _ => PatternTest::Plain(condition(expression, scope)?),
                }
            }
            expression => PatternTest::Plain(condition(expression, scope)?),
        })
    }

    /// Returns the operand of an expression that is a term or a variable.
    fn operand(&self, expression: &Expression, scope: &mut BlockScope) -> Result<Option<ProgramOperand>> {
        Ok(match expression {
            Expression::Variable(variable) => Some(ProgramOperand::Slot(scope.slot(variable)?)),
            Expression::NamedNode(node) => Some(ProgramOperand::Term(self.view.id(&node.clone().into()))),
            Expression::Literal(literal) => Some(ProgramOperand::Term(self.view.id(&literal.clone().into()))),
            _ => None,
        })
    }
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
    if shown & !known != 0 {
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
