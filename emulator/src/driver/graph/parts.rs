//! Runs the steps of a launch in order. A launch that waits for values in memory or for semaphores
//! of other APIs is split into several operations, so that other work can continue.

use crate::driver::answer::Answer;
use crate::driver::external::Semaphores;
use crate::driver::state::{Body, Turn, at_node};
use crate::driver::stream::ValueOperation;

use super::exec::{GraphRun, Step};
use super::node::NodeKind;

/// A segment of a launch with waits. Each wait delays the segments after it.
pub(super) enum Segment {
    Nodes(GraphRun),
    Value(ValueOperation),
    Semaphores(Semaphores),
}

impl Step {
    pub(super) fn run_all(steps: &[Self], turn: Turn<'_>) -> Answer {
        let body = Body::of(steps.iter().map(|step| (step.node, &step.after)));
        steps.iter().try_for_each(|step| at_node(body.as_ref(), step.node, || step.run(turn)))
    }
}

impl GraphRun {
    /// Splits the launch into operations. Of nested graphs, only child graphs contain waits.
    pub(super) fn parts(self) -> Vec<Segment> {
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
