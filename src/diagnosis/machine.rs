//! Checks this machine for the requirements of a CUDA driver.

use std::fs;
use std::path::{Path, PathBuf};

/// The requirements of a CUDA driver on this machine, from files and variables of the system.
///
/// Complete on Linux. Other systems lack the files, and only the variables are known.
///
/// ```
/// let machine = cuprum::diagnosis::Machine::look();
/// if machine.gpus == Some(1) && machine.kernel_module.is_none() {
///     println!("there is a GPU, but NVIDIA's kernel module is not loaded");
/// }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Machine {
    /// Number of NVIDIA GPUs on the PCI bus; `None` if the bus cannot be read.
    pub gpus: Option<usize>,
    /// Version of NVIDIA's kernel module, such as "535.183.01"; `None` if it is not loaded.
    pub kernel_module: Option<String>,
    /// True if the free module `nouveau` is loaded, which blocks NVIDIA's module.
    pub nouveau: bool,
    /// Names of the device nodes in `/dev` that the driver opens: `nvidia0`, `nvidiactl`,
    /// `nvidia-uvm`, under WSL `dxg`.
    pub nodes: Vec<String>,
    /// The nodes that this user may not read and write.
    pub forbidden: Vec<String>,
    /// True in the Windows Subsystem for Linux (WSL), which uses the Windows driver.
    pub wsl: bool,
    /// Kind of container, such as "docker"; `None` outside of a container.
    pub container: Option<String>,
    /// Files of driver libraries loaded in this process.
    pub loaded: Vec<PathBuf>,
    /// `CUDA_VISIBLE_DEVICES`.
    pub visible: Option<String>,
    /// `NVIDIA_VISIBLE_DEVICES`, which NVIDIA's container runtime reads.
    pub container_visible: Option<String>,
}

impl Machine {
    /// Inspects this machine. Makes no driver call, and opens no device.
    #[must_use]
    #[inline]
    pub fn look() -> Self {
        Self::look_below(Path::new("/"), |name| {
            std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
        })
    }

    fn look_below(root: &Path, variable: impl Fn(&str) -> Option<String>) -> Self {
        let text = |path: &str| fs::read_to_string(root.join(path)).ok();
        let nodes = nodes(&root.join("dev"));
        Self {
            gpus: gpus(&root.join("sys/bus/pci/devices")),
            kernel_module: text("sys/module/nvidia/version")
                .map(|version| version.trim().to_owned())
                .or_else(|| module_in(&text("proc/driver/nvidia/version")?)),
            nouveau: root.join("sys/module/nouveau").exists(),
            forbidden: nodes
                .iter()
                .filter(|node| is_forbidden(&root.join("dev").join(node)))
                .cloned()
                .collect(),
            wsl: root.join("dev/dxg").exists()
                || text("proc/version").is_some_and(|version| version.to_lowercase().contains("microsoft")),
            nodes,
            container: container(root, &variable),
            loaded: text("proc/self/maps").map(|maps| loaded(&maps)).unwrap_or_default(),
            visible: variable("CUDA_VISIBLE_DEVICES"),
            container_visible: variable("NVIDIA_VISIBLE_DEVICES"),
        }
    }

    /// Returns the version in the file name of the driver library loaded in this process, such as
    /// "535.183.01", or `None` without a library or a version.
    #[must_use]
    #[inline]
    pub fn library_version(&self) -> Option<String> {
        self.loaded.iter().find_map(|path| version_in_name(path))
    }
}

/// The version after `libcuda.so.` in a file's name, if it has two numbers or more.
fn version_in_name(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let version = name.strip_prefix("libcuda.so.")?;
    version.contains('.').then(|| version.to_owned())
}

/// The version in a line such as
/// `NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12 …`.
fn module_in(text: &str) -> Option<String> {
    let line = text.lines().find(|line| line.starts_with("NVRM version:"))?;
    let is_version = |word: &&str| {
        word.contains('.')
            && word.split('.').all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
    };
    line.split_whitespace().find(is_version).map(str::to_owned)
}

fn gpus(devices: &Path) -> Option<usize> {
    let is_gpu = |folder: &Path| {
        let text = |name| fs::read_to_string(folder.join(name)).unwrap_or_default();
        // Class 03: display; 12: accelerators.
        text("vendor").trim() == "0x10de"
            && ["0x03", "0x12"].iter().any(|class| text("class").starts_with(class))
    };
    Some(fs::read_dir(devices).ok()?.flatten().filter(|entry| is_gpu(&entry.path())).count())
}

fn nodes(dev: &Path) -> Vec<String> {
    let names = fs::read_dir(dev).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let mut names: Vec<_> =
        names.filter_map(|name| name.into_string().ok()).filter(|name| is_node(name)).collect();
    names.sort_unstable();
    names
}

fn is_node(name: &str) -> bool {
    let number = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
    matches!(name, "nvidiactl" | "nvidia-uvm" | "dxg") || name.strip_prefix("nvidia").is_some_and(number)
}

/// True if a node may not be opened. A GPU's own node is not tried: opening it can wake the GPU.
fn is_forbidden(node: &Path) -> bool {
    let is_gpu =
        node.file_name().is_some_and(|name| name.as_encoded_bytes().last().is_some_and(u8::is_ascii_digit));
    let opened = if is_gpu { return false } else { fs::OpenOptions::new().read(true).write(true).open(node) };
    opened.is_err_and(|error| error.kind() == std::io::ErrorKind::PermissionDenied)
}

fn container(root: &Path, variable: &impl Fn(&str) -> Option<String>) -> Option<String> {
    let groups = fs::read_to_string(root.join("proc/1/cgroup")).unwrap_or_default();
    let kinds = ["kubepods", "docker", "containerd", "lxc"];
    let kind = match kinds.iter().find(|kind| groups.contains(**kind)) {
        _ if variable("KUBERNETES_SERVICE_HOST").is_some() => "kubernetes",
        _ if root.join(".dockerenv").exists() => "docker",
        _ if root.join("run/.containerenv").exists() => "podman",
        _ if variable("APPTAINER_CONTAINER").is_some() || variable("SINGULARITY_CONTAINER").is_some() => {
            "apptainer"
        }
        Some(&"kubepods") => "kubernetes",
        Some(kind) => kind,
        None => return None,
    };
    Some(kind.to_owned())
}

/// The files of driver libraries in a process's memory map, without duplicates.
fn loaded(maps: &str) -> Vec<PathBuf> {
    let paths = maps.lines().filter_map(|line| line.find('/').map(|at| &line[at..]));
    let mut found: Vec<PathBuf> = Vec::new();
    for path in paths.map(|path| path.trim_end_matches(" (deleted)")) {
        let name = path.rsplit('/').next().unwrap_or_default();
        let is_driver = name.starts_with("libcuda.so") || name == "libcuprum_libcuda.so";
        if is_driver && !found.iter().any(|known| known.as_os_str() == path) {
            found.push(path.into());
        }
    }
    found
}

#[cfg(test)]
mod tests;
