//! Launches whose instructions valgrind counts, for `counts.sh`.

use super::emulator::Prepared;
use super::entries::ENTRIES;

/// One launch. The script starts and stops the count by the name of this function.
#[inline(never)]
fn counted_launch(prepared: &mut Prepared) {
    prepared.launch(1);
    // Not a tail call, whose end would not be seen.
    std::hint::black_box(prepared);
}

/// Launches each kernel three times: the first is checked, the second may compile, the third is
/// counted. Prints the kernels in the order of their counts. Leaves out those whose title lacks
/// this text.
pub(crate) fn launch_each(part: &str) {
    for entry in ENTRIES.iter().filter(|entry| entry.title.contains(part)) {
        let mut prepared = Prepared::new(entry.module, entry.kernel, &(entry.contest)());
        prepared.launch(1);
        counted_launch(&mut prepared);
        println!("counted {}", entry.title);
    }
}
