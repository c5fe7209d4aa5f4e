//! Environment variables that affect CUDA, and the effects of their values.

use cuprum::device::Visibility;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Variable {
    pub(crate) name: &'static str,
    pub(crate) value: String,
    pub(crate) effect: String,
}

/// A known variable: its name, and the effect of a value.
type Known = (&'static str, fn(&str) -> String);

const KNOWN: &[Known] = &[
    ("CUDA_VISIBLE_DEVICES", |_| Visibility::from_env().to_string()),
    ("CUDA_DEVICE_ORDER", |value| match value {
        "PCI_BUS_ID" => "numbers devices as nvidia-smi does".to_owned(),
        "FASTEST_FIRST" => "numbers the fastest device 0, as without it".to_owned(),
        _ => "is neither PCI_BUS_ID nor FASTEST_FIRST, and does nothing".to_owned(),
    }),
    ("CUDA_DEVICE", |_| "names the device that PyCUDA and cuprum's choose_device take".to_owned()),
    ("CUDA_LAUNCH_BLOCKING", |value| {
        switch(
            value,
            "every launch waits for its kernel: slow, and a fault shows at the launch that caused it",
        )
    }),
    ("CUDA_MODULE_LOADING", |value| match value {
        "LAZY" => "kernels are loaded when they are first used, as is usual since CUDA 12.2".to_owned(),
        "EAGER" => "all kernels are loaded with their module: a slower start, and no load later".to_owned(),
        "DEFAULT" => "leaves it to the driver".to_owned(),
        _ => "is none of LAZY, EAGER and DEFAULT, and does nothing".to_owned(),
    }),
    ("CUDA_MODULE_DATA_LOADING", |_| {
        "says when the data of modules is loaded: LAZY, EAGER or DEFAULT".to_owned()
    }),
    ("CUDA_CACHE_DISABLE", |value| {
        switch(value, "what the driver compiles of PTX is not kept: every start compiles anew")
    }),
    ("CUDA_CACHE_PATH", |value| {
        format!("the driver keeps what it compiles of PTX in {value}{}", missing(value))
    }),
    ("CUDA_CACHE_MAXSIZE", |value| match value.parse::<u64>() {
        Ok(bytes) => format!("the driver keeps up to {} MiB of what it compiles", bytes >> 20),
        Err(_) => "is no number of bytes".to_owned(),
    }),
    ("CUDA_FORCE_PTX_JIT", |value| {
        switch(
            value,
            "machine code is ignored and PTX compiled: programs without PTX fail with NO_BINARY_FOR_GPU",
        )
    }),
    ("CUDA_DISABLE_PTX_JIT", |value| {
        switch(value, "PTX is never compiled: programs without machine code for this device fail")
    }),
    ("CUDA_DEVICE_MAX_CONNECTIONS", |_| {
        "number of queues between host and device; 1 puts streams into one".to_owned()
    }),
    ("CUDA_DEVICE_DEFAULT_PERSISTING_L2_CACHE_PERCENTAGE_LIMIT", |_| {
        "sets L2 cache aside, in percent".to_owned()
    }),
    ("CUDA_AUTO_BOOST", |_| "asks for higher clocks, or not".to_owned()),
    ("CUDA_MANAGED_FORCE_DEVICE_ALLOC", |value| {
        switch(value, "managed memory is put on devices, not on the host")
    }),
    ("CUDA_MPS_PIPE_DIRECTORY", |value| {
        format!("processes share the device through MPS in {value}{}", missing(value))
    }),
    ("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", |value| {
        format!("this process gets {value} % of the multiprocessors")
    }),
    ("CUDA_ENABLE_COREDUMP_ON_EXCEPTION", |value| {
        switch(value, "a fault of a kernel writes a file for cuda-gdb")
    }),
    ("CUDA_INJECTION64_PATH", |value| format!("every CUDA program loads {value} (a profiler, say)")),
    ("CUDA_HOME", |value| format!("names the toolkit that builds take{}", missing(value))),
    ("CUDA_PATH", |value| format!("names the toolkit that builds and NVRTC's search take{}", missing(value))),
    ("NVIDIA_VISIBLE_DEVICES", |value| match value {
        "" | "void" => "the container runtime gives this container no device".to_owned(),
        "none" => "the container runtime gives this container the driver, and no device".to_owned(),
        "all" => "the container runtime gives this container all devices".to_owned(),
        list => format!("the container runtime gives this container {list}"),
    }),
    ("NVIDIA_DRIVER_CAPABILITIES", |value| {
        let compute = value.split(',').any(|one| matches!(one, "all" | "compute"));
        let text = if compute {
            "the container has the driver library"
        } else {
            "without `compute`, the container has no libcuda.so.1"
        };
        text.to_owned()
    }),
    ("NVIDIA_DISABLE_REQUIRE", |_| {
        "the container starts on a driver older than its image asks for".to_owned()
    }),
    ("LD_LIBRARY_PATH", |_| "these folders are searched for libcuda.so.1 first".to_owned()),
    ("LD_PRELOAD", |_| {
        "these libraries are loaded into every program first, and can take the driver's place".to_owned()
    }),
    ("CUPRUM_DRIVER", |_| "cuprum loads this driver library, and no other".to_owned()),
    ("CUPRUM_DEVICE", |value| match value {
        "gpu" => "open_driver_or_emulator demands a GPU".to_owned(),
        "emulator" => "open_driver_or_emulator takes the software device".to_owned(),
        _ => "is neither gpu nor emulator: open_driver_or_emulator refuses it".to_owned(),
    }),
    ("CUPRUM_NVRTC", |_| "cuprum loads this NVRTC, and no other".to_owned()),
    ("CUPRUM_SOFTWARE_LIBRARY", |value| format!("`cuprum run` takes this software device{}", missing(value))),
];

/// Settings of the software device, which have a separate table.
const SOFTWARE: &str = "CUPRUM_EMULATOR_";

pub(crate) fn set() -> Vec<Variable> {
    let known = KNOWN.iter().filter_map(|(name, effect)| {
        let value = std::env::var_os(name)?.to_string_lossy().into_owned();
        let effect = effect(&value);
        Some(Variable { name, value, effect })
    });
    let mut set: Vec<_> = known.collect();
    let names = std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned());
    let count = names.filter(|name| name.starts_with(SOFTWARE)).count();
    if count > 0 {
        let effect = "settings of the software device; its README lists them".to_owned();
        set.push(Variable { name: "CUPRUM_EMULATOR_*", value: format!("{count} set"), effect });
    }
    set
}

/// The effect of a variable that is on with 1, and off with 0 or an empty value.
fn switch(value: &str, on: &str) -> String {
    if matches!(value, "" | "0") { "is off".to_owned() } else { on.to_owned() }
}

fn missing(path: &str) -> &'static str {
    if std::path::Path::new(path).exists() { "" } else { ", which is not there" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_explained_not_names_alone() {
        let effect = |name: &str, value: &str| KNOWN.iter().find(|known| known.0 == name).unwrap().1(value);
        assert_eq!(effect("CUDA_LAUNCH_BLOCKING", "0"), "is off");
        assert!(effect("CUDA_LAUNCH_BLOCKING", "1").contains("every launch waits"));
        assert!(effect("CUDA_CACHE_MAXSIZE", "1073741824").contains("1024 MiB"));
        assert!(effect("NVIDIA_DRIVER_CAPABILITIES", "graphics").contains("no libcuda.so.1"));
        assert!(effect("CUDA_DEVICE_ORDER", "x").contains("does nothing"));
        assert!(effect("CUDA_CACHE_PATH", "/no/where").contains("not there"));
        let mut names: Vec<_> = KNOWN.iter().map(|known| known.0).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), KNOWN.len());
        assert!(KNOWN.iter().all(|(_, effect)| !effect("x").is_empty()));
    }
}
