//! Objects that clients hold now, which they leave behind if the process ends.

use crate::client;
use crate::message::{self, Message};
use crate::report::{Leak, LeakKind};

use crate::driver::call::objects;

use super::leak;
use super::object::CONTEXTS;

/// All objects that clients hold now.
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

/// Reports the objects that are held when the process ends.
pub(crate) fn tell_held() {
    let found = alive();
    if !found.is_empty() {
        message::tell(&Message::Held(&found));
    }
}
