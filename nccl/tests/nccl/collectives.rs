//! Each collective, compared with sums on the host.

use std::fmt::Debug;

use cuprum::memory::{Slice, SliceMut};
use cuprum::stream::{Lent, Scope};
use cuprum::{AnyError, Buffer, Current, Stream};
use cuprum_nccl::{Communicator, Config, Element, NcclError, Reduction};

use crate::support::{Failure, on_threads, one_group};

/// Elements of a member.
fn input<T: From<u8>>(rank: u32, len: usize) -> Vec<T> {
    (0..len).map(|at| T::from(((at * 3 + rank as usize * 5) % 7 + 1) as u8)).collect()
}

type Loans<'a, 'scope, 'v, T> = (&'a Lent<'scope, SliceMut<'v, T>>, &'a Lent<'scope, Slice<'v, T>>);

/// Runs one collective and returns the memory of each member after it.
fn run<T: Element + From<u8> + Debug>(
    size: u32,
    (to_len, from_len): (usize, usize),
    call: impl for<'scope> Fn(
        &'scope Communicator,
        &Scope<'scope, '_>,
        Loans<'_, 'scope, '_, T>,
    ) -> Result<(), NcclError>
    + Sync,
) -> Result<Vec<Vec<T>>, Failure> {
    on_threads(size, Config::default(), |member, cx| {
        let from = Buffer::from_slice(cx, &input::<T>(member.rank(), from_len))?;
        let mut to = Buffer::from_slice(cx, &vec![T::from(0); to_len])?;
        let stream = Stream::non_blocking(cx)?;
        cx.scope(&stream, |scope| {
            let (to, from) = (scope.lend(&mut to)?, scope.lend(&from)?);
            Ok(call(member, scope, (&to, &from))?)
        })?;
        member.check()?;
        Ok(to.to_vec(cx)?)
    })
}

fn reduced<T: From<u8> + Copy>(size: u32, len: usize, by: impl Fn(T, T) -> T) -> Vec<T> {
    let all: Vec<Vec<T>> = (0..size).map(|rank| input(rank, len)).collect();
    (0..len).map(|at| all.iter().map(|one| one[at]).reduce(&by).unwrap_or(T::from(0))).collect()
}

macro_rules! of_each_type {
    ($($name:ident: $type:ty, $add:expr, $multiply:expr;)*) => { $(
        #[test]
        fn $name() -> Result<(), Failure> {
            for size in [2, 3, 8] {
                for (by, expected) in [
                    (0, reduced::<$type>(size, 100, $add)),
                    (1, reduced::<$type>(size, 100, $multiply)),
                    (2, reduced::<$type>(size, 100, |a, b| if a > b { a } else { b })),
                    (3, reduced::<$type>(size, 100, |a, b| if a < b { a } else { b })),
                ] {
                    let all = run::<$type>(size, (100, 100), |member, scope, (to, from)| {
                        let by = [Reduction::Sum, Reduction::Product, Reduction::Max, Reduction::Min][by];
                        member.all_reduce(scope, to, from, by)
                    })?;
                    assert_eq!(all, vec![expected; size as usize], "{size} members");
                }
            }
            Ok(())
        }
    )* };
}

of_each_type! {
    reduces_f32: f32, |a, b| a + b, |a, b| a * b;
    reduces_f64: f64, |a, b| a + b, |a, b| a * b;
    reduces_u8: u8, u8::wrapping_add, u8::wrapping_mul;
    reduces_i32: i32, i32::wrapping_add, i32::wrapping_mul;
    reduces_u32: u32, u32::wrapping_add, u32::wrapping_mul;
    reduces_i64: i64, i64::wrapping_add, i64::wrapping_mul;
    reduces_u64: u64, u64::wrapping_add, u64::wrapping_mul;
}

#[test]
fn reduces_i8_and_averages() -> Result<(), Failure> {
    let numbers = |rank: u32| [rank as i8 - 3, -100, 100];
    let all = on_threads(3, Config::default(), |member, cx| {
        let (stream, mut sums) = (Stream::new(cx)?, Buffer::from_slice(cx, &numbers(member.rank()))?);
        let mut averages = Buffer::from_slice(cx, &[member.rank() as f32; 5])?;
        cx.scope(&stream, |scope| {
            let (sums, averages) = (scope.lend(&mut sums)?, scope.lend(&mut averages)?);
            // In place.
            member.all_reduce(scope, &sums, &sums, Reduction::Sum)?;
            Ok(member.all_reduce(scope, &averages, &averages, Reduction::Average)?)
        })?;
        Ok((sums.to_vec(cx)?, averages.to_vec(cx)?))
    })?;
    for (sums, averages) in all {
        assert_eq!(sums, [-6, (-300i32) as i8, 300i32 as i8]);
        assert_eq!(averages, [1.0; 5]);
    }
    Ok(())
}

#[cfg(feature = "half")]
#[test]
fn reduces_half_precision() -> Result<(), Failure> {
    use half::{bf16, f16};
    let all = on_threads(2, Config::default(), |member, cx| {
        let x = [0.1, 1000.5, -3.0e-5].map(|x| x * (member.rank() + 1) as f32);
        let (stream, mut a) = (Stream::new(cx)?, Buffer::from_slice(cx, &x.map(f16::from_f32))?);
        let mut b = Buffer::from_slice(cx, &x.map(bf16::from_f32))?;
        cx.scope(&stream, |scope| {
            let (a, b) = (scope.lend(&mut a)?, scope.lend(&mut b)?);
            member.all_reduce(scope, &a, &a, Reduction::Sum)?;
            Ok(member.all_reduce(scope, &b, &b, Reduction::Sum)?)
        })?;
        Ok((a.to_vec(cx)?, b.to_vec(cx)?))
    })?;
    for (a, b) in all {
        for (at, x) in [0.1f32, 1000.5, -3.0e-5].into_iter().enumerate() {
            assert_eq!(a[at], f16::from_f32(x) + f16::from_f32(2.0 * x));
            assert_eq!(b[at], bf16::from_f32(x) + bf16::from_f32(2.0 * x));
        }
    }
    Ok(())
}

#[test]
fn reduces_to_one_member() -> Result<(), Failure> {
    let all = run::<u32>(4, (10, 10), |member, scope, (to, from)| {
        member.reduce(scope, to, from, Reduction::Sum, 2)
    })?;
    for (rank, found) in all.into_iter().enumerate() {
        let expected = if rank == 2 { reduced(4, 10, |a, b| a + b) } else { vec![0; 10] };
        assert_eq!(found, expected, "member {rank}");
    }
    Ok(())
}

#[test]
fn broadcasts() -> Result<(), Failure> {
    let all = run::<u64>(5, (9, 9), |member, scope, (to, from)| member.broadcast(scope, to, from, 3))?;
    assert_eq!(all, vec![input::<u64>(3, 9); 5]);
    Ok(())
}

#[test]
fn gathers() -> Result<(), Failure> {
    let all = run::<f64>(4, (28, 7), |member, scope, (to, from)| member.all_gather(scope, to, from))?;
    let expected: Vec<f64> = (0..4).flat_map(|rank| input(rank, 7)).collect();
    assert_eq!(all, vec![expected; 4]);
    Ok(())
}

#[test]
fn reduces_and_scatters() -> Result<(), Failure> {
    let all = run::<i32>(4, (5, 20), |member, scope, (to, from)| {
        member.reduce_scatter(scope, to, from, Reduction::Max)
    })?;
    let expected = reduced::<i32>(4, 20, i32::max);
    assert_eq!(all.concat(), expected);
    Ok(())
}

#[test]
fn exchanges_all_to_all() -> Result<(), Failure> {
    let all = run::<u32>(3, (12, 12), |member, scope, (to, from)| member.all_to_all(scope, to, from))?;
    for (rank, found) in all.into_iter().enumerate() {
        let expected: Vec<u32> =
            (0..3).flat_map(|from| input(from, 12)[rank * 4..rank * 4 + 4].to_vec()).collect();
        assert_eq!(found, expected, "member {rank}");
    }
    Ok(())
}

#[test]
fn sends_around_a_ring_in_a_group() -> Result<(), Failure> {
    let all = run::<u32>(4, (6, 6), |member, scope, (to, from)| {
        let (next, last) = ((member.rank() + 1) % 4, (member.rank() + 3) % 4);
        member.nccl().group(|group| {
            let on = group.on(scope);
            member.send(&on, from, next)?;
            member.receive(&on, to, last)
        })
    })?;
    for (rank, found) in (0..).zip(all) {
        assert_eq!(found, input::<u32>((rank + 3) % 4, 6), "member {rank}");
    }
    Ok(())
}

#[test]
fn multiplies_before_it_sums() -> Result<(), Failure> {
    let all = on_threads(3, Config::default(), |member, cx| {
        let factor = member.premultiplied_sum(member.rank() as f32 + 0.5)?;
        let (stream, mut numbers) = (Stream::new(cx)?, Buffer::from_slice(cx, &[2.0f32, 4.0])?);
        cx.scope(&stream, |scope| {
            let numbers = scope.lend(&mut numbers)?;
            Ok(member.all_reduce(scope, &numbers, &numbers, Reduction::Premultiplied(&factor))?)
        })?;
        Ok(numbers.to_vec(cx)?)
    })?;
    assert_eq!(all, vec![vec![9.0, 18.0]; 3]);
    Ok(())
}

/// Work on both sides of a collective is in its order, on one stream and on several.
#[test]
fn is_in_the_order_of_the_stream() -> Result<(), Failure> {
    let all = on_threads(2, Config::default(), |member, cx| {
        let (one, two) = (Stream::non_blocking(cx)?, Stream::non_blocking(cx)?);
        let (mut a, mut b) = (Buffer::<u32>::zeroed(cx, 1000)?, Buffer::<u32>::zeroed(cx, 1000)?);
        cx.multi_scope(|scope| {
            let (one, two) = (scope.on(&one)?, scope.on(&two)?);
            let (a, b) = (one.lend(&mut a)?, two.lend(&mut b)?);
            for round in 1..=5 {
                one.fill(&a, round)?;
                two.fill(&b, 10 * round)?;
                member.all_reduce(&one, &a, &a, Reduction::Sum)?;
                member.all_reduce(&two, &b, &b, Reduction::Max)?;
            }
            // A loan of one stream is refused on the other.
            let refused = member.all_reduce(&one, &b, &b, Reduction::Sum);
            assert!(matches!(refused, Err(NcclError::Elsewhere(_))), "{refused:?}");
            Ok(())
        })?;
        Ok((a.to_vec(cx)?, b.to_vec(cx)?))
    })?;
    for (a, b) in all {
        assert_eq!((a, b), (vec![10; 1000], vec![50; 1000]));
    }
    Ok(())
}

#[test]
fn wrong_lengths_and_members_are_refused_on_the_host() -> Result<(), Failure> {
    on_threads(2, Config::default(), |member, cx| {
        let (stream, three, mut four) =
            (Stream::new(cx)?, Buffer::<u8>::zeroed(cx, 3)?, Buffer::<u8>::zeroed(cx, 4)?);
        cx.scope(&stream, |scope| {
            let (to, from) = (scope.lend(&mut four)?, scope.lend(&three)?);
            let wrong = [
                member.all_reduce(scope, &to, &from, Reduction::Sum),
                member.reduce(scope, &to, &from, Reduction::Sum, 0),
                member.broadcast(scope, &to, &from, 0),
                member.all_gather(scope, &to, &from),
                member.reduce_scatter(scope, &to, &from, Reduction::Sum),
                member.all_to_all(scope, &to, &from),
            ];
            for (at, refused) in wrong.into_iter().enumerate() {
                assert!(matches!(refused, Err(NcclError::Length { .. })), "{at}: {refused:?}");
            }
            let no_member = NcclError::NoMember { rank: 2, size: 2 };
            assert_eq!(member.send(scope, &from, 2), Err(no_member.clone()));
            assert_eq!(member.receive(scope, &to, 2), Err(no_member.clone()));
            assert_eq!(member.broadcast(scope, &to, &to, 2), Err(no_member.clone()));
            assert_eq!(member.reduce(scope, &to, &to, Reduction::Sum, 2), Err(no_member));
            Ok(())
        })?;
        Ok(())
    })?;
    Ok(())
}

/// One thread for two devices, whose scopes are nested.
#[test]
fn one_thread_serves_two_members() -> Result<(), Failure> {
    let _one = one_group();
    use crate::support::{device, nccl};
    let (nccl, first, second) = (nccl()?, device(0)?, device(1)?);
    let work = |cx: &mut Current<'_, 'static>, value: f32| -> Result<_, AnyError> {
        Ok((Stream::new(cx)?, Buffer::from_slice(cx, &[value; 4])?))
    };
    let (a_stream, mut a_numbers) = first.enter(|cx| work(cx, 1.0))?;
    let (b_stream, mut b_numbers) = second.enter(|cx| work(cx, 2.0))?;
    let members = Communicator::init_all(nccl, &[first.clone(), second.clone()])?;
    let [one, two] = &members[..] else { return Err("two members".into()) };
    first.enter(|cx| {
        cx.scope(&a_stream, |here| {
            let a = here.lend(&mut a_numbers)?;
            second.enter(|cx| {
                cx.scope(&b_stream, |there| {
                    let b = there.lend(&mut b_numbers)?;
                    Ok(nccl.group(|group| {
                        one.all_reduce(&group.on(here), &a, &a, Reduction::Sum)?;
                        two.all_reduce(&group.on(there), &b, &b, Reduction::Sum)
                    })?)
                })
            })
        })
    })?;
    assert_eq!(first.enter(|cx| Ok(a_numbers.to_vec(cx)?))?, [3.0; 4]);
    assert_eq!(second.enter(|cx| Ok(b_numbers.to_vec(cx)?))?, [3.0; 4]);
    Ok(())
}
