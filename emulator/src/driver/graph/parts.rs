//! Launches that wait for values in memory or for semaphores of other APIs, as operations of their own, so that nothing else is held up.

use crate::driver::external::Semaphores;
use crate::driver::stream::ValueOperation;

use super::exec::{GraphRun, Step};
use super::node::NodeKind;

/// A segment of a launch that has waits, each of which holds up what is behind it.
pub(super) enum Segment {
    Nodes(GraphRun),
    Value(ValueOperation),
    Semaphores(Semaphores),
}

impl GraphRun {
    /// The launch as operations of their own, one behind the other. Only child graphs have waits inside.
    pub(super) fn parts(self) -> Vec<Segment> {
        /// Puts steps behind those gathered so far.
        fn gather(steps: Vec<Step>, parts: &mut Vec<Segment>, next: &mut GraphRun) {
            for step in steps {
                if !step.enabled || !step.waits_for_value() {
                    next.steps.push(step);
                    continue;
                }
                let mut end = |next: &mut GraphRun| {
                    let rest = GraphRun { conditions: Vec::new(), steps: Vec::new(), ..next.clone() };
                    parts.push(Segment::Nodes(std::mem::replace(next, rest)));
                };
                match &step.kind {
                    NodeKind::Values(batch, _) => {
                        end(next);
                        parts.extend(batch.operations.iter().cloned().map(Segment::Value));
                    }
                    NodeKind::Semaphores(semaphores) => {
                        end(next);
                        parts.push(Segment::Semaphores((**semaphores).clone()));
                    }
                    _ => {}
                }
                step.bodies.into_iter().for_each(|body| gather(body, parts, next));
            }
        }
        let (mut parts, mut next) = (Vec::new(), self);
        let steps = std::mem::take(&mut next.steps);
        gather(steps, &mut parts, &mut next);
        parts.push(Segment::Nodes(next));
        parts
    }
}
