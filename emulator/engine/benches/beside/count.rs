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

/// Checks each kernel, launches it until it is warm, and then once more, counted. Prints the
/// kernels in the order of their counts.
pub(crate) fn launch_all() {
    for entry in ENTRIES {
        let mut prepared = Prepared::new(entry.module, entry.kernel, &(entry.contest)());
        // The second launch may compile the kernel.
        (0..2).for_each(|_| prepared.launch(1));
        counted_launch(&mut prepared);
        println!("counted {}", entry.title);
    }
}
