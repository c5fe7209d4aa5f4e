//! The CUDA release of this runtime: `link.sh` makes two libraries from one archive.

const FIRST_OF_13: i32 = 13000;

/// Returns the version that the library reports.
pub(crate) fn version() -> i32 {
    linked::version()
}

/// True in `libcudart.so.13`, which leaves more checks to the driver than `libcudart.so.12`.
pub(crate) fn is_13() -> bool {
    version() >= FIRST_OF_13
}

/// Version that `libcudart.so.12` reports.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn cuprum_release_12() -> i32 {
    12090
}

/// Version that `libcudart.so.13` reports.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn cuprum_release_13() -> i32 {
    13050
}

#[cfg(not(test))]
mod linked {
    unsafe extern "C" {
        /// One of the two functions above, selected by the linker's option `--defsym`.
        safe fn cuprum_release() -> i32;
    }

    pub(super) fn version() -> i32 {
        cuprum_release()
    }
}

#[cfg(test)]
pub(crate) use linked::as_12;

/// Tests select the release.
#[cfg(test)]
mod linked {
    use core::cell::Cell;

    thread_local! {
        static RELEASE: Cell<extern "C" fn() -> i32> = const { Cell::new(super::cuprum_release_13) };
    }

    pub(super) fn version() -> i32 {
        RELEASE.get()()
    }

    /// Calls `work` as a part of `libcudart.so.12`.
    pub(crate) fn as_12<T>(work: impl FnOnce() -> T) -> T {
        RELEASE.set(super::cuprum_release_12);
        let result = work();
        RELEASE.set(super::cuprum_release_13);
        result
    }
}
