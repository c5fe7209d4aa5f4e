//! Writes OpenGL's buffers directly: a kernel moves the points that OpenGL draws, frame by frame,
//! without a copy through the host. One guard maps several buffers at once.
//!
//! The example creates an OpenGL context without a window; a program uses its own. Exits with code
//! 77 without OpenGL. The software device uses the machine's OpenGL, such as Mesa's, and copies
//! mapped buffers.

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("no OpenGL: this example makes its context by EGL, on Linux");
    std::process::exit(77);
}

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    use cuprum::context::PrimaryContext;
    use cuprum::graphics::{self, RegisterFlags, RegisteredBuffer};
    use cuprum::sys::{CUGLDeviceList, CUgraphicsMapResourceFlags};
    use cuprum::{Driver, In, InOut, LaunchConfig, Module, Stream};
    use cuprum_testing::egl;

    const POINTS: usize = 1000;
    let gl = egl::Gl::current(false).unwrap_or_else(|missing| {
        println!("no OpenGL: {missing}");
        std::process::exit(77);
    });
    let (library, choice) = cuprum_emulator::open_driver_or_emulator()?;
    println!("{choice}\nOpenGL: {}", gl.renderer());
    // Compute on the device that draws.
    let driver = Driver::init(library)?;
    let device = *graphics::devices(driver, CUGLDeviceList::CU_GL_DEVICE_LIST_ALL)?
        .first()
        .ok_or("OpenGL is on no CUDA device")?;
    let context = PrimaryContext::retain(device)?.share();
    let bytes = |value: f32| value.to_ne_bytes().repeat(POINTS);
    let (heights, speeds) = (gl.buffer(&bytes(10.0)), gl.buffer(&bytes(-2.0)));
    context.enter_as(|cx| {
        let module = Module::load_ptx(cx, include_str!("../kernels/saxpy.ptx"))?;
        let saxpy = module.function("saxpy")?.bind::<(u32, f32, In<f32>, InOut<f32>)>()?;
        let stream = Stream::new(cx)?;
        // SAFETY: OpenGL neither deletes the buffers nor uses them while they are mapped, and stays
        // on this thread.
        let register = |name| unsafe { RegisteredBuffer::new(cx, name, RegisterFlags::empty()) };
        let (mut y, mut v) = (register(heights)?, register(speeds)?);
        v.set_use(cx, CUgraphicsMapResourceFlags::CU_GRAPHICS_MAP_RESOURCE_FLAGS_READ_ONLY)?;
        for frame in 1..=3 {
            let mut mapped = graphics::map(cx, &stream, (&mut y, &mut v))?;
            let (mut y, v) = mapped.views();
            let (config, time) = (LaunchConfig::for_elements(POINTS, 256), 0.5);
            let arguments = (POINTS as u32, time, v.as_slice(cx)?, y.as_mut_slice(cx)?);
            // SAFETY: both have that many elements, and stay mapped until the kernel has run.
            unsafe { saxpy.launch(cx, &stream, config, arguments) }?;
            // Ordered after the kernel, without a wait on the host.
            mapped.unmap(cx)?;
            let seen = gl.read_buffer(heights, 4 * POINTS);
            println!("frame {frame}: OpenGL sees {:?}", f32::from_ne_bytes(seen[..4].try_into()?));
        }
        Ok(())
    })
}
