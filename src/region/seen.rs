//! The order between queues, as far as marks have made it.

/// For other queues by number: epochs below the second number come before this queue's next work.
#[derive(Clone, Default, Debug)]
pub(super) struct Seen(Vec<(u64, u64)>);

impl Seen {
    pub(super) fn covers(&self, queue: u64, epoch: u64) -> bool {
        self.0.iter().any(|&(number, until)| number == queue && until > epoch)
    }

    pub(super) fn add(&mut self, queue: u64, until: u64) {
        match self.0.iter_mut().find(|(number, _)| *number == queue) {
            Some((_, known)) => *known = until.max(*known),
            None => self.0.push((queue, until)),
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        other.0.iter().for_each(|&(queue, until)| self.add(queue, until));
    }
}
