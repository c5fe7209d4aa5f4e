//! Advice about refused code, from the code, the device and the driver's version.

use cuprum_sys::{CUresult, Version};

use super::ptx;
use crate::device::{ComputeCapability, Device};
use crate::diagnosis::{CodeKind, Image, newest_ptx, toolkit_of_ptx};
use crate::driver::Driver;
use crate::error::Error;

/// Returns advice about refused code, for messages. The code is `None` if it is not in memory.
#[cold]
pub(super) fn advice(
    driver: Driver,
    device: Option<Device>,
    error: Error,
    code: Option<&[u8]>,
) -> Option<String> {
    let text = code.and_then(|code| std::str::from_utf8(code).ok());
    let image = code.and_then(|code| Image::read(code).ok());
    match error.code() {
        CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION => {
            let named = text.and_then(|text| ptx::directive(text, ".version"));
            let version = named.or_else(|| Some(image.as_ref()?.newest_ptx()?.0));
            Some(unknown_version(version, driver.version()))
        }
        // Drivers return either code for PTX of a newer device.
        CUresult::CUDA_ERROR_INVALID_PTX | CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU => {
            let device = device?.compute_capability().ok()?;
            let Some(text) = text else {
                return Some(no_code(image.as_ref(), device, driver));
            };
            let target = ptx::directive(text, ".target").unwrap_or("unknown");
            (ptx::capability(target)? > device.major.saturating_mul(10).saturating_add(device.minor)).then(|| {
                format!("the PTX is for {target}, the device has compute capability {device}: compile for that or less")
            })
        }
        _ => None,
    }
}

fn unknown_version(version: Option<&str>, driver: Version) -> String {
    let reads = newest_ptx(driver).map(|(major, minor)| format!(", which reads up to {major}.{minor}"));
    let reads = reads.unwrap_or_default();
    let of = version.and_then(toolkit_of_ptx);
    let (came, needed) = match of {
        Some(of) => (format!(" (of CUDA {of})"), format!(" to one of CUDA {of} or newer")),
        None => (String::new(), String::new()),
    };
    format!(
        "the PTX is of version {}{came}, which this driver (CUDA {driver}{reads}) does not know: update the driver{needed}, \
         or compile with a toolkit no newer than CUDA {driver}",
        version.unwrap_or("unknown"),
    )
}

fn no_code(image: Option<&Image>, device: ComputeCapability, driver: Driver) -> String {
    let sm = format!("sm_{}{}", device.major, device.minor);
    let Some(image) = image else {
        return format!(
            "the image has no code for compute capability {device}: compile for {sm}, or keep PTX in it"
        );
    };
    if driver.library().is_software_device() && !image.parts.iter().any(|part| part.kind == CodeKind::Ptx) {
        return format!("the image has {image}, and the software device runs PTX alone: keep PTX in it");
    }
    match image.least_driver(device).filter(|least| *least > driver.version()) {
        Some(least) => format!(
            "the image has {image}; of that, compute capability {device} runs only PTX that needs CUDA {least}, and the \
             driver has {}: update it, or compile for {sm}",
            driver.version()
        ),
        None => format!(
            "the image has {image}, and none of that runs on compute capability {device}: compile for {sm}, or keep PTX of \
             {sm} or of a lower one in it"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_of_ptx_is_told_with_its_toolkit_and_what_the_driver_reads() {
        assert_eq!(
            unknown_version(Some("8.5"), Version::new(12, 2)),
            "the PTX is of version 8.5 (of CUDA 12.5), which this driver (CUDA 12.2, which reads up to 8.2) does not know: \
             update the driver to one of CUDA 12.5 or newer, or compile with a toolkit no newer than CUDA 12.2"
        );
        let unknown = unknown_version(Some("99.9"), Version::new(12, 2));
        assert!(
            unknown.contains("version 99.9, which") && unknown.contains("update the driver, or"),
            "{unknown}"
        );
    }

    #[test]
    fn an_image_without_code_for_the_device_is_told_with_what_it_has() {
        let driver = Driver::init(cuprum_emulator::library()).unwrap();
        let image = Image::read(b".version 8.4\n.target sm_100\n").unwrap();
        let text = no_code(Some(&image), ComputeCapability { major: 9, minor: 0 }, driver);
        assert!(text.contains("PTX 8.4 for sm_100") && text.contains("compile for sm_90"), "{text}");
        let mut cubin = b"\x7fELF\x02\x01\x01\x41\x08".to_vec();
        cubin.resize(128, 0);
        (cubin[18], cubin[49]) = (190, 80);
        // A section table with one entry.
        (cubin[40], cubin[58], cubin[60]) = (64, 64, 1);
        let text =
            no_code(Image::read(&cubin).ok().as_ref(), ComputeCapability { major: 9, minor: 0 }, driver);
        assert!(text.contains("machine code for sm_80") && text.contains("runs PTX alone"), "{text}");
    }
}
