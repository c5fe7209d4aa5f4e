//! Handles that the driver has made and freed.

use std::collections::{BTreeMap, HashMap};

use cuprum::sys::CUresult;

/// A kind of object that the driver returns.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Kind {
    Context,
    Stream,
    Event,
    Module,
    Function,
    Link,
    Library,
    Kernel,
    Green,
    Memory,
    /// Addresses without memory of their own.
    Reservation,
    /// Physical memory, by one of its counted handles.
    Physical,
    /// Page-locked memory of the host; its C type is the same as for other memory.
    Host,
    Graph,
    GraphExec,
    Array,
    MipmappedArray,
    Texture,
    Surface,
    Pool,
    ExternalMemory,
    ExternalSemaphore,
    /// A registered buffer or image of OpenGL.
    Graphics,
}

impl Kind {
    /// The kind that a C type names.
    pub(super) fn of(ty: &str) -> Option<Self> {
        Some(match ty {
            "CUcontext" => Self::Context,
            "CUstream" => Self::Stream,
            "CUevent" => Self::Event,
            "CUmodule" => Self::Module,
            "CUfunction" => Self::Function,
            "CUlinkState" => Self::Link,
            "CUlibrary" => Self::Library,
            "CUkernel" => Self::Kernel,
            "CUgreenCtx" => Self::Green,
            "CUdeviceptr" => Self::Memory,
            "CUmemGenericAllocationHandle" => Self::Physical,
            "CUgraph" => Self::Graph,
            "CUgraphExec" => Self::GraphExec,
            "CUarray" => Self::Array,
            "CUmipmappedArray" => Self::MipmappedArray,
            "CUtexObject" => Self::Texture,
            "CUsurfObject" => Self::Surface,
            "CUmemoryPool" => Self::Pool,
            "CUexternalMemory" => Self::ExternalMemory,
            "CUexternalSemaphore" => Self::ExternalSemaphore,
            "CUgraphicsResource" => Self::Graphics,
            _ => return None,
        })
    }

    /// True for objects without a context.
    pub(super) const fn is_homeless(self) -> bool {
        matches!(self, Self::Library | Self::Kernel | Self::Green)
    }

    /// True if a handle is none, or is never made: the default streams.
    pub(super) fn is_none(self, handle: u64) -> bool {
        handle == 0 || (self == Self::Stream && handle <= 2)
    }
}

/// Way in which something was freed.
#[derive(Clone, Copy)]
pub(super) struct Freed {
    /// Answer of the call that freed it.
    pub(super) answer: CUresult,
}

#[derive(Clone, Copy)]
pub(super) enum State {
    Live { home: u64 },
    Freed(Freed),
}

struct Object {
    /// Bytes of memory; 1 of everything else.
    len: u64,
    /// The context in which it was made.
    home: u64,
    /// The module or mipmapped array that it belongs to.
    owner: Option<(Kind, u64)>,
    /// Number of times that the driver returned the same handle, which is freed as often.
    uses: usize,
    freed: Option<Freed>,
}

/// All that was made, by kind and handle or first address.
#[derive(Default)]
pub(super) struct Handles {
    objects: BTreeMap<(Kind, u64), Object>,
    primary: HashMap<u64, Primary>,
}

/// The primary context of a device.
struct Primary {
    context: u64,
    /// Number of times that it is retained.
    retains: usize,
    /// Answer of the last release that was done.
    released: CUresult,
}

impl Handles {
    pub(super) fn make(&mut self, kind: Kind, handle: u64, len: u64, home: u64) {
        let known = self.objects.get(&(kind, handle)).filter(|object| object.freed.is_none());
        let uses = known.filter(|_| kind == Kind::Physical).map_or(0, |object| object.uses) + 1;
        self.objects.insert((kind, handle), Object { len, home, owner: None, uses, freed: None });
    }

    /// Adds an object that ends with its owner: a module or a mipmapped array.
    pub(super) fn make_within(&mut self, kind: Kind, handle: u64, len: u64, owner: (Kind, u64)) {
        let home = self.objects.get(&owner).map_or(0, |owner| owner.home);
        self.make_within_at(kind, handle, len, owner, home);
    }

    /// Same as `make_within`, for an object in a context other than the owner's.
    pub(super) fn make_within_at(
        &mut self,
        kind: Kind,
        handle: u64,
        len: u64,
        owner: (Kind, u64),
        home: u64,
    ) {
        self.objects.insert((kind, handle), Object { len, home, owner: Some(owner), uses: 1, freed: None });
    }

    /// Record of a handle, or of the object at an address.
    pub(super) fn state(&self, kind: Kind, handle: u64) -> Option<State> {
        let (&(found, start), object) = self.objects.range(..=(kind, handle)).next_back()?;
        if found != kind || handle - start >= object.len {
            return None;
        }
        Some(object.freed.map_or(State::Live { home: object.home }, State::Freed))
    }

    /// Frees the object with this handle, and all objects in it.
    pub(super) fn free(&mut self, kind: Kind, handle: u64, answer: CUresult) {
        if let Some(object) = self.objects.get_mut(&(kind, handle)).filter(|object| object.uses > 1) {
            object.uses -= 1;
            return;
        }
        let mut owners = Vec::new();
        for (&(its_kind, its_handle), object) in &mut self.objects {
            let inside = match kind {
                Kind::Context => object.home == handle,
                _ => object.owner == Some((kind, handle)),
            };
            if inside || (its_kind, its_handle) == (kind, handle) {
                let is_new = object.freed.is_none();
                object.freed.get_or_insert(Freed { answer });
                owners
                    .extend(Some((its_kind, its_handle)).filter(|&owner| is_new && owner != (kind, handle)));
            }
        }
        for (kind, handle) in owners {
            self.free(kind, handle, answer);
        }
    }

    pub(super) fn retain(&mut self, device: u64, context: u64) {
        let released = CUresult::CUDA_SUCCESS;
        let primary = self.primary.entry(device).or_insert(Primary { context, retains: 0, released });
        primary.context = context;
        primary.retains += 1;
        if primary.retains == 1 {
            self.make(Kind::Context, context, 1, context);
        }
    }

    /// Returns whether a device's primary context is retained; if not, the code of the last
    /// release.
    pub(super) fn retained(&self, device: u64) -> Result<(), CUresult> {
        match self.primary.get(&device) {
            Some(primary) if primary.retains > 0 => Ok(()),
            primary => Err(primary.map_or(CUresult::CUDA_SUCCESS, |primary| primary.released)),
        }
    }

    /// Releases one retain; false if there is none.
    pub(super) fn release(&mut self, device: u64, answer: CUresult) -> bool {
        let Some(primary) = self.primary.get_mut(&device).filter(|primary| primary.retains > 0) else {
            return false;
        };
        primary.retains -= 1;
        primary.released = answer;
        if primary.retains == 0 {
            let context = primary.context;
            self.free(Kind::Context, context, answer);
        }
        true
    }

    /// Frees all that is in a device's primary context, which stays if it is retained.
    pub(super) fn reset(&mut self, device: u64, answer: CUresult) {
        let Some((context, retains)) =
            self.primary.get(&device).map(|primary| (primary.context, primary.retains))
        else {
            return;
        };
        self.free(Kind::Context, context, answer);
        if retains > 0 {
            self.make(Kind::Context, context, 1, context);
        }
    }

    /// The contexts that were created and not destroyed; the primary ones are retained and
    /// released.
    pub(super) fn live_contexts(&self) -> Vec<u64> {
        let live = self
            .objects
            .iter()
            .filter(|((kind, _), object)| *kind == Kind::Context && object.freed.is_none())
            // The context of a green context is destroyed with it.
            .filter(|(_, object)| object.owner.is_none());
        let created = live.map(|((_, context), _)| *context);
        created.filter(|context| self.primary.values().all(|primary| primary.context != *context)).collect()
    }

    /// Objects of a kind that have no context and were not freed.
    pub(super) fn left(&self, kind: Kind) -> Vec<u64> {
        let of_kind = self.objects.iter().filter(|((its, _), object)| *its == kind && object.freed.is_none());
        of_kind.map(|((_, handle), _)| *handle).collect()
    }

    /// Handles that were made and not freed. Functions, globals and levels go with their owner.
    pub(super) fn alive(&self) -> Vec<String> {
        let live = self.objects.iter().filter(|(_, object)| object.freed.is_none() && object.owner.is_none());
        live.map(|((kind, handle), object)| format!("{kind:?} {handle:#x} in {:#x}", object.home)).collect()
    }
}
