//! Synthetic machines, as folders of files.

use std::collections::BTreeMap;

use cuprum_sys::{CUresult, Version};

use super::*;
use crate::diagnosis::{newest_ptx, toolkit_of_ptx};

const NO_DEVICE: CUresult = CUresult::CUDA_ERROR_NO_DEVICE;

/// A machine with files and variables; a name that ends with a slash is a folder.
fn machine(name: &str, files: &[(&str, &str)], variables: &[(&str, &str)]) -> Machine {
    let root = std::env::temp_dir().join(format!("cuprum-machine-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&root);
    for (path, text) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    let variables: BTreeMap<_, _> = variables.iter().copied().collect();
    let looked = Machine::look_below(&root, |name| variables.get(name).map(|value| (*value).to_owned()));
    let _ = fs::remove_dir_all(&root);
    looked
}

const GPU: [(&str, &str); 2] =
    [("sys/bus/pci/devices/a/vendor", "0x10de\n"), ("sys/bus/pci/devices/a/class", "0x030200\n")];
const MODULE: (&str, &str) = ("sys/module/nvidia/version", "535.183.01\n");
const NODES: [(&str, &str); 3] = [("dev/nvidiactl", ""), ("dev/nvidia0", ""), ("dev/nvidia-uvm", "")];

#[track_caller]
fn assert_says(machine: &Machine, code: CUresult, words: &[&str]) {
    let advice = machine.advice(code).unwrap_or_default();
    assert!(words.iter().all(|word| advice.contains(word)), "{advice:?} lacks one of {words:?}");
}

#[test]
fn a_whole_machine_has_no_advice() {
    let files = [&GPU[..], &[MODULE], &NODES].concat();
    let whole = machine("whole", &files, &[]);
    assert_eq!((whole.gpus, whole.kernel_module.as_deref()), (Some(1), Some("535.183.01")));
    assert_eq!(whole.nodes, ["nvidia-uvm", "nvidia0", "nvidiactl"]);
    assert_eq!(whole.advice(NO_DEVICE), None);
    let chosen = machine("chosen", &files, &[("CUDA_VISIBLE_DEVICES", "7")]);
    assert_says(&chosen, NO_DEVICE, &["CUDA_VISIBLE_DEVICES=7", "nvidia-smi -L"]);
}

#[test]
fn what_hides_a_device_is_named_from_the_outside_in() {
    let files = [&GPU[..], &[MODULE], &NODES].concat();
    for value in ["", "-1", "NoDevFiles"] {
        let hidden = machine("hidden", &files, &[("CUDA_VISIBLE_DEVICES", value)]);
        assert_says(&hidden, NO_DEVICE, &["CUDA_VISIBLE_DEVICES", "unset it"]);
    }
    let bare = machine("bare", &[("sys/bus/pci/devices/a/vendor", "0x8086")], &[]);
    assert_eq!(bare.gpus, Some(0));
    assert_says(&bare, NO_DEVICE, &["no NVIDIA GPU on its PCI bus", "software device"]);
    assert_says(&bare, CUresult::CUDA_ERROR_UNKNOWN, &["no NVIDIA GPU on its PCI bus"]);
    let left = machine("left", &[("sys/bus/pci/devices/a/vendor", "0x8086"), ("dev/nvidiactl", "")], &[]);
    assert_says(&left, NO_DEVICE, &["no NVIDIA GPU on its PCI bus"]);
    assert_says(&left, CUresult::CUDA_ERROR_UNKNOWN, &["no NVIDIA GPU on its PCI bus"]);
    assert_says(&machine("unloaded", &GPU, &[]), NO_DEVICE, &["1 NVIDIA GPU(s)", "modprobe nvidia"]);
    let nouveau = [&GPU[..], &[("sys/module/nouveau/x", "")]].concat();
    assert_says(&machine("nouveau", &nouveau, &[]), NO_DEVICE, &["nouveau"]);
    let nodeless = [&GPU[..], &[MODULE]].concat();
    assert_says(
        &machine("nodeless", &nodeless, &[]),
        NO_DEVICE,
        &["535.183.01", "/dev/nvidiactl is missing"],
    );
    let ungiven = [&GPU[..], &[MODULE], &NODES[..1]].concat();
    assert_says(&machine("ungiven", &ungiven, &[]), NO_DEVICE, &["no /dev/nvidia0"]);
}

#[test]
fn containers_and_wsl_have_words_of_their_own() {
    for (file, variable, kind, words) in [
        (".dockerenv", ("A", ""), "docker", "--gpus all"),
        ("run/.containerenv", ("A", ""), "podman", "--device nvidia.com/gpu=all"),
        ("x", ("KUBERNETES_SERVICE_HOST", "1"), "kubernetes", "nvidia.com/gpu in the pod's limits"),
        ("x", ("APPTAINER_CONTAINER", "1"), "apptainer", "--nv"),
    ] {
        let found = machine(kind, &[(file, ""), MODULE], &[variable]);
        assert_eq!(found.container.as_deref(), Some(kind));
        assert_says(&found, NO_DEVICE, &[kind, words]);
    }
    let groups =
        machine("groups", &[("proc/1/cgroup", "0::/lxc/ci\n")], &[("NVIDIA_VISIBLE_DEVICES", "void")]);
    assert_says(&groups, NO_DEVICE, &["(lxc)", "NVIDIA_VISIBLE_DEVICES asks for no device"]);
    let wsl = machine("wsl", &[("proc/version", "Linux version 5.15 (Microsoft@x)")], &[]);
    assert_says(&wsl, NO_DEVICE, &["/dev/dxg", "Windows"]);
    let ready = machine("ready", &[("dev/dxg", "")], &[]);
    assert_eq!((ready.wsl, ready.advice(NO_DEVICE)), (true, None));
}

#[test]
fn two_libraries_and_two_versions_are_seen() {
    let maps = "7f00-7f01 r-xp 0 08:01 1 /usr/lib/libcuda.so.550.54.14\n7f01-7f02 r--p 0 08:01 1 \
                /usr/lib/libcuda.so.550.54.14\n7f02-7f03 r--p 0 08:01 1 /opt/my lib/libcuda.so.1 (deleted)\n7f04-7f05 rw-p 0 0 0\n";
    let version = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12 19:39:15 UTC 2024\nGCC version: 12.3\n";
    let files = [("proc/self/maps", maps), ("proc/driver/nvidia/version", version)];
    let two = machine("two", &files, &[]);
    assert_eq!(two.loaded.len(), 2);
    assert_eq!(two.library_version().as_deref(), Some("550.54.14"));
    for code in [CUresult::CUDA_ERROR_NOT_INITIALIZED, CUresult::CUDA_ERROR_INVALID_CONTEXT] {
        assert_says(
            &two,
            code,
            &["Two driver libraries", "/usr/lib/libcuda.so.550.54.14", "/opt/my lib/libcuda.so.1"],
        );
    }
    let mismatch = CUresult::CUDA_ERROR_SYSTEM_DRIVER_MISMATCH;
    assert_says(&two, mismatch, &["535.183.01", "550.54.14", "reboot"]);
    assert_says(
        &machine("box", &[files[0], files[1], (".dockerenv", "")], &[]),
        mismatch,
        &["the container brings"],
    );
    assert_says(
        &two,
        CUresult::CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE,
        &["libcuda.so.550.54.14", "LD_LIBRARY_PATH"],
    );
    let none = machine("none", &[], &[]);
    assert_eq!((none.advice(mismatch), none.gpus), (None, None));
}

#[test]
fn versions_of_ptx_rise_with_those_of_cuda() {
    assert_eq!(newest_ptx(Version::new(13, 5)), Some((9, 5)));
    assert_eq!(newest_ptx(Version::new(12, 6)), Some((8, 5)));
    assert_eq!(newest_ptx(Version::from_raw(0)), None);
    for (text, expected) in
        [("7.8", Some(Version::new(11, 8))), ("9.9", None), ("8", None), ("8.40", None), ("x.y", None)]
    {
        assert_eq!(toolkit_of_ptx(text), expected, "{text}");
    }
    for version in [
        Version::new(6, 5),
        Version::new(9, 1),
        Version::new(11, 4),
        Version::new(12, 2),
        Version::new(13, 0),
        Version::new(13, 3),
        Version::new(13, 5),
    ] {
        let (major, minor) = newest_ptx(version).expect("one");
        assert_eq!(toolkit_of_ptx(&format!("{major}.{minor}")), Some(version));
    }
}
