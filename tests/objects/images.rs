//! Verdicts of `Image::read` on code, compared with the driver's.

use cuprum::Module;
use cuprum::diagnosis::{Image, ImageError};

use crate::common::in_context;

/// PTX of which anything is cut off is damaged, or code that a driver loads: none is called whole for nothing.
#[test]
fn every_truncation_of_ptx_is_noticed_or_loads() {
    in_context(|cx| {
        for ptx in [
            include_str!("../../kernels/saxpy.ptx"),
            include_str!("../../kernels/reduce_shared.ptx"),
            include_str!("../../kernels/signatures.ptx"),
        ] {
            assert!(!Image::read(ptx.as_bytes()).unwrap().parts[0].is_empty);
            let (mut whole, mut loaded) = (0, "");
            for end in 0..ptx.len() {
                match Image::read(&ptx.as_bytes()[..end]) {
                    // Comments and blanks that follow are cut off one by one.
                    Ok(_) if ptx[..end].trim_end() == loaded => whole += 1,
                    Ok(_) => {
                        loaded = ptx[..end].trim_end();
                        Module::load_ptx(cx, loaded).unwrap_or_else(|error| panic!("{loaded}\n{error}"));
                        whole += 1;
                    }
                    Err(ImageError::Damaged(why)) => assert!(!why.is_empty()),
                    Err(other) => assert!(!ptx[..end].contains(".version "), "{end}: {other}"),
                }
            }
            assert!(whole > 0 && whole < ptx.len() / 2, "{whole} of {}", ptx.len());
        }
    });
}
