//! Triples of some of the graphs, and the graphs themselves.

use super::{Machine, StepFlow};
use crate::native::frame::BlockFrame;
use crate::native::operand::{GraphOperand, ProgramOperand, Slot};
use terrapin_triples::{GraphSelection, ReadError, TermId};

impl Machine<'_> {
    /// Continues with every triple of some of the graphs that matches a pattern.
    pub(super) fn in_graph(
        &mut self,
        frame: &mut BlockFrame<'_>,
        at: usize,
        graph: GraphOperand,
        places: &[ProgramOperand; 3],
    ) -> StepFlow {
        let view = self.view;
        let selection = match graph {
            GraphOperand::All => GraphSelection::All,
            GraphOperand::Default => GraphSelection::Default,
            GraphOperand::Named(name) => match frame.value(name) {
                Some(name) => GraphSelection::Named(name),
                None => return StepFlow::More,
            },
        };
        if let Err(error) = view.work(1) {
            return self.fail(error);
        }
        let [subject, predicate, object] = places.map(|place| frame.value(place));
        let relation = predicate.and_then(|name| Some((name, view.relation(name)?)));
        let around = view.select(selection);
        let mut triples: Box<dyn Iterator<Item = Result<[TermId; 3], ReadError>>> = match relation {
            Some((name, relation)) => {
                let pairs = relation.pairs(view, subject, object);
                Box::new(pairs.map(move |pair| pair.map(|(subject, object)| [subject, name, object])))
            }
            None => Box::new(view.triples(subject, predicate, object)),
        };
        loop {
            // The following steps may read other graphs.
            let next = triples.next();
            view.select(around);
            let flow = match next {
                None => return StepFlow::More,
                Some(Ok(triple)) => self.matched(frame, at, places, triple),
                Some(Err(error)) => self.fail(error),
            };
            if flow != StepFlow::More {
                return flow;
            }
            view.select(selection);
        }
    }

    /// Continues with every named graph, or if the operand has a value, tests whether that is one.
    pub(super) fn graphs(&mut self, frame: &mut BlockFrame<'_>, at: usize, name: ProgramOperand) -> StepFlow {
        let names = match frame.value(name) {
            Some(name) if self.view.has_graph(name) => vec![name],
            Some(_) => Vec::new(),
            None => self.view.graph_names(),
        };
        for graph in names {
            if let Err(error) = self.view.work(1) {
                return self.fail(error);
            }
            let mark = frame.trail.len();
            let fits = match name {
                ProgramOperand::Term(_) => true,
                ProgramOperand::Slot(slot) => frame.unify(slot, graph),
            };
            let flow = self.go_on(frame, at, fits, mark);
            if flow != StepFlow::More {
                return flow;
            }
        }
        StepFlow::More
    }

    /// Continues if a slot is empty or has the graph's name.
    pub(super) fn equate(&mut self, frame: &mut BlockFrame<'_>, at: usize, graph: Slot, slot: Slot) -> StepFlow {
        let mark = frame.trail.len();
        let fits = frame.get(graph).is_some_and(|name| frame.unify(slot, name));
        self.go_on(frame, at, fits, mark)
    }
}
