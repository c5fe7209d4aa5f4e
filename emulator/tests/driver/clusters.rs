//! Launches of clusters, accepted and refused as on an H100 (driver 580), and queries about them.

use core::ffi::c_void;
use core::ptr::null_mut;
use cuprum_sys::*;
use cuprum_testing::driver_calls::*;

const FINE: CUresult = CUresult::CUDA_SUCCESS;
const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
const WRONG_SIZE: CUresult = CUresult::CUDA_ERROR_INVALID_CLUSTER_SIZE;

/// Kernels, by their cluster directives. Each block adds one to the word of its rank, after
/// accessing the memory of the last block of the cluster.
fn text() -> String {
    let kernel = |(name, directives): (&str, &str)| {
        format!(
            ".visible .entry {name}(.param .u64 out) {directives} {{ .reg .b32 %r<8>; .reg .b64 %o, %a; .reg .pred %p;
             .shared .b32 s; ld.param.u64 %o, [out]; mov.u32 %r0, %cluster_ctarank; mov.u32 %r1, %cluster_nctarank;
             setp.eq.u64 %p, %o, 0; @%p exit; mov.u32 %r5, 0; st.shared.u32 [s], %r5;
             barrier.cluster.arrive; barrier.cluster.wait; sub.u32 %r2, %r1, 1; mapa.shared::cluster.u32 %r3, s, %r2;
             red.shared::cluster.add.u32 [%r3], 1; barrier.cluster.arrive; barrier.cluster.wait;
             ld.shared::cluster.u32 %r4, [%r3]; mul.wide.u32 %a, %r0, 4; add.u64 %a, %o, %a;
             red.global.add.u32 [%a], %r4; barrier.cluster.arrive; barrier.cluster.wait; ret; }}\n"
        )
    };
    let kernels = [
        ("plain", ""),
        ("two", ".reqnctapercluster 2, 1, 1"),
        ("explicit_only", ".explicitcluster"),
        ("two_explicit", ".explicitcluster .reqnctapercluster 2, 1, 1"),
        ("most", ".maxclusterrank 2"),
        ("three", ".explicitcluster .reqnctapercluster 1, 3, 1"),
        ("one", ".reqnctapercluster 1, 1, 1"),
    ];
    ".version 8.0\n.target sm_90\n.address_size 64\n".to_owned() + &kernels.map(kernel).concat() + "\0"
}

struct Kernels {
    _context: TestContext,
    module: CUmodule,
    out: CUdeviceptr,
}

impl Kernels {
    fn new() -> Self {
        let (context, mut module, mut out) = (TestContext::new(), CUmodule::null(), 0);
        ok!(cuModuleLoadData(&mut module, text().as_ptr().cast()));
        ok!(cuMemAlloc_v2(&mut out, 64));
        Self { _context: context, module, out }
    }

    fn get(&self, name: &str) -> CUfunction {
        let (mut function, name) = (CUfunction::null(), format!("{name}\0"));
        ok!(cuModuleGetFunction(&mut function, self.module, name.as_ptr().cast()));
        function
    }

    fn launch(
        &self,
        function: CUfunction,
        grid: [u32; 3],
        cluster: Option<[u32; 3]>,
    ) -> (CUresult, [u32; 16]) {
        ok!(cuMemsetD8_v2(self.out, 0, 64));
        let mut out = self.out;
        let mut params = [(&raw mut out).cast::<c_void>()];
        let mut attributes = attributes(cluster);
        let config = config(grid, 1, &mut attributes);
        let answer = code!(cuLaunchKernelEx(&config, function, params.as_mut_ptr(), null_mut()));
        let mut words = [0u32; 16];
        ok!(cuMemcpyDtoH_v2(words.as_mut_ptr().cast(), self.out, 64));
        (answer, words)
    }
}

/// Returns the attribute that requests clusters of this size.
fn attributes(cluster: Option<[u32; 3]>) -> Vec<CUlaunchAttribute> {
    let attribute = |[x, y, z]: [u32; 3]| {
        let mut attribute = CUlaunchAttribute::zeroed();
        attribute.id = CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
        attribute.value.clusterDim = CUlaunchAttributeValue_clusterDim { x, y, z };
        attribute
    };
    cluster.map(attribute).into_iter().collect()
}

fn config(grid: [u32; 3], threads: u32, attributes: &mut [CUlaunchAttribute]) -> CUlaunchConfig {
    CUlaunchConfig {
        gridDimX: grid[0],
        gridDimY: grid[1],
        gridDimZ: grid[2],
        blockDimX: threads,
        blockDimY: 1,
        blockDimZ: 1,
        attrs: attributes.as_mut_ptr(),
        numAttrs: attributes.len() as u32,
        ..CUlaunchConfig::zeroed()
    }
}

fn set(function: CUfunction, attribute: CUfunction_attribute, value: i32) -> CUresult {
    code!(cuFuncSetAttribute(function, attribute, value))
}

fn get(function: CUfunction) -> [i32; 6] {
    core::array::from_fn(|index| {
        let mut value = -7;
        ok!(cuFuncGetAttribute(&mut value, CUfunction_attribute(10 + index as u32), function));
        value
    })
}

#[test]
fn launches_with_clusters_are_taken_and_refused_as_by_an_h100() {
    let kernels = Kernels::new();
    let plain = kernels.get("plain");
    for (grid, cluster, expected) in [
        ([2, 1, 1], [0, 0, 0], FINE),
        ([4, 1, 1], [2, 0, 0], WRONG_SIZE),
        ([2, 1, 1], [0, 1, 1], WRONG_SIZE),
        ([2, 1, 1], [1, 1, 1], FINE),
        ([4, 1, 1], [2, 1, 1], FINE),
        ([14, 1, 1], [7, 1, 1], FINE),
        ([16, 1, 1], [8, 1, 1], FINE),
        ([18, 1, 1], [9, 1, 1], WRONG_SIZE),
        ([32, 1, 1], [16, 1, 1], WRONG_SIZE),
        ([4, 2, 2], [2, 2, 2], FINE),
        ([8, 4, 1], [4, 4, 1], WRONG_SIZE),
        ([2, 8, 1], [1, 8, 1], FINE),
        ([2, 1, 8], [1, 1, 8], FINE),
        ([3, 1, 1], [2, 1, 1], WRONG_SIZE),
        ([4, 3, 1], [1, 2, 1], WRONG_SIZE),
        ([1, 1, 1], [2, 1, 1], WRONG_SIZE),
        ([0, 1, 1], [2, 1, 1], INVALID),
        ([1 << 30, 1, 1], [1 << 30, 4, 1], WRONG_SIZE),
    ] {
        let (answer, words) = kernels.launch(plain, grid, Some(cluster));
        assert_eq!(answer, expected, "{grid:?} {cluster:?}");
        if expected == FINE {
            let blocks = grid.iter().product::<u32>();
            let size = cluster.iter().product::<u32>().max(1);
            let word = |rank| if rank < size { blocks } else { 0 };
            assert_eq!(words, core::array::from_fn(|rank| word(rank as u32)), "{grid:?} {cluster:?}");
        }
    }
}

#[test]
fn what_a_kernel_says_of_clusters_counts_as_on_an_h100() {
    let kernels = Kernels::new();
    // On a grid of 12 by 3, or of 11 by 3, which is not divisible by two.
    let (even, odd) = ([12, 3, 1], [11, 3, 1]);
    let asked = [
        (even, None),
        (odd, None),
        (even, Some([2, 1, 1])),
        (even, Some([4, 1, 1])),
        (even, Some([1, 1, 1])),
        (even, Some([0, 0, 0])),
        (even, Some([1, 3, 1])),
    ];
    let (f, w) = (FINE, WRONG_SIZE);
    for (name, expected, said) in [
        ("two", [f, w, f, w, w, f, w], [0, 2, 1, 1, 0, 0]),
        ("explicit_only", [w, w, f, f, f, w, f], [1, 0, 0, 0, 0, 0]),
        ("two_explicit", [f, w, f, w, w, f, w], [1, 2, 1, 1, 0, 0]),
        ("most", [f, f, f, w, f, f, w], [0, 0, 0, 0, 0, 0]),
        ("three", [f, f, w, w, w, f, f], [1, 1, 3, 1, 0, 0]),
        ("one", [f, f, w, w, f, f, w], [0, 1, 1, 1, 0, 0]),
    ] {
        let function = kernels.get(name);
        assert_eq!(get(function), said, "{name}");
        for ((grid, cluster), expected) in asked.into_iter().zip(expected) {
            assert_eq!(kernels.launch(function, grid, cluster).0, expected, "{name} {grid:?} {cluster:?}");
        }
        // Simple launches have no attributes.
        for (grid, expected) in
            [(even, expected[0]), ([11, 2, 1], if name == "three" { w } else { expected[1] })]
        {
            let mut out = 0u64;
            let mut params = [(&raw mut out).cast::<c_void>()];
            let [x, y, z] = grid;
            let answer = code!(cuLaunchKernel(
                function,
                x,
                y,
                z,
                32,
                1,
                1,
                0,
                CUstream::null(),
                params.as_mut_ptr(),
                null_mut()
            ));
            assert_eq!(answer, expected, "{name} {grid:?}");
        }
    }
    let (_, words) = kernels.launch(kernels.get("two"), even, None);
    assert_eq!(words[..3], [36, 36, 0]);
}

#[test]
fn attributes_of_kernels_about_clusters_are_set_as_on_an_h100() {
    use CUfunction_attribute as A;

    let kernels = Kernels::new();
    for name in ["plain", "two"] {
        let function = kernels.get(name);
        for (attribute, value, expected) in [
            (A::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1, FINE),
            (A::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 2, FINE),
            (A::CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET, 1, INVALID),
            (A::CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, 1, FINE),
            (A::CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, 9, INVALID),
        ] {
            assert_eq!(set(function, attribute, value), expected, "{name} {attribute:?} {value}");
        }
        assert_eq!(get(function)[4..], [1, 1], "{name}");
    }
    let plain = kernels.get("plain");
    for (size, expected) in [(8, FINE), (9, FINE), (16, FINE), (17, WRONG_SIZE), (32, WRONG_SIZE)] {
        let (answer, words) = kernels.launch(plain, [size * 2, 1, 1], Some([size, 1, 1]));
        assert_eq!(answer, expected, "{size}");
        assert!(
            answer != FINE || words[..size as usize].iter().all(|word| *word == size * 2),
            "{size}: {words:?}"
        );
    }
    assert_eq!(set(plain, A::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 0), FINE);
    assert_eq!(set(plain, A::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 4), FINE);
    assert_eq!(get(plain), [0, 4, 0, 0, 0, 1]);
    assert_eq!(set(plain, A::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, 1), FINE);
    assert_eq!(set(plain, A::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, 1), FINE);
    assert_eq!(set(plain, A::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, -1), INVALID);
    assert_eq!(get(plain), [0, 4, 1, 1, 0, 1]);
    assert_eq!(
        kernels.launch(plain, [8, 1, 1], None),
        (FINE, core::array::from_fn(|at| if at < 4 { 8 } else { 0 }))
    );
    assert_eq!(kernels.launch(plain, [6, 1, 1], None).0, WRONG_SIZE);
    assert_eq!(kernels.launch(plain, [8, 1, 1], Some([2, 1, 1])).0, WRONG_SIZE);
    let two = kernels.get("two");
    assert_eq!(set(two, A::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 4), INVALID);
    assert_eq!(set(two, A::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, 1), FINE);
}

#[test]
fn questions_about_clusters_are_answered_as_by_an_h100() {
    let kernels = Kernels::new();
    let ask = |function: CUfunction, grid: [u32; 3], cluster: Option<u32>| {
        let mut attributes = attributes(cluster.map(|size| [size, 1, 1]));
        let config = config(grid, 32, &mut attributes);
        let (mut active, mut size) = (-7, -7);
        let active_answer = code!(cuOccupancyMaxActiveClusters(&mut active, function, &config));
        let size_answer = code!(cuOccupancyMaxPotentialClusterSize(&mut size, function, &config));
        ((active_answer, active), (size_answer, size))
    };
    let refused = ((WRONG_SIZE, -7), (WRONG_SIZE, -7));
    let [plain, two, most] = ["plain", "two", "most"].map(|name| kernels.get(name));
    let mut multiprocessors = 0;
    let count = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
    ok!(cuDeviceGetAttribute(&mut multiprocessors, count, 0));
    // 132 multiprocessors hold 1056 clusters of one block, 528 of two; 0 by default.
    let active = |size: i32| (8 * multiprocessors / size).max(1);
    for (function, cluster, expected) in [
        (plain, None, ((FINE, 0), (FINE, 8))),
        (plain, Some(1), ((FINE, active(1)), (FINE, 8))),
        (plain, Some(2), ((FINE, active(2)), (FINE, 8))),
        (plain, Some(8), ((FINE, active(8)), (FINE, 8))),
        (plain, Some(9), refused),
        (two, None, ((FINE, active(2)), (FINE, 8))),
        (two, Some(2), ((FINE, active(2)), (FINE, 8))),
        (two, Some(1), refused),
        (two, Some(4), refused),
        (most, None, ((FINE, 0), (FINE, 8))),
        (most, Some(2), ((FINE, active(2)), (FINE, 8))),
        (most, Some(4), refused),
    ] {
        assert_eq!(ask(function, [72, 1, 1], cluster), expected, "{cluster:?}");
    }
    assert_eq!(ask(plain, [3, 1, 1], Some(2)), refused);
    assert_eq!(ask(plain, [0, 1, 1], Some(2)), ((INVALID, -7), (INVALID, -7)));
    let not_portable = CUfunction_attribute::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED;
    assert_eq!(set(plain, not_portable, 1), FINE);
    assert_eq!(ask(plain, [32, 1, 1], Some(16)), ((FINE, active(16)), (FINE, 16)));
    assert_eq!(ask(plain, [34, 1, 1], Some(17)), ((FINE, active(17)), (FINE, 16)));
    let empty = CUlaunchConfig::zeroed();
    assert_eq!(code!(cuOccupancyMaxActiveClusters(null_mut(), plain, &empty)), INVALID);
    assert_eq!(code!(cuOccupancyMaxActiveClusters(&mut multiprocessors, plain, core::ptr::null())), INVALID);
    let mut has = 0;
    ok!(cuDeviceGetAttribute(&mut has, CUdevice_attribute::CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, 0));
    assert_eq!(has, 1);
}

#[test]
fn nodes_of_graphs_have_clusters() {
    const ID: CUlaunchAttributeID = CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;

    let kernels = Kernels::new();
    ok!(cuMemsetD8_v2(kernels.out, 0, 64));
    let mut out = kernels.out;
    let mut params = [(&raw mut out).cast::<c_void>()];
    let (mut graph, mut node) = (CUgraph::null(), CUgraphNode::null());
    ok!(cuGraphCreate(&mut graph, 0));
    let mut launch = CUDA_KERNEL_NODE_PARAMS_v1::zeroed();
    launch.func = kernels.get("plain");
    launch.gridDimX = 4;
    [launch.gridDimY, launch.gridDimZ, launch.blockDimX, launch.blockDimY, launch.blockDimZ] = [1; 5];
    launch.kernelParams = params.as_mut_ptr();
    ok!(cuGraphAddKernelNode(&mut node, graph, core::ptr::null(), 0, &launch));
    let [two, three] = [2, 3].map(|size| attributes(Some([size, 1, 1]))[0].value);
    ok!(cuGraphKernelNodeSetAttribute(node, ID, &two));
    assert_eq!(code!(cuGraphKernelNodeSetAttribute(node, ID, &three)), WRONG_SIZE);
    let mut found = CUlaunchAttributeValue::zeroed();
    ok!(cuGraphKernelNodeGetAttribute(node, ID, &mut found));
    // SAFETY: the member that was set.
    let found = unsafe { found.clusterDim };
    assert_eq!([found.x, found.y, found.z], [2, 1, 1]);
    // The same by capture, after it.
    let (mut stream, mut captured) = (CUstream::null(), CUgraph::null());
    ok!(cuStreamCreate(&mut stream, 1));
    ok!(cuStreamBeginCapture_v2(stream, CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED));
    let mut four = attributes(Some([4, 1, 1]));
    let config = CUlaunchConfig { hStream: stream, ..config([4, 1, 1], 1, &mut four) };
    ok!(cuLaunchKernelEx(&config, launch.func, params.as_mut_ptr(), null_mut()));
    ok!(cuStreamEndCapture(stream, &mut captured));
    for graph in [graph, captured] {
        let mut exec = CUgraphExec::null();
        ok!(cuGraphInstantiateWithFlags(&mut exec, graph, 0));
        ok!(cuGraphLaunch(exec, stream));
        ok!(cuStreamSynchronize(stream));
    }
    let mut words = [0u32; 16];
    ok!(cuMemcpyDtoH_v2(words.as_mut_ptr().cast(), kernels.out, 64));
    // Two clusters of two blocks, each reached by two threads, and one cluster of four.
    assert_eq!(words[..5], [2 * 2 + 4, 2 * 2 + 4, 4, 4, 0]);
}
