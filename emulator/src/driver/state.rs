//! The one emulator of this process.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use crate::exec::ExecOptions;
use crate::memory::Memory;
use crate::message::{self, Message};
use crate::report::Fault;
use crate::settings::Settings;

use super::array::{Array, Mipmap};
use super::context::Context;
use super::device::multiprocessors;
use super::event::Event;
use super::function::Function;
use super::graph::build::UserObject;
use super::graph::capture::Captures;
use super::graph::condition::Condition;
use super::graph::exec::Steps;
use super::graph::node::{Blocks, GraphMemory};
use super::graph::{Graph, Node};
use super::green::{Description, Green};
use super::handle::{Kind, Table};
use super::leak::Leaks;
use super::leftover::Leftovers;
use super::library::{Kernel, Library};
use super::link::Link;
use super::module::Module;
use super::pool::{CurrentPools, Pool};
use super::primary::Primary;
use super::schedule::Scheduler;
use super::stream::Stream;
use super::texture::{Surface, Texture};
use super::virtual_memory::Physical;

/// All that the driver knows.
#[derive(Debug)]
pub(super) struct Emulator {
    pub(super) settings: Settings,
    pub(super) memory: Memory,
    pub(super) scheduler: Scheduler,
    /// The primary context of each device.
    pub(super) primaries: Vec<Primary>,
    pub(super) contexts: Table<Context>,
    pub(super) streams: Table<Stream>,
    pub(super) events: Table<Event>,
    pub(super) modules: Table<Module>,
    pub(super) functions: Table<Function>,
    pub(super) libraries: Table<Library>,
    pub(super) kernels: Table<Kernel>,
    pub(super) arrays: Table<Array>,
    pub(super) mipmaps: Table<Mipmap>,
    pub(super) textures: Table<Texture>,
    pub(super) surfaces: Table<Surface>,
    pub(super) links: Table<Link>,
    pub(super) physical: Table<Physical>,
    /// Physical memory whose handle was released while it is mapped.
    pub(super) orphans: Mutex<Vec<Arc<Physical>>>,
    pub(super) graphs: Table<Graph>,
    pub(super) nodes: Table<Node>,
    pub(super) graph_execs: Table<Steps>,
    pub(super) user_objects: Table<UserObject>,
    pub(super) greens: Table<Green>,
    pub(super) descriptions: Table<Description>,
    pub(super) conditions: Table<Weak<Condition>>,
    pub(super) captures: Captures,
    pub(super) pools: Table<Pool>,
    /// The memory of allocation nodes that is allocated.
    pub(super) graph_blocks: Blocks,
    /// What allocation nodes hold on each device.
    pub(super) graph_memory: Vec<GraphMemory>,
    /// The pools that are allocated from in each place.
    pub(super) current_pools: CurrentPools,
    /// Which pool an allocation came from, by its address.
    pub(super) pooled: Mutex<HashMap<u64, usize>>,
    pub(super) leaks: Leaks,
    pub(super) leftovers: Leftovers,
    /// What every launch gets of the settings.
    pub(super) exec_options: ExecOptions,
    last_fault: Mutex<Option<Fault>>,
}

/// The emulator, made on first use.
pub(super) fn emulator() -> &'static Emulator {
    static EMULATOR: OnceLock<Emulator> = OnceLock::new();
    EMULATOR.get_or_init(|| {
        let settings = Settings::in_force().clone().unwrap_or_default();
        Emulator {
            memory: Memory::new(settings.devices, settings.memory_bytes, settings.check_init),
            scheduler: Scheduler::new(settings.mode),
            primaries: (0..settings.devices).map(|_| Primary::default()).collect(),
            contexts: Table::new(Kind::Context),
            streams: Table::owned(Kind::Stream, |it: &Stream| it.context.handle),
            events: Table::owned(Kind::Event, |it: &Event| it.context.handle),
            modules: Table::owned(Kind::Module, |it: &Module| it.context.handle),
            functions: Table::owned(Kind::Function, |it: &Function| it.module.context.handle),
            libraries: Table::new(Kind::Library),
            kernels: Table::new(Kind::Kernel),
            arrays: Table::owned(Kind::Array, |it: &Array| it.context.handle),
            mipmaps: Table::owned(Kind::Mipmap, |it: &Mipmap| it.context.handle),
            textures: Table::owned(Kind::Texture, |it: &Texture| it.context.handle),
            surfaces: Table::owned(Kind::Surface, |it: &Surface| it.context.handle),
            links: Table::new(Kind::Link),
            physical: Table::new(Kind::Physical),
            orphans: Mutex::default(),
            graphs: Table::new(Kind::Graph),
            nodes: Table::new(Kind::GraphNode),
            graph_execs: Table::new(Kind::GraphExec),
            user_objects: Table::new(Kind::UserObject),
            greens: Table::new(Kind::Green),
            descriptions: Table::new(Kind::Description),
            conditions: Table::new(Kind::Condition),
            captures: Captures::default(),
            graph_blocks: Blocks::default(),
            graph_memory: (0..settings.devices).map(|_| GraphMemory::default()).collect(),
            pools: Table::new(Kind::Pool),
            current_pools: CurrentPools::default(),
            pooled: Mutex::default(),
            leaks: Leaks::default(),
            leftovers: Leftovers::default(),
            exec_options: settings.exec_options(multiprocessors() as u32),
            last_fault: Mutex::new(None),
            settings,
        }
    })
}

impl Emulator {
    /// Keeps the newest fault for the client to ask.
    pub(super) fn remember_fault(&self, fault: Fault) {
        message::tell(&Message::Fault(&fault));
        *self.last_fault.lock().unwrap_or_else(PoisonError::into_inner) = Some(fault);
    }

    pub(super) fn last_fault(&self) -> Option<Fault> {
        let last = self.last_fault.lock();
        last.unwrap_or_else(PoisonError::into_inner).clone()
    }
}
