//! Objects that clients have not destroyed, for a report at the end of the process.

use crate::client;
use crate::message::{self, Message};
use crate::report::{Leak, LeakKind};

use crate::driver::call::objects;

use super::leak;
use super::object::CONTEXTS;

/// Lists all objects that clients have not destroyed.
pub(crate) fn alive() -> Vec<Leak> {
    let mut contexts = Vec::new();
    CONTEXTS.for_each(|handle, made, context| contexts.push((handle, made, context.is_primary)));
    let mut found = Vec::new();
    for (handle, made, is_primary) in contexts {
        let number = CONTEXTS.number(handle);
        found.extend(leak::of_context(handle, number));
        if !is_primary {
            let leak = Leak::new(LeakKind::Context, number, None, made.call, number);
            found.push(leak.made_at(client::frames(made.site)));
        }
    }
    for objects in objects() {
        objects.leaks(None, &mut found);
    }
    found
}

/// Reports the objects left at the end of the process.
pub(crate) fn tell_held() {
    let found = alive();
    if !found.is_empty() {
        message::tell(&Message::Held(&found));
    }
}
