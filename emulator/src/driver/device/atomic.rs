//! Atomic operations that a device performs natively on other memory. Here it performs all of them.

use cuprum_sys::*;

use crate::driver::answer::{Answer, INVALID_VALUE, ensure};
use crate::driver::call::{In, Out, calls};

use super::visible::check;

/// Returns the widths, signs and forms of an operation.
fn capabilities(operation: CUatomicOperation) -> Answer<u32> {
    use CUatomicOperation as O;
    use CUatomicOperationCapability as C;

    let integer = C::CU_ATOMIC_CAPABILITY_SIGNED.0 | C::CU_ATOMIC_CAPABILITY_UNSIGNED.0;
    let scalar = C::CU_ATOMIC_CAPABILITY_SCALAR_32.0 | C::CU_ATOMIC_CAPABILITY_SCALAR_64.0;
    let reduction = C::CU_ATOMIC_CAPABILITY_REDUCTION.0;
    Ok(match operation {
        O::CU_ATOMIC_OPERATION_INTEGER_ADD
        | O::CU_ATOMIC_OPERATION_INTEGER_MIN
        | O::CU_ATOMIC_OPERATION_INTEGER_MAX
        | O::CU_ATOMIC_OPERATION_AND
        | O::CU_ATOMIC_OPERATION_OR
        | O::CU_ATOMIC_OPERATION_XOR => integer | scalar | reduction,
        // PTX has these only for unsigned 32-bit numbers.
        O::CU_ATOMIC_OPERATION_INTEGER_INCREMENT | O::CU_ATOMIC_OPERATION_INTEGER_DECREMENT => {
            C::CU_ATOMIC_CAPABILITY_UNSIGNED.0 | C::CU_ATOMIC_CAPABILITY_SCALAR_32.0 | reduction
        }
        // These exist only in the form that returns the old value.
        O::CU_ATOMIC_OPERATION_EXCHANGE | O::CU_ATOMIC_OPERATION_CAS => {
            integer | scalar | C::CU_ATOMIC_CAPABILITY_SCALAR_128.0
        }
        O::CU_ATOMIC_OPERATION_FLOAT_ADD => C::CU_ATOMIC_CAPABILITY_SIGNED.0 | scalar | reduction,
        known if known.name().is_some() => 0,
        _ => return Err(INVALID_VALUE),
    })
}

fn write_all(out: Out<u32>, operations: In<CUatomicOperation>, count: u32) -> Answer {
    ensure(count > 0, INVALID_VALUE)?;
    let operations = operations.get_all(count as usize)?;
    let all = operations.into_iter().map(capabilities).collect::<Answer<Vec<_>>>()?;
    out.set_all(&all, all.len())
}

calls! {
    fn cuDeviceGetHostAtomicCapabilities(
        _call,
        capabilities: Out<u32>,
        operations: In<CUatomicOperation>,
        count: u32,
        dev: i32,
    ) {
        check(dev)?;
        write_all(capabilities, operations, count)
    }

    fn cuDeviceGetP2PAtomicCapabilities(
        _call,
        capabilities: Out<u32>,
        operations: In<CUatomicOperation>,
        count: u32,
        srcDevice: i32,
        dstDevice: i32,
    ) {
        check(srcDevice)?;
        check(dstDevice)?;
        ensure(srcDevice != dstDevice, CUresult::CUDA_ERROR_INVALID_DEVICE)?;
        write_all(capabilities, operations, count)
    }
}
