//! The accesses of an operation, collected on the thread that runs it.

use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::sync::Arc;

use crate::exec::touched::{Manner, Touched};
use crate::memory::{Neighbor, RegionKind};
use crate::program::Kernel;
use crate::report::{Line, Use};

use super::mask::{Mask, pages_of};
use super::nodes::{Body, Place};

/// A part of an operation: a kernel, a copy, a node of a graph.
#[derive(Debug, Default)]
pub(crate) struct Act {
    pub(crate) kernel: Option<String>,
    /// The node, in a launch of a graph.
    pub(crate) place: Place,
    pub(crate) parts: Vec<Part>,
    /// True if the host may learn that it runs, in a way that the driver does not see.
    pub(crate) tells_host: bool,
    /// True if it may wait for the host in a way that the driver does not see.
    pub(crate) awaits_host: bool,
    pub(crate) number: Option<Number>,
    /// Its use of the memory, if it is not just an access.
    pub(crate) does: Option<Use>,
}

/// An operation on a single number in memory.
pub(crate) enum Number {
    Written(u64),
    /// Waits until its value satisfies this condition.
    Awaited(Box<dyn Fn(u64) -> bool + Send>),
}

impl std::fmt::Debug for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Number")
    }
}

/// Bytes of one allocation that are accessed in one manner.
#[derive(Debug)]
pub(crate) struct Part {
    /// `None` for pageable host memory.
    pub(super) memory: Option<Arc<Neighbor>>,
    pub(super) manner: Manner,
    pub(super) pages: Vec<(u64, Mask)>,
    pub(super) lines: Arc<[Line]>,
}

impl Part {
    /// Returns rows of bytes of an allocation, or of the host at these addresses.
    pub(crate) fn rows(
        memory: Option<Neighbor>,
        manner: Manner,
        rows: impl IntoIterator<Item = (u64, u64)>,
    ) -> Self {
        let pages = rows.into_iter().flat_map(|(start, len)| pages_of(start, len)).collect();
        Self { memory: memory.map(Arc::new), manner, pages, lines: Arc::default() }
    }

    pub(super) fn does(&self) -> Use {
        if self.manner.writes() { Use::Writes } else { Use::Reads }
    }

    pub(crate) fn whole(memory: Neighbor, manner: Manner) -> Self {
        let len = memory.len;
        Self::rows(Some(memory), manner, [(0, len)])
    }
}

impl Act {
    pub(crate) fn of_kernel(kernel: &Kernel, touched: Touched) -> Self {
        let mut act = Self { kernel: Some(kernel.name.clone()), ..Self::default() };
        let has_fence = touched.has_fence();
        // Kernels pass memory of the device's heap to each other in ways that cannot be seen.
        let all = touched.into_marks().into_iter();
        for marks in all.filter(|marks| marks.allocation.kind != RegionKind::Heap) {
            let memory = Arc::new(marks.allocation.clone());
            let places = marks.places();
            for manner in Manner::ALL {
                let mut pages = Vec::new();
                marks.for_each_page(manner, |number, words| {
                    pages.extend(Mask::of_words(words).map(|mask| (number, mask)));
                });
                if pages.is_empty() {
                    continue;
                }
                if memory.kind.host_visible() {
                    act.tells_host |= manner.writes() && (manner.is_strong() || has_fence);
                    act.awaits_host |= manner == Manner::StrongRead;
                }
                let of_manner = places.iter().filter(|(_, other)| *other == manner);
                let mut lines: Vec<Line> = of_manner.filter_map(|(pc, _)| line_at(kernel, *pc)).collect();
                lines.sort();
                lines.dedup();
                act.parts.push(Part {
                    memory: Some(Arc::clone(&memory)),
                    manner,
                    pages,
                    lines: lines.into(),
                });
            }
        }
        act
    }
}

fn line_at(kernel: &Kernel, pc: u32) -> Option<Line> {
    let origin = kernel.origins.get(kernel.code.get(pc as usize)?.origin as usize)?;
    let file = |(file, line): (u32, u32)| {
        let (_, path) = kernel.files.iter().find(|(index, _)| *index == file)?;
        Some((path.clone(), line))
    };
    Some(Line::new(origin.line, origin.source.and_then(file)))
}

/// The acts of the running operation so far, and its current node.
#[derive(Debug, Default)]
struct Gathered {
    acts: Vec<Act>,
    place: Place,
}

thread_local! {
    /// Has no destructor, because destructors of the client's own variables can run operations,
    /// even after the end of `main`. It is empty between operations.
    static GATHERED: ManuallyDrop<RefCell<Option<Gathered>>> = const { ManuallyDrop::new(RefCell::new(None)) };
}

/// Runs an operation, or a part of one, and returns the acts that it noted.
pub(crate) fn gather<T>(run: impl FnOnce() -> T) -> (T, Vec<Act>) {
    // An operation may run others while it waits.
    let outer = GATHERED.with(|gathered| gathered.replace(Some(Gathered::default())));
    let result = run();
    let inner = GATHERED.with(|gathered| gathered.replace(outer));
    (result, inner.unwrap_or_default().acts)
}

/// True if the accesses of the running operation are recorded.
pub(crate) fn is_gathering() -> bool {
    GATHERED.with(|gathered| gathered.borrow().is_some())
}

/// Notes an act of the running operation, if acts are recorded.
pub(crate) fn note(act: impl FnOnce() -> Act) {
    if is_gathering() {
        let act = act();
        GATHERED.with(|gathered| {
            if let Some(gathered) = &mut *gathered.borrow_mut() {
                gathered.acts.push(Act { place: gathered.place.clone(), ..act });
            }
        });
    }
}

/// Runs a node of a graph. Acts noted meanwhile belong to that node.
pub(crate) fn at_node<T>(body: Option<&Arc<Body>>, node: usize, run: impl FnOnce() -> T) -> T {
    let Some(body) = body else { return run() };
    let change = |change: &dyn Fn(&mut Place)| {
        GATHERED.with(|gathered| {
            if let Some(gathered) = &mut *gathered.borrow_mut() {
                change(&mut gathered.place);
            }
        });
    };
    change(&|place| place.push((Arc::clone(body), node)));
    let result = run();
    change(&|place| drop(place.pop()));
    result
}
