//! Attributes of kernels: set by clients, and of the code.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use cuprum_sys::*;

use crate::program::{GlobalSpace, Kernel, Program};

use crate::driver::answer::{Answer, INVALID_VALUE, ensure};
use crate::driver::call::Out;
use crate::driver::device::{MAX_THREADS, SHARED_DEFAULT, SHARED_OPT_IN};
use crate::driver::state::settings;

use super::jit::RegisterLimit;

/// The attributes that a client can set, and the options of the compiler.
#[derive(Debug)]
pub(super) struct Attributes {
    dynamic_shared: AtomicI32,
    carveout: AtomicI32,
    not_portable: AtomicI32,
    policy: AtomicI32,
    cluster: [AtomicI32; 3],
    registers: RegisterLimit,
    /// Attributes of the function's kernel, which apply if the function has none of its own.
    base: Option<Arc<Attributes>>,
}

const UNSET: i32 = i32::MIN;

impl Attributes {
    pub(super) fn new(kernel: &Kernel, registers: RegisterLimit) -> Self {
        let left = SHARED_DEFAULT.saturating_sub(kernel.static_shared());
        Self {
            dynamic_shared: AtomicI32::new(left as i32),
            carveout: AtomicI32::new(-1),
            not_portable: AtomicI32::new(0),
            policy: AtomicI32::new(0),
            cluster: [const { AtomicI32::new(0) }; 3],
            registers,
            base: None,
        }
    }

    /// Returns the attributes of a function. Each is the kernel's until it is set for the function.
    pub(super) fn of_function(kernel: Arc<Self>) -> Self {
        Self {
            dynamic_shared: AtomicI32::new(UNSET),
            carveout: AtomicI32::new(UNSET),
            not_portable: AtomicI32::new(UNSET),
            policy: AtomicI32::new(UNSET),
            cluster: [const { AtomicI32::new(UNSET) }; 3],
            registers: kernel.registers,
            base: Some(kernel),
        }
    }

    fn value(&self, pick: fn(&Self) -> &AtomicI32) -> i32 {
        match (pick(self).load(Ordering::Relaxed), &self.base) {
            (UNSET, Some(base)) => base.value(pick),
            (value, _) => value,
        }
    }

    /// Maximum dynamic shared memory of a launch, in bytes.
    pub(super) fn dynamic_shared(&self) -> u32 {
        self.value(|attributes| &attributes.dynamic_shared) as u32
    }

    /// True if clusters may exceed the portable size, which every device with clusters supports.
    pub(super) fn allows_not_portable(&self) -> bool {
        self.value(|attributes| &attributes.not_portable) != 0
    }

    /// Returns the blocks of a cluster in x, y and z that a launch must have, as the kernel or an
    /// attribute says; zeros if neither does.
    fn cluster(&self, kernel: &Kernel) -> [u32; 3] {
        kernel.cluster().required.unwrap_or_else(|| {
            [
                self.value(|attributes| &attributes.cluster[0]) as u32,
                self.value(|attributes| &attributes.cluster[1]) as u32,
                self.value(|attributes| &attributes.cluster[2]) as u32,
            ]
        })
    }

    /// Like `cluster`, but `None` if neither says it.
    pub(super) fn required_cluster(&self, kernel: &Kernel) -> Option<[u32; 3]> {
        Some(self.cluster(kernel)).filter(|sides| *sides != [0; 3])
    }

    pub(super) fn get(
        &self,
        program: &Program,
        kernel: &Kernel,
        attribute: CUfunction_attribute,
    ) -> Answer<i32> {
        use CUfunction_attribute as A;

        let (major, minor) = settings().compute_capability;
        Ok(match attribute {
            // `.reqntid` does not count here.
            A::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK if kernel.required_threads().is_some() => {
                MAX_THREADS as i32
            }
            A::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK => max_threads(kernel) as i32,
            A::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES => kernel.static_shared() as i32,
            A::CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES => {
                let constants = program.globals().iter();
                let constants = constants.filter(|global| global.space == GlobalSpace::Const);
                constants.map(|global| global.size).sum::<u64>() as i32
            }
            A::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES => {
                kernel.local_bytes() as i32 + self.registers.apply(kernel.registers()).1 as i32
            }
            A::CU_FUNC_ATTRIBUTE_NUM_REGS => self.registers.apply(kernel.registers()).0 as i32,
            A::CU_FUNC_ATTRIBUTE_PTX_VERSION => architecture(program),
            A::CU_FUNC_ATTRIBUTE_BINARY_VERSION => (major * 10 + minor) as i32,
            A::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES => self.dynamic_shared() as i32,
            A::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT => {
                self.value(|attributes| &attributes.carveout)
            }
            A::CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET => kernel.cluster().explicit.into(),
            A::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH => self.cluster(kernel)[0] as i32,
            A::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT => self.cluster(kernel)[1] as i32,
            A::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH => self.cluster(kernel)[2] as i32,
            A::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED => self.allows_not_portable().into(),
            A::CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE => {
                self.value(|attributes| &attributes.policy)
            }
            A::CU_FUNC_ATTRIBUTE_MAX => return Err(INVALID_VALUE),
            known if known.name().is_some() => 0,
            _ => return Err(INVALID_VALUE),
        })
    }

    pub(super) fn set(&self, kernel: &Kernel, attribute: CUfunction_attribute, value: i32) -> Answer {
        const MOST_POLICY: i32 =
            CUclusterSchedulingPolicy::CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING.0 as i32;
        match attribute {
            CUfunction_attribute::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH => {
                self.set_cluster(kernel, 0, value)?;
            }
            CUfunction_attribute::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT => {
                self.set_cluster(kernel, 1, value)?;
            }
            CUfunction_attribute::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH => {
                self.set_cluster(kernel, 2, value)?;
            }
            CUfunction_attribute::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED => {
                self.not_portable.store((value != 0).into(), Ordering::Relaxed);
            }
            CUfunction_attribute::CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE => {
                ensure((0..=MOST_POLICY).contains(&value), INVALID_VALUE)?;
                self.policy.store(value, Ordering::Relaxed);
            }
            CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES => {
                let most = SHARED_OPT_IN.saturating_sub(kernel.static_shared());
                ensure((0..=most as i32).contains(&value), INVALID_VALUE)?;
                self.dynamic_shared.store(value, Ordering::Relaxed);
            }
            CUfunction_attribute::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT => {
                ensure((-1..=100).contains(&value), INVALID_VALUE)?;
                self.carveout.store(value, Ordering::Relaxed);
            }
            _ => return Err(INVALID_VALUE),
        }
        Ok(())
    }
}

impl Attributes {
    /// Sets one side of the clusters that launches must have. It must not contradict the kernel.
    fn set_cluster(&self, kernel: &Kernel, axis: usize, value: i32) -> Answer {
        let said = kernel.cluster().required;
        ensure(value >= 0 && said.is_none_or(|sides| sides[axis] == value as u32), INVALID_VALUE)?;
        self.cluster[axis].store(value, Ordering::Relaxed);
        Ok(())
    }
}

/// Returns the maximum number of threads per block of this kernel.
pub(super) fn max_threads(kernel: &Kernel) -> u32 {
    kernel.max_threads().map_or(MAX_THREADS, |most| most.min(MAX_THREADS))
}

/// `sm_90a` as 90.
fn architecture(program: &Program) -> i32 {
    let digits = program.target().trim_start_matches(|c: char| !c.is_ascii_digit());
    let digits = digits.trim_end_matches(|c: char| !c.is_ascii_digit());
    digits.parse().unwrap_or(0)
}

pub(super) fn param_info(kernel: &Kernel, index: usize, offset: Out<usize>, size: Out<usize>) -> Answer {
    offset.check()?;
    let param = kernel.params().get(index).ok_or(INVALID_VALUE)?;
    size.set_if_wanted(param.size as usize);
    offset.set(param.offset as usize)
}
