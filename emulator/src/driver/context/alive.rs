//! Objects that clients hold now, which they leave behind if the process ends.

use crate::message::{self, Message};
use crate::report::{Leak, LeakKind};

use crate::driver::call::objects;

use super::leak;
use super::object::CONTEXTS;

/// All objects that clients hold now.
pub(crate) fn alive() -> Vec<Leak> {
    let mut contexts = Vec::new();
    CONTEXTS.for_each(|handle, call, context| contexts.push((handle, call, context.is_primary)));
    let mut found = Vec::new();
    for (handle, call, is_primary) in contexts {
        let number = CONTEXTS.number(handle);
        found.extend(leak::of_context(handle, number));
        if !is_primary {
            found.push(Leak { kind: LeakKind::Context, number, bytes: None, call, context: number });
        }
    }
    for objects in objects() {
        objects.leaks(None, &mut found);
    }
    found
}

/// Reports the objects that are left when the process ends.
pub(crate) fn end_of_process() {
    let found = alive();
    if !found.is_empty() {
        message::tell(&Message::Leaks(&found));
    }
}
