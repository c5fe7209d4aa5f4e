//! All functions of the driver by name and version, and the tables of their objects.

use core::ffi::{CStr, c_void};
use std::collections::HashMap;
use std::sync::OnceLock;

use cuprum_sys::{FnId, Fns, StreamMode, Symbol, Version};

use super::objects::Objects;
use super::unsupported::stand_in;

/// The functions with the legacy default stream, and with one default stream per thread.
pub(crate) struct Functions {
    legacy: Fns,
    per_thread: Fns,
    implemented: Vec<bool>,
    by_symbol: HashMap<&'static CStr, (FnId, StreamMode)>,
    by_base: HashMap<&'static str, Vec<FnId>>,
    /// The tables of objects that end with contexts or can leak, by kind.
    objects: Vec<&'static dyn Objects>,
}

static PUBLISHER: OnceLock<fn(FnId, StreamMode) -> *const c_void> = OnceLock::new();

pub(crate) fn set_publisher(publisher: fn(FnId, StreamMode) -> *const c_void) {
    // Only the first publisher counts, because it may have been used already.
    let _ = PUBLISHER.set(publisher);
}

pub(crate) struct Builder(Functions);

impl Builder {
    pub(crate) fn objects(&mut self, objects: &'static dyn Objects) {
        let place = self.0.objects.partition_point(|other| other.kind() <= objects.kind());
        self.0.objects.insert(place, objects);
    }

    /// Registers one function. Returns its fields in the two tables: with the legacy default
    /// stream, and with one default stream per thread. The assignment to them checks the signature.
    pub(crate) fn add(&mut self, id: FnId) -> [&mut Fns; 2] {
        if let Some(implemented) = self.0.implemented.get_mut(id as usize) {
            *implemented = true;
        }
        [&mut self.0.legacy, &mut self.0.per_thread]
    }
}

static FUNCTIONS: OnceLock<Functions> = OnceLock::new();

/// Returns the table. The first call fills it by `install`, which knows all modules.
pub(crate) fn fill(install: fn(&mut Builder)) -> &'static Functions {
    FUNCTIONS.get_or_init(|| Functions::collect(install))
}

/// Returns the table. It is filled before a client can have the address of a function.
pub(crate) fn functions() -> Option<&'static Functions> {
    FUNCTIONS.get()
}

pub(crate) fn objects() -> &'static [&'static dyn Objects] {
    functions().map_or(&[], |functions| &functions.objects)
}

/// Result of a search by base name and version.
pub(crate) enum Found {
    Function(FnId, StreamMode),
    /// All functions of this name are newer than the version.
    TooNew,
    /// No such name.
    Unknown,
}

impl Functions {
    fn collect(install: fn(&mut Builder)) -> Self {
        let mut by_symbol = HashMap::new();
        let mut by_base: HashMap<_, Vec<_>> = HashMap::new();
        for &id in FnId::ALL {
            let symbol = id.symbol();
            for symbol in id.per_thread_symbol().into_iter().chain([symbol]) {
                by_symbol.insert(symbol.name, (id, symbol.mode));
            }
            by_base.entry(symbol.base).or_default().push(id);
        }
        let mut builder = Builder(Self {
            legacy: Fns::STUBS,
            per_thread: Fns::STUBS,
            implemented: vec![false; FnId::ALL.len()],
            by_symbol,
            by_base,
            objects: Vec::new(),
        });
        install(&mut builder);
        builder.0
    }

    /// True if the function is implemented; the others only return an error.
    pub(crate) fn implements(&self, id: FnId) -> bool {
        self.implemented.get(id as usize).copied().unwrap_or(false)
    }

    pub(super) fn by_symbol(&self, name: &CStr) -> Option<(FnId, StreamMode)> {
        self.by_symbol.get(name).copied()
    }

    /// Finds the newest revision of a function, by its base name, that is not newer than `limit`.
    ///
    /// A function with a per-thread twin does not exist in that mode before its twin's version.
    pub(crate) fn by_base(&self, base: &str, limit: Version, mode: StreamMode) -> Found {
        let Some(revisions) = self.by_base.get(base) else {
            return Found::Unknown;
        };
        let twins =
            mode == StreamMode::PerThread && revisions.iter().any(|id| id.per_thread_symbol().is_some());
        let newest = revisions
            .iter()
            .map(|id| (id.symbol_in(mode), id))
            .filter(|(symbol, _)| symbol.since <= limit && (symbol.mode == mode || !twins))
            .max_by_key(|(symbol, _)| symbol.since);
        match newest {
            Some((symbol, &id)) => Found::Function(id, symbol.mode),
            None => Found::TooNew,
        }
    }

    /// Returns the address that `cuGetProcAddress` gives to clients.
    pub(crate) fn published(&self, id: FnId, mode: StreamMode) -> *const c_void {
        match PUBLISHER.get() {
            Some(publisher) => publisher(id, mode),
            None => self.address(id, mode),
        }
    }

    /// Returns the address of the function with this symbol; null if there is none, or if it is
    /// newer than `limit`, the version that the driver reports.
    pub(crate) fn resolve(&self, symbol: &Symbol, limit: Version) -> *const c_void {
        match self.by_symbol(symbol.name) {
            Some((id, mode)) if symbol.since <= limit => self.address(id, mode),
            _ => core::ptr::null(),
        }
    }

    /// Returns the address of a function. Never null.
    pub(crate) fn address(&self, id: FnId, mode: StreamMode) -> *const c_void {
        if !self.implements(id) {
            return stand_in(id) as *const c_void;
        }
        let fns = match mode {
            StreamMode::Legacy => &self.legacy,
            StreamMode::PerThread => &self.per_thread,
        };
        const { assert!(size_of::<Fns>() == size_of::<*const c_void>() * FnId::ALL.len()) };
        let slots = core::ptr::from_ref(fns).cast::<*const c_void>();
        // SAFETY: `Fns` is `repr(C)` and has one function pointer per id, in order. The assertion
        // shows that the ids make up its whole size.
        let slot = unsafe { slots.add(id as usize) };
        // SAFETY: within the table, which lives as long as the reference.
        unsafe { slot.read() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_names_find_the_revision_of_their_version() {
        let functions = Functions::collect(|_| ());
        let find = |base, version, mode| match functions.by_base(base, Version::from_raw(version), mode) {
            Found::Function(id, mode) => Some((id, mode)),
            Found::TooNew | Found::Unknown => None,
        };
        let legacy = StreamMode::Legacy;
        assert_eq!(find("cuMemAlloc", 3010, legacy), Some((FnId::cuMemAlloc, legacy)));
        assert_eq!(find("cuMemAlloc", 13000, legacy), Some((FnId::cuMemAlloc_v2, legacy)));
        assert_eq!(find("cuMemAlloc_v2", 13000, legacy), None);
        assert_eq!(
            find("cuMemcpyHtoD", 7000, StreamMode::PerThread),
            Some((FnId::cuMemcpyHtoD_v2, StreamMode::PerThread))
        );
        assert_eq!(find("cuMemcpyHtoDAsync", 6050, StreamMode::PerThread), None);
    }
}
