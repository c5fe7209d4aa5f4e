// A context is not destroyed while something imported into it is alive: memory and a semaphore of another API.
use cuprum::external::{ExternalMemory, ExternalSemaphore};
use cuprum::context::{Context, ContextStack};
use std::os::fd::OwnedFd;

fn wrong(context: Context, stack: &mut ContextStack, memory: OwnedFd, semaphore: OwnedFd) {
    let cx = stack.push(&context).unwrap();
    let memory = unsafe { ExternalMemory::from_opaque_fd(&cx, memory, 64) }.unwrap();
    let semaphore = unsafe { ExternalSemaphore::from_timeline_fd(&cx, semaphore) }.unwrap();
    cx.pop().unwrap();
    drop(context);
    drop((memory, semaphore));
}

fn main() {}
