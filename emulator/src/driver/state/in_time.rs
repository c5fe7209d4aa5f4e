//! Work that runs in time, also in the modes that leave work for later.
//!
//! In those, work runs when the program waits for it. A program may wait in ways that the driver does not see: for a
//! future that its own function wakes, for instance. So a thread of the driver waits for such a function after a while;
//! hardware comes to it in any case.

use std::time::Duration;

use super::schedule::Scheduler;
use super::stream_key::Ticket;

/// Delay of a call of the program's function if nobody waits for it.
const LATE: Duration = Duration::from_millis(50);

/// Makes sure that an operation runs which calls the program, where nothing runs that nobody waits for.
pub(super) fn call_in_time(scheduler: &'static Scheduler, ticket: Ticket) {
    let wait = move || {
        std::thread::sleep(LATE);
        scheduler.wait(ticket);
    };
    // Without a thread, it is called when somebody waits for it.
    drop(std::thread::Builder::new().name("cuprum-callbacks".into()).spawn(wait));
}
