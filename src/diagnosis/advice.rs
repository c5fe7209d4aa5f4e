//! Explanations of errors that this machine causes.

use cuprum_sys::CUresult;

use super::machine::Machine;

/// Same as [`Machine::advice`], on the current machine, which is inspected only for these codes.
pub(crate) fn advice_here(code: CUresult) -> Option<String> {
    let is_of_the_machine = matches!(
        code,
        CUresult::CUDA_ERROR_NO_DEVICE
            | CUresult::CUDA_ERROR_UNKNOWN
            | CUresult::CUDA_ERROR_NOT_INITIALIZED
            | CUresult::CUDA_ERROR_INVALID_CONTEXT
            | CUresult::CUDA_ERROR_SYSTEM_DRIVER_MISMATCH
            | CUresult::CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE
    );
    if is_of_the_machine { Machine::look().advice(code) } else { None }
}

impl Machine {
    /// Returns the cause and remedy of a code on this machine, in sentences, if the machine's state
    /// adds to [`CUresult::advice`]; otherwise `None`. For hardware drivers only.
    #[must_use]
    #[inline]
    pub fn advice(&self, code: CUresult) -> Option<String> {
        match code {
            CUresult::CUDA_ERROR_NO_DEVICE => self.no_device(),
            // Drivers before CUDA 10 return this if they cannot open their device.
            CUresult::CUDA_ERROR_UNKNOWN if !self.has_device_node() => self.no_device(),
            CUresult::CUDA_ERROR_NOT_INITIALIZED | CUresult::CUDA_ERROR_INVALID_CONTEXT => self.two_drivers(),
            CUresult::CUDA_ERROR_SYSTEM_DRIVER_MISMATCH => self.mismatch(),
            CUresult::CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE => self.compatibility(),
            _ => None,
        }
    }

    /// Returns the first reason, from the outside in, why a driver sees no device here, if any.
    #[must_use]
    pub fn no_device(&self) -> Option<String> {
        let hides_all = |list: &str| list.is_empty() || list.starts_with('-') || list == "NoDevFiles";
        if let Some(list) = self.visible.as_deref().filter(|list| hides_all(list.trim())) {
            let value = if list.is_empty() { "set to nothing".to_owned() } else { format!("`{list}`") };
            return Some(format!("CUDA_VISIBLE_DEVICES is {value}, which hides every device: unset it."));
        }
        if self.wsl {
            let hidden = !self.nodes.iter().any(|node| node == "dxg");
            return hidden.then(|| {
                "This is WSL without /dev/dxg: use WSL 2, and install NVIDIA's driver in Windows, not here.".to_owned()
            });
        }
        // Old drivers make /dev/nvidiactl themselves if they run as root, even without a device.
        if self.gpus == Some(0) && self.kernel_module.is_none() && !self.has_device_node() {
            return Some(
                "This machine has no NVIDIA GPU on its PCI bus: run where there is one, or on the software device."
                    .to_owned(),
            );
        }
        let has_control = self.nodes.iter().any(|node| node == "nvidiactl");
        match (&self.container, &self.kernel_module) {
            (Some(kind), _) if !has_control => return Some(self.container_without(kind)),
            (_, None) if !has_control => return Some(self.without_module()),
            (_, Some(version)) if !has_control => {
                return Some(format!(
                    "The kernel module ({version}) is loaded, but /dev/nvidiactl is missing: run nvidia-modprobe -c0 -u, or \
                     nvidia-smi once as root."
                ));
            }
            _ => {}
        }
        if !self.forbidden.is_empty() {
            let nodes: Vec<_> = self.forbidden.iter().map(|node| format!("/dev/{node}")).collect();
            return Some(format!(
                "This user may not open {}: join the group that owns it, or ask for read and write permission.",
                nodes.join(", ")
            ));
        }
        if !self.has_device_node() {
            return Some(
                "/dev/nvidiactl is there, but no /dev/nvidia0: no GPU was given to this system.".to_owned(),
            );
        }
        let list = self.visible.as_deref()?;
        Some(format!(
            "CUDA_VISIBLE_DEVICES={list} hides all devices but these, and what stands behind the first that is none: \
             compare it with nvidia-smi -L."
        ))
    }

    /// True if there is a node of a GPU itself, or WSL's.
    fn has_device_node(&self) -> bool {
        self.nodes.iter().any(|node| node == "dxg" || node.ends_with(|end: char| end.is_ascii_digit()))
    }

    fn container_without(&self, kind: &str) -> String {
        let asked = match self.container_visible.as_deref() {
            Some("" | "void" | "none") => "NVIDIA_VISIBLE_DEVICES asks for no device",
            _ => "it was started without a GPU",
        };
        let how = match kind {
            "kubernetes" => "ask for nvidia.com/gpu in the pod's limits",
            "apptainer" => "start it with --nv",
            "podman" => "start it with --device nvidia.com/gpu=all",
            _ => "start it with --gpus all, and NVIDIA's container toolkit on the host",
        };
        format!("This container ({kind}) has no /dev/nvidiactl, since {asked}: {how}.")
    }

    fn without_module(&self) -> String {
        match (self.gpus, self.nouveau) {
            (_, true) => {
                "The kernel module nouveau holds the GPU: block it, install NVIDIA's driver, and restart."
                    .to_owned()
            }
            (Some(count), false) => format!(
                "This machine has {count} NVIDIA GPU(s), but NVIDIA's kernel module is not loaded: modprobe nvidia, whose \
                 failure the system log explains (a kernel update without its module, secure boot)."
            ),
            (None, false) => {
                "NVIDIA's kernel module is not loaded, and there is no /dev/nvidiactl.".to_owned()
            }
        }
    }

    /// A common cause here, so it comes first: two drivers in one process initialize separately.
    fn two_drivers(&self) -> Option<String> {
        let [first, second, ..] = &self.loaded[..] else { return None };
        Some(format!(
            "Two driver libraries are loaded in this process, {} and {}: what is initialized or made current in one is not in \
             the other.",
            first.display(),
            second.display()
        ))
    }

    fn mismatch(&self) -> Option<String> {
        let (module, library) = (self.kernel_module.as_ref()?, self.library_version()?);
        (*module != library).then(|| {
            let place = self.container.as_ref().map_or(
                "reboot, or reload the kernel module, after an update of the driver",
                |_| "the container brings a driver library of its own: remove it, as the host's is mounted into it",
            );
            format!("The kernel module is of version {module} and the driver library of {library}: {place}.")
        })
    }

    fn compatibility(&self) -> Option<String> {
        let path = self.loaded.first()?;
        Some(format!(
            "The library is {}, of a compatibility package, which works on data center GPUs alone: take its folder out of \
             LD_LIBRARY_PATH, or update the driver.",
            path.display()
        ))
    }
}
