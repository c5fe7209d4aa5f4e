//! Compares names, parameters, structs and codes with NVIDIA's headers and libraries (wheels).
//!
//! `cargo test -p cuprum-cudart headers -- --ignored` (x86-64 Linux, `g++`, `readelf`, pip, net).

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use core::mem::offset_of;

use cuprum_sys::{
    CU_DEV_SM_RESOURCE_GROUP_PARAMS, CUDA_CONDITIONAL_NODE_PARAMS, CUDA_EXT_SEM_SIGNAL_NODE_PARAMS,
    CUDA_EXT_SEM_WAIT_NODE_PARAMS, CUDA_EXTERNAL_MEMORY_BUFFER_DESC, CUDA_EXTERNAL_MEMORY_HANDLE_DESC,
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC, CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS,
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS, CUDA_KERNEL_NODE_PARAMS, CUDA_MEMSET_NODE_PARAMS_v2, CUdevResource,
};

use super::exports;
use crate::error::NAMES;
use crate::properties::{BYTES_OF_11, cudaDeviceProp_12, cudaDeviceProp_13};
use crate::structs::{
    Field, cudaChannelFormatDesc, cudaExtent, cudaExternalMemoryMipmappedArrayDesc,
    cudaExternalSemaphoreSignalParams_v1, cudaExternalSemaphoreWaitParams_v1, cudaFuncAttributes,
    cudaGraphNodeParams, cudaGraphRecaptureCallbackData, cudaKernelNodeParams, cudaLaunchConfig_t,
    cudaMemcpy3DParms, cudaMemcpy3DPeerParms, cudaMemcpyNodeParams, cudaPitchedPtr, cudaPointerAttributes,
    cudaPos, cudaResourceDesc, cudaResourceViewDesc, cudaTextureDesc, dim3,
};

/// A release: package, version, folder in it, and the minimum number of compared functions.
struct Release {
    package: &'static str,
    version: &'static str,
    folder: &'static str,
    functions: usize,
}

const RELEASES: &[Release] = &[
    Release {
        package: "nvidia-cuda-runtime-cu12",
        version: "12.0.146",
        folder: "nvidia/cuda_runtime",
        functions: 160,
    },
    Release {
        package: "nvidia-cuda-runtime-cu12",
        version: "12.9.79",
        folder: "nvidia/cuda_runtime",
        functions: 180,
    },
    Release { package: "nvidia-cuda-runtime", version: "13.0.96", folder: "nvidia/cu13", functions: 170 },
    Release { package: "nvidia-cuda-runtime", version: "13.5.37", folder: "nvidia/cu13", functions: 170 },
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn run(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let errors = String::from_utf8_lossy(&output.stderr);
    let short: String = errors.lines().take(30).collect::<Vec<_>>().join("\n");
    assert!(output.status.success(), "{command:?}: {}\n{short}", output.status);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn wheel(package: &str, version: &str) -> PathBuf {
    let script = root().join("sys/tests/fetch/wheel.sh");
    let folder = run(Command::new(script).arg(root().join(".cache/wheels")).args([package, version]));
    PathBuf::from(folder.trim())
}

impl Release {
    fn folder(&self) -> PathBuf {
        wheel(self.package, self.version).join(self.folder)
    }

    fn major(&self) -> usize {
        self.version.split('.').next().and_then(|major| major.parse().ok()).expect("a version")
    }

    /// Returns the compiler, with the headers.
    fn compiler(&self) -> Command {
        let mut compiler = Command::new("g++");
        compiler.args(["-std=c++20", "-I"]).arg(self.folder().join("include"));
        // For `crt/host_defines.h`, which declares nothing that is compared.
        compiler.arg("-I").arg(wheel("nvidia-cuda-crt", "13.5.37").join("nvidia/cu13/include"));
        compiler
    }
}

/// Returns the exported names of NVIDIA's library, and the version of each.
fn exported(library: &Path) -> BTreeSet<(String, String)> {
    let table = run(Command::new("readelf").args(["--wide", "--dyn-syms"]).arg(library));
    let defined = table.lines().filter(|line| !line.contains(" UND ") && !line.contains(" ABS "));
    let names = defined.filter_map(|line| line.split_whitespace().nth(7)?.split_once("@@"));
    names.map(|(name, version)| (name.to_owned(), version.to_owned())).collect()
}

#[test]
#[ignore = "fetches headers"]
fn all_names_of_the_libraries_are_in_the_list_and_no_others() {
    let mut newest = [BTreeSet::new(), BTreeSet::new()];
    for release in RELEASES {
        let index = release.major() - 12;
        let soname = format!("libcudart.so.{}", release.major());
        let theirs = exported(&release.folder().join("lib").join(&soname));
        assert!(theirs.len() > 390, "{} of {}", theirs.len(), release.version);
        assert!(theirs.iter().all(|(_, version)| *version == soname));
        newest[index].extend(theirs.into_iter().map(|(name, _)| name));
    }
    for (index, theirs) in newest.into_iter().enumerate() {
        let ours = exports::lines().filter(|(_, symbols)| symbols[index].is_some());
        assert_eq!(
            ours.map(|(name, _)| name.to_owned()).collect::<BTreeSet<_>>(),
            theirs,
            "of {}",
            index + 12
        );
    }
}

/// Generates checks of the parameters of each declared function. Returns them and their number.
fn functions(release: &Release, per_thread: bool) -> (String, usize) {
    let define = if per_thread { "-DCUDA_API_PER_THREAD_DEFAULT_STREAM" } else { "-DLEGACY" };
    let header = "#include <cuda_runtime_api.h>\n";
    let source = root().join("target/cudart-header.cpp");
    fs::write(&source, header).unwrap();
    let declared = run(release.compiler().args([define, "-E", "-P"]).arg(&source));
    let symbols = exports::symbols();
    let (mut checks, mut number) = (String::new(), 0);
    for (name, in_libraries) in exports::lines() {
        let Some(symbol) = in_libraries[release.major() - 12] else { continue };
        let Some(Some(parameters)) = symbols.get(symbol) else { continue };
        if !declared.contains(&format!(" {name}(")) && !declared.contains(&format!("*{name}(")) {
            continue;
        }
        let sizes: Vec<String> = parameters.iter().map(usize::to_string).collect();
        let (count, sizes) = (sizes.len(), sizes.join(", "));
        writeln!(checks, "#undef {name}").unwrap();
        writeln!(
            checks,
            "static_assert(sizes(&{name}) == std::array<size_t, {count}>{{{sizes}}}, \"{name}\");"
        )
        .unwrap();
        number += 1;
    }
    (checks, number)
}

const BEGIN: &str = "
#include <array>
#include <cstddef>
#include <cuda_runtime_api.h>
template <class R, class... A> constexpr std::array<size_t, sizeof...(A)> sizes(R (*)(A...)) { return {sizeof(A)...}; }
";

#[test]
#[ignore = "fetches headers"]
fn parameters_have_the_sizes_of_the_headers() {
    for release in RELEASES {
        let mut total = 0;
        for per_thread in [false, true] {
            let (checks, number) = functions(release, per_thread);
            let source = root().join("target/cudart-functions.cpp");
            fs::write(&source, format!("{BEGIN}{checks}")).unwrap();
            let define = if per_thread { "-DCUDA_API_PER_THREAD_DEFAULT_STREAM" } else { "-DLEGACY" };
            run(release.compiler().args([define, "-fsyntax-only"]).arg(&source));
            total += number;
        }
        println!("{}: {total} functions", release.version);
        assert!(total >= 2 * release.functions, "{total} of {}", release.version);
    }
}

/// Generates checks of a struct's fields, except fields named `reserved` at an open end.
fn fields(checks: &mut String, name: &str, size: Option<usize>, fields: &[Field]) {
    if let Some(size) = size {
        writeln!(checks, "static_assert(sizeof({name}) == {size}, \"{name}\");").unwrap();
    }
    for Field { name: field, offset, size } in fields.iter().filter(|field| field.name != "reserved") {
        let field = field.strip_prefix("r#").unwrap_or(field);
        writeln!(checks, "static_assert(offsetof({name}, {field}) == {offset}, \"{name}.{field}\");")
            .unwrap();
        writeln!(checks, "static_assert(sizeof((({name} *)0)->{field}) == {size}, \"{name}.{field}\");")
            .unwrap();
    }
}

/// Generates checks of structs that are the same in all releases.
macro_rules! whole {
    ($checks:ident: $($name:ident),+) => {
        $( fields(&mut $checks, stringify!($name), Some(size_of::<$name>()), $name::FIELDS); )+
    };
}

fn places(checks: &mut String, places: &[(&str, usize)]) {
    for (place, offset) in places {
        writeln!(checks, "static_assert(offsetof({place}) == {offset}, \"{place}\");").unwrap();
    }
}

fn sizes(checks: &mut String, sizes: &[(&str, usize)]) {
    for (name, size) in sizes {
        writeln!(checks, "static_assert(sizeof({name}) == {size}, \"{name}\");").unwrap();
    }
}

/// Generates checks of the structs of external memory and semaphores.
fn external(checks: &mut String, is_13: bool) {
    let descriptions = [
        (
            "cudaExternalMemoryHandleDesc",
            size_of::<CUDA_EXTERNAL_MEMORY_HANDLE_DESC>(),
            offset_of!(CUDA_EXTERNAL_MEMORY_HANDLE_DESC, reserved),
        ),
        (
            "cudaExternalMemoryBufferDesc",
            size_of::<CUDA_EXTERNAL_MEMORY_BUFFER_DESC>(),
            offset_of!(CUDA_EXTERNAL_MEMORY_BUFFER_DESC, reserved),
        ),
        (
            "cudaExternalSemaphoreHandleDesc",
            size_of::<CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC>(),
            offset_of!(CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC, reserved),
        ),
    ];
    for (name, size, reserved) in descriptions {
        sizes(checks, &[(name, if is_13 { size } else { reserved.next_multiple_of(8) })]);
        let flags = format!("{name}, flags");
        places(checks, &[(&flags, reserved - 4)]);
    }
    fields(
        checks,
        "cudaExternalMemoryMipmappedArrayDesc",
        None,
        cudaExternalMemoryMipmappedArrayDesc::FIELDS,
    );
    sizes(
        checks,
        &[
            ("cudaExternalSemaphoreSignalParams", size_of::<CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS>()),
            ("cudaExternalSemaphoreWaitParams", size_of::<CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS>()),
            ("cudaExternalSemaphoreSignalNodeParams", size_of::<CUDA_EXT_SEM_SIGNAL_NODE_PARAMS>()),
            ("cudaExternalSemaphoreWaitNodeParams", size_of::<CUDA_EXT_SEM_WAIT_NODE_PARAMS>()),
        ],
    );
    if !is_13 {
        old_semaphores(checks);
    }
}

/// Generates checks of the structs that programs of CUDA 11.1 and older use.
fn old_semaphores(checks: &mut String) {
    use {cudaExternalSemaphoreSignalParams_v1 as Signal, cudaExternalSemaphoreWaitParams_v1 as Wait};
    let (signal, wait) = ("cudaExternalSemaphoreSignalParams_v1", "cudaExternalSemaphoreWaitParams_v1");
    sizes(checks, &[(signal, size_of::<Signal>()), (wait, size_of::<Wait>())]);
    for (name, field, offset) in [
        (signal, "params.fence.value", offset_of!(Signal, fence)),
        (signal, "params.nvSciSync.fence", offset_of!(Signal, nvSciSync)),
        (signal, "params.keyedMutex.key", offset_of!(Signal, key)),
        (signal, "flags", offset_of!(Signal, flags)),
        (wait, "params.fence.value", offset_of!(Wait, fence)),
        (wait, "params.nvSciSync.fence", offset_of!(Wait, nvSciSync)),
        (wait, "params.keyedMutex.key", offset_of!(Wait, key)),
        (wait, "params.keyedMutex.timeoutMs", offset_of!(Wait, timeoutMs)),
        (wait, "flags", offset_of!(Wait, flags)),
    ] {
        places(checks, &[(&format!("{name}, {field}"), offset)]);
    }
}

/// Generates checks of structs of CUDA 13.5 with a context, and of device resources.
fn contexts(checks: &mut String) {
    places(
        checks,
        &[
            ("cudaKernelNodeParamsV2, ctx", offset_of!(CUDA_KERNEL_NODE_PARAMS, kern)),
            ("cudaKernelNodeParamsV2, functionType", offset_of!(CUDA_KERNEL_NODE_PARAMS, ctx)),
            ("cudaMemsetParamsV2, ctx", offset_of!(CUDA_MEMSET_NODE_PARAMS_v2, ctx)),
            ("cudaConditionalNodeParams, ctx", offset_of!(CUDA_CONDITIONAL_NODE_PARAMS, ctx)),
            ("cudaDevResource, sm", offset_of!(CUdevResource, u)),
            (
                "cudaGraphRecaptureCallbackData, userData",
                offset_of!(cudaGraphRecaptureCallbackData, userData),
            ),
        ],
    );
    let groups = size_of::<CU_DEV_SM_RESOURCE_GROUP_PARAMS>();
    sizes(
        checks,
        &[("cudaDevResource", size_of::<CUdevResource>()), ("cudaDevSmResourceGroupParams", groups)],
    );
}

#[test]
#[ignore = "fetches headers"]
fn structs_and_codes_are_those_of_the_headers() {
    for release in RELEASES {
        let mut checks = String::new();
        let is_13 = release.major() == 13;
        let (size, properties) = match is_13 {
            false => (size_of::<cudaDeviceProp_12>(), cudaDeviceProp_12::FIELDS),
            true => (size_of::<cudaDeviceProp_13>(), cudaDeviceProp_13::FIELDS),
        };
        fields(&mut checks, "cudaDeviceProp", Some(size), properties);
        whole!(checks: cudaFuncAttributes, cudaLaunchConfig_t, cudaTextureDesc, cudaMemcpy3DParms, cudaMemcpy3DPeerParms, cudaKernelNodeParams, cudaChannelFormatDesc, dim3, cudaExtent, cudaPitchedPtr, cudaPos);
        let size = size_of::<cudaPointerAttributes>() + if is_13 { 64 } else { 0 };
        fields(&mut checks, "cudaPointerAttributes", Some(size), cudaPointerAttributes::FIELDS);
        fields(&mut checks, "cudaResourceViewDesc", None, cudaResourceViewDesc::FIELDS);
        if !is_13 {
            whole!(checks: cudaResourceDesc);
        }
        for (field, offset) in [
            ("array.array", 8),
            ("linear.desc", 16),
            ("linear.sizeInBytes", 40),
            ("pitch2D.pitchInBytes", 56),
        ] {
            writeln!(
                checks,
                "static_assert(offsetof(cudaResourceDesc, res.{field}) == {offset}, \"{field}\");"
            )
            .unwrap();
        }
        if !release.version.starts_with("12.0") {
            whole!(checks: cudaGraphNodeParams);
            // `ctx` is reserved up to CUDA 13.0.
            let has_context = release.version.starts_with("13.5");
            let copy: Vec<Field> = cudaMemcpyNodeParams::FIELDS
                .iter()
                .filter(|field| has_context || field.name != "ctx")
                .copied()
                .collect();
            fields(&mut checks, "cudaMemcpyNodeParams", Some(size_of::<cudaMemcpyNodeParams>()), &copy);
        }
        external(&mut checks, is_13);
        if release.version.starts_with("13.5") {
            contexts(&mut checks);
            for (code, name) in NAMES {
                let name = name.trim_end_matches('\0');
                writeln!(checks, "static_assert({name} == {code}, \"{name}\");").unwrap();
            }
        }
        let source = root().join("target/cudart-structs.cpp");
        fs::write(&source, format!("{BEGIN}{checks}")).unwrap();
        run(release.compiler().args(["-Wno-invalid-offsetof", "-fsyntax-only"]).arg(&source));
    }
}

#[test]
#[ignore = "fetches headers"]
fn the_old_layout_of_the_properties_is_that_of_cuda_11() {
    let folder = wheel("nvidia-cuda-runtime-cu11", "11.8.89").join("nvidia/cuda_runtime/include");
    let mut checks = String::new();
    let old: Vec<&Field> =
        cudaDeviceProp_12::FIELDS.iter().filter(|field| field.offset < BYTES_OF_11).collect();
    assert!(old.len() > 70);
    for field in old {
        fields(&mut checks, "cudaDeviceProp", Some(BYTES_OF_11), &[*field]);
    }
    let source = root().join("target/cudart-old.cpp");
    fs::write(&source, format!("{BEGIN}{checks}")).unwrap();
    let mut compiler = Command::new("g++");
    compiler.args(["-std=c++20", "-fsyntax-only", "-I"]).arg(folder);
    compiler.arg("-I").arg(wheel("nvidia-cuda-crt", "13.5.37").join("nvidia/cu13/include"));
    run(compiler.arg(&source));
}
