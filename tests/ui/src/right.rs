//! The programs about loans with only the wrong line put right: they compile, so that the others
//! fail for their reason. Each function has the name of its program.

#![expect(dead_code, reason = "they are compiled, and not called")]

use std::error::Error;

use cuprum::context::Context;
use cuprum::memory::{
    Array, HostBlock, ManagedBuffer, Mapping, Peer, PinnedBuffer, PinnedFlags, PitchedBuffer, Registered,
};
use cuprum::memory::{Slice, SliceMut};
use cuprum::pool::StreamBuffer;
use cuprum::stream::{Lent, Operations, Request, Scope, Signals};
use cuprum::texture::Texture;
use cuprum::{Buffer, Current, MemoryError, Module, Shared, Stream};

type Done = Result<(), Box<dyn Error>>;

fn array_freed_in_flight(
    cx: &Current<'_, '_>,
    stream: &Stream<'_>,
    array: Array<'_, u8>,
    host: &[u8],
) -> Done {
    cx.scope(stream, |scope| Ok(scope.copy(&scope.lend(&array)?, &HostBlock::new(host, 4)?)?))?;
    drop(array);
    Ok(())
}

fn device_freed_in_flight(
    cx: &Current<'_, '_>,
    stream: &Stream<'_>,
    mut a: Buffer<'_, f32>,
    b: Buffer<'_, f32>,
) -> Done {
    cx.scope(stream, |scope| Ok(scope.copy(&scope.lend(&mut a)?, &scope.lend(&b)?)?))?;
    drop((a, b));
    Ok(())
}

fn device_memory_in_flight(cx: &Current<'_, '_>, stream: &Stream<'_>, buffer: &mut Buffer<'_, f32>) -> Done {
    cx.scope(stream, |scope| Ok(scope.lend(&mut *buffer).map(drop)?))?;
    buffer.to_vec(cx)?;
    Ok(())
}

fn exclusive_loan_cloned(cx: &Current<'_, '_>, stream: &Stream<'_>, buffer: &Buffer<'_, f32>) -> Done {
    let twice = |scope: &Scope<'_, '_>, lent: Lent<'_, Slice<'_, f32>>| {
        let second = lent;
        let _ = format!("{scope:?} {lent:?} {second:?}");
    };
    Ok(cx.scope(stream, |scope| Ok(scope.lend(buffer).map(|lent| twice(scope, lent))?))?)
}

fn host_freed_in_flight(
    cx: &Current<'_, '_>,
    stream: &Stream<'_>,
    buffer: &mut Buffer<'_, f32>,
    host: Vec<f32>,
) -> Done {
    cx.scope(stream, |scope| Ok(scope.copy(&scope.lend(buffer)?, &host)?))?;
    drop(host);
    Ok(())
}

fn host_moved_in_flight(cx: &Current<'_, '_>, stream: &Stream<'_>, buffer: &mut Buffer<'_, f32>) -> Done {
    let host = vec![1.0; 16];
    Ok(cx.scope(stream, |scope| Ok(scope.copy(&scope.lend(buffer)?, &host)?))?)
}

fn host_rows_written_in_flight(
    cx: &Current<'_, '_>,
    stream: &Stream<'_>,
    rows: &mut PitchedBuffer<'_, f32>,
) -> Done {
    let mut host = [0.0; 4];
    cx.scope(stream, |scope| Ok(scope.copy(&scope.lend(rows)?, &HostBlock::new(&host, (2, 2))?)?))?;
    host[0] = 1.0;
    println!("{host:?}");
    Ok(())
}

fn host_written_in_flight(
    cx: &Current<'_, '_>,
    stream: &Stream<'_>,
    buffer: &mut Buffer<'_, f32>,
    host: &mut [f32],
) -> Done {
    cx.scope(stream, |scope| Ok(scope.copy(&scope.lend(buffer)?, &*host)?))?;
    host[0] = 1.0;
    Ok(())
}

fn lent_escapes(cx: &Current<'_, '_>, stream: &Stream<'_>, buffer: &mut Buffer<'_, f32>) -> Done {
    cx.scope(stream, |scope| Ok(scope.lend(buffer).map(drop)?))?;
    Ok(())
}

fn lent_of_other_elements(
    cx: &Current<'_, '_>,
    stream: &Stream<'_>,
    to: &mut Buffer<'_, f32>,
    from: &Buffer<'_, f32>,
) -> Done {
    Ok(cx.scope(stream, |scope| {
        let (to, from) = (scope.lend(to)?, scope.lend(from)?);
        scope.copy(&to, &from)?;
        Ok(scope.read(&mut [0f32; 4], &from)?)
    })?)
}

fn lent_of_two_scopes(
    cx: &Current<'_, '_>,
    stream: &Stream<'_>,
    a: &mut Buffer<'_, u8>,
    b: &mut Buffer<'_, u8>,
) -> Done {
    Ok(cx.scope(stream, |scope| Ok(scope.copy(&scope.lend(a)?, &scope.lend(b)?)?))?)
}

fn lent_to_two_streams(cx: &Current<'_, '_>, streams: &[Stream<'_>; 2], buffer: &Buffer<'_, f32>) -> Done {
    Ok(cx.multi_scope(|scope| {
        scope.on(&streams[0])?.lend(buffer)?;
        Ok(scope.on(&streams[1])?.lend(buffer).map(drop)?)
    })?)
}

fn lent_twice(cx: &Current<'_, '_>, one: &Stream<'_>, two: &Stream<'_>, buffer: &Buffer<'_, f32>) -> Done {
    Ok(cx.scope(one, |outer| {
        let _first = outer.lend(buffer)?;
        cx.scope(two, |inner| Ok(inner.lend(buffer).map(drop)?))
    })?)
}

fn lent_used_now(
    cx: &Current<'_, '_>,
    stream: &Stream<'_>,
    buffer: &mut Buffer<'_, f32>,
    host: &mut [f32],
) -> Done {
    Ok(cx.scope(stream, |scope| {
        let lent = scope.lend(buffer)?;
        Ok(scope.read(host, &lent)?)
    })?)
}

fn local_lent_to_a_lane(cx: &Current<'_, '_>, stream: &Stream<'_>) -> Done {
    let mut host = PinnedBuffer::<u8>::zeroed(cx, 16, PinnedFlags::empty())?;
    cx.multi_scope(|scope| Ok(scope.on(stream)?.lend(&mut host).map(drop)?))?;
    host[0] += 1;
    Ok(())
}

fn managed_host_read_in_flight(
    cx: &Current<'_, '_>,
    stream: &Stream<'_>,
    numbers: &mut ManagedBuffer<'_, u32>,
) -> Done {
    cx.scope(stream, |scope| Ok(scope.fill(&scope.lend(&mut *numbers)?, 7)?))?;
    cx.copy(&mut [0; 4], &*numbers)?;
    Ok(())
}

fn number_written_through_shared_loan<'scope>(
    scope: &Scope<'scope, '_>,
    memory: SliceMut<'scope, u32>,
) -> Result<(), MemoryError> {
    let lent = scope.lend(memory)?;
    let mut operations = Operations::default();
    operations.write(&lent, 0, 1)?;
    scope.operate(&mut operations)
}

fn ordered_lent_to_any_stream(
    cx: &Current<'_, '_>,
    stream: &Stream<'_>,
    mut buffer: StreamBuffer<'_, u32>,
) -> Done {
    cx.scope(stream, |scope| Ok(scope.lend(&mut buffer).map(drop)?))?;
    drop(buffer);
    Ok(())
}

fn peer_memory_written_in_flight(
    cx: &Current<'_, '_>,
    stream: &Stream<'_>,
    mine: &mut Buffer<'_, f32>,
    theirs: &mut Buffer<'_, f32>,
) -> Done {
    cx.scope(stream, |scope| Ok(scope.copy(&scope.lend(mine)?, &scope.lend(Peer(&*theirs))?)?))?;
    theirs.as_mut_slice();
    Ok(())
}

fn pinned_in_flight(
    cx: &Current<'_, '_>,
    stream: &Stream<'_>,
    mut host: PinnedBuffer<'_, f32>,
    buffer: &mut Buffer<'_, f32>,
) -> Done {
    let first = host[0];
    cx.scope(stream, |scope| Ok(scope.copy(&scope.lend(&mut *buffer)?, &host)?))?;
    cx.scope(stream, |scope| Ok(scope.copy(&scope.lend(&mut host)?, &scope.lend(buffer)?)?))?;
    host[0] += first;
    drop(host);
    Ok(())
}

fn request_lent_escapes(
    cx: &Current<'_, '_>,
    stream: &Stream<'_>,
    request: Request<Buffer<'static, f32>>,
) -> Done {
    request
        .submit(cx, stream, |scope, buffer| -> Result<(), MemoryError> { scope.lend(buffer).map(drop) })?
        .wait()?;
    Ok(())
}

fn rows_written_in_flight(
    cx: &Current<'_, '_>,
    stream: &Stream<'_>,
    rows: &mut PitchedBuffer<'_, u8>,
) -> Done {
    cx.scope(stream, |scope| Ok(scope.fill(&scope.lend(&mut *rows)?, 1)?))?;
    rows.as_pitched_mut();
    Ok(())
}

fn send_lent<'scope, 'env>(scope: &'scope Scope<'scope, 'env>, lent: Lent<'scope, SliceMut<'scope, f32>>) {
    let _ = format!("{scope:?} {lent:?}");
}

fn signals_freed_in_flight(cx: &Current<'_, '_>, stream: &Stream<'_>, signals: Signals<'_, u32>) -> Done {
    cx.scope(stream, |scope| Ok(scope.write_value(&scope.lend(&signals)?, 0, 1)?))?;
    Ok(signals.close()?)
}

fn texture_freed_in_flight(cx: &Current<'_, '_>, stream: &Stream<'_>, texture: Texture<'_>) -> Done {
    cx.scope(stream, |scope| Ok(scope.lend(&texture).map(drop)?))?;
    drop(texture);
    Ok(())
}

fn unmapped_in_flight(cx: &Current<'_, '_>, stream: &Stream<'_>, mut mapping: Mapping<'_, f32>) -> Done {
    cx.scope(stream, |scope| Ok(scope.fill(&scope.lend(&mut mapping)?, 1.0)?))?;
    drop(mapping);
    Ok(())
}

fn unregistered_in_flight(
    cx: &Current<'_, '_>,
    stream: &Stream<'_>,
    mut host: Registered<'_, Vec<u8>>,
) -> Done {
    cx.scope(stream, |scope| Ok(scope.lend(&mut host).map(drop)?))?;
    host.unregister()?;
    Ok(())
}

fn view_not_lent(
    cx: &Current<'_, '_>,
    stream: &Stream<'_>,
    to: &mut Buffer<'_, f32>,
    from: &Buffer<'_, f32>,
) -> Done {
    Ok(cx.scope(stream, |scope| Ok(scope.copy(&scope.lend(to)?, &scope.lend(from)?)?))?)
}

fn written_through_shared_loan(
    cx: &Current<'_, '_>,
    stream: &Stream<'_>,
    to: &mut Buffer<'_, f32>,
    from: &Buffer<'_, f32>,
) -> Done {
    Ok(cx.scope(stream, |scope| {
        let (to, from) = (scope.lend(to)?, scope.lend(from)?);
        scope.copy(&to, &from)?;
        Ok(scope.fill(&to, 1.0)?)
    })?)
}

fn default_stream_outlives_context(context: Context) -> Done {
    let kept = context.enter(|cx| Ok(Stream::default_in(cx)))?;
    let made: Buffer<'_, u8> = kept.enter(|cx| Ok(Buffer::alloc(cx, 16)?))?;
    drop((made, kept));
    drop(context);
    Ok(())
}

fn sharing_kernel_outlives_context(context: Context) -> Done {
    let module: Shared<Module<'_>> = context.enter(|cx| Ok(Module::load_ptx(cx, "")?))?.share();
    let kernel = module.kernel::<()>("k")?;
    drop(module);
    drop(kernel);
    drop(context);
    Ok(())
}

fn module_unloaded_under_kernel(module: Module<'_>) -> Done {
    let kernel = module.function("saxpy")?.bind::<(u32,)>()?;
    drop(kernel);
    Ok(module.close()?)
}

fn function_after_sharing_kernel(
    module: &Shared<Module<'static>>,
) -> Result<cuprum::Kernel<'static, (u32,)>, Box<dyn Error>> {
    Ok(module.kernel("k")?)
}

fn attached_token_taken(context: Context) -> Done {
    let context = context.share();
    std::thread::spawn(move || context.attach().is_ok()).join().ok();
    Ok(())
}

fn attached_token_lent(attached: &cuprum::context::Attached) -> &Current<'static, 'static> {
    attached
}
