//! Every `Drop` of the safe layer, and the evidence that it ends no capture of another thread.

use std::collections::BTreeSet;

use crate::source;

/// The evidence for one type.
pub(super) enum Evidence {
    /// Steps of the program that run it, each made during a capture.
    Steps(&'static [&'static str]),
    /// A test that runs it during a capture.
    Test(&'static str),
    /// It makes no driver call that captures forbid, because of this.
    Harmless(&'static str),
}

use Evidence::{Harmless, Steps, Test};

const PANICS: Evidence = Test("graph::panics::what_a_panic_leaves_beside_a_capture_is_waited_for");

/// The types with a `Drop`, by file and name. A macro's `$name` stands for those it is used for.
pub(super) const DROPS: &[(&str, Evidence)] = &[
    ("context/captures.rs Beside", Harmless("it ends an exemption")),
    ("context/captures.rs Capturing", Harmless("it counts")),
    ("context/current.rs ContextStack", Harmless("it forgets what this thread has recorded")),
    ("context/current.rs Current", Steps(&["Current::drop"])),
    (
        "context/attach.rs Attached",
        Harmless("it notes that the driver is asked again; its token is a `Current`"),
    ),
    (
        "context/context_ref.rs ContextRef",
        Steps(&["Context::drop", "PrimaryContext::drop", "GreenContext::drop"]),
    ),
    (
        "context/enter.rs Entered",
        Harmless("it pops contexts, which captures allow: `Current::drop` shows it"),
    ),
    ("context/profiler.rs Profile", Steps(&["Profile::drop"])),
    ("context/stack.rs Outside", Harmless("it restores the record of this thread")),
    ("graph/capture.rs Back", Harmless("it moves lists")),
    ("graph/ending.rs Abandon", Harmless("it ends the capture of its own closure")),
    ("graph/exec.rs GraphExec", Steps(&["GraphExec::drop"])),
    ("graph/graph.rs Leave", Harmless("it moves lists")),
    ("graph/kept.rs Owned", Harmless("it drops a value, which has a row of its own")),
    ("graph/user_object.rs UserObject", Steps(&["UserObject::drop"])),
    ("graphics/mapped.rs Mapped", Steps(&["Mapped::drop"])),
    ("memory/caching/pinned.rs PinnedLease", Steps(&["Pinned::drop"])),
    ("memory/caching/user.rs Part", Steps(&["PinnedPool::drop"])),
    ("memory/foreign.rs ForeignBuffer", Steps(&["ForeignBuffer::drop"])),
    (
        "memory/managed/buffer.rs Away",
        Test("traced::captures::managed_memory_is_given_back_beside_a_capture"),
    ),
    ("memory/pinned.rs PinnedBuffer", Steps(&["PinnedBuffer::drop"])),
    ("memory/registered.rs Registered", Steps(&["Registered::drop"])),
    ("memory/virtual_memory/mapping.rs Chunks", Steps(&["Mapping::drop", "MulticastMapping::drop"])),
    ("memory/virtual_memory/claim.rs Claim", Harmless("it notes that addresses are free")),
    ("module/library.rs Loaded", Steps(&["CodeLibrary::drop"])),
    ("pool/driver_pool.rs MemoryPool", Steps(&["MemoryPool::drop"])),
    ("pool/lanes.rs Lease", Steps(&["StreamBuffer::drop"])),
    (
        "raw/held.rs Held",
        Steps(&[
            "Buffer::drop",
            "Stream::drop",
            "Event::drop",
            "Module::drop",
            "Array::drop",
            "ManagedBuffer::drop",
        ]),
    ),
    (
        "raw/keep.rs Keep",
        Steps(&["Shared<ContextRef>::drop", "Shared<Stream>::drop", "Shared<Module>::drop"]),
    ),
    ("raw/owned.rs Owned", Steps(&["PhysicalMemory::drop", "Reservation::drop"])),
    ("region/block.rs Block", Steps(&["Region::drop"])),
    ("region/hub.rs Hub", Steps(&["Region::drop", "Queue::drop"])),
    ("region/lent.rs Lease", Harmless("it forgets that this thread lends a queue")),
    ("region/mark.rs Mark", Steps(&["Mark::drop"])),
    ("region/recording.rs Recording", Steps(&["Recording::drop"])),
    ("region/replay.rs Work", Steps(&["Replay::drop"])),
    ("stream/foreign.rs $name", Steps(&["ForeignStream::drop", "ForeignEvent::drop"])),
    ("stream/reached.rs Reached", Harmless("it wakes and forgets")),
    ("stream/request.rs Begun", PANICS),
    ("stream/request.rs Pending", Steps(&["Pending::drop"])),
    ("stream/scope.rs Wait", PANICS),
];

/// Each `Drop` of a file, as the rows name it.
fn named(file: &source::File) -> Vec<String> {
    let path = file.path.strip_prefix("src").expect("a source");
    let is_of_the_tool = path.starts_with("bin");
    file.drops.iter().filter(|_| !is_of_the_tool).map(|name| format!("{} {name}", path.display())).collect()
}

#[test]
fn every_drop_has_a_row_that_shows_that_it_ends_no_capture() {
    let found: BTreeSet<String> = source::files("src").iter().flat_map(named).collect();
    let rows: BTreeSet<String> = DROPS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(rows.len(), DROPS.len(), "a row is there twice");
    let (without, stale): (Vec<_>, Vec<_>) =
        (found.difference(&rows).collect(), rows.difference(&found).collect());
    assert!(without.is_empty() && stale.is_empty(), "no row: {without:?}; no `Drop`: {stale:?}");
    for (name, evidence) in DROPS {
        match evidence {
            Steps(steps) => assert!(!steps.is_empty(), "{name}"),
            Test(test) => {
                let (crate_name, path) = test.split_once("::").expect("a crate");
                let (file, function) = path.split_once("::").expect("a file");
                let path = format!("{}/tests/{crate_name}/{file}.rs", env!("CARGO_MANIFEST_DIR"));
                let text = std::fs::read_to_string(path).expect(test);
                assert!(text.contains(&format!("fn {function}")), "{name}: there is no {test}");
            }
            Harmless(why) => assert!(!why.is_empty(), "{name}"),
        }
    }
}
