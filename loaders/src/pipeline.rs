//! Works on a sequence in parallel and gives the results back in its order, a bounded number at a time.
//! Knows nothing of files.

use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::Duration;

/// A result with its number in the sequence, or the panic that was met instead.
type Done<T, E> = (usize, Result<Result<T, E>, Box<dyn Any + Send>>);

/// How much may be between `next` and `consume`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    /// Items.
    pub(crate) items: usize,
    /// What all their costs add up to; a single item may cost more, and is alone then.
    pub(crate) cost: u64,
}

impl Window {
    /// So many blocks a thread of the current pool, which take so much memory together.
    pub(crate) fn of(blocks_per_thread: usize, memory: u64) -> Self {
        Self { items: blocks_per_thread.max(1).saturating_mul(rayon::current_num_threads()), cost: memory }
    }
}

/// Takes items from `next` on the calling thread, runs `work` on them on the current rayon pool and `consume` on the
/// calling thread, in the order of the items. No more is under way at any time than `limit` says; `cost` says what an
/// item takes there.
///
/// The first error in the order of the items ends it, whichever side it is from; nothing behind it is consumed.
pub(crate) fn ordered<I, T, E>(
    limit: Window,
    mut next: impl FnMut() -> Option<Result<I, E>>,
    cost: impl Fn(&I) -> u64,
    work: impl Fn(I) -> Result<T, E> + Sync,
    mut consume: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E>
where
    I: Send,
    T: Send,
    E: Send,
{
    let most = limit.items.max(1);
    let stop = AtomicBool::new(false);
    let (sender, receiver) = channel::<Done<T, E>>();
    rayon::in_place_scope(|scope| {
        let mut outcome = Ok(());
        let mut last = None; // what `next` failed with; due when all before it is consumed
        let mut open = true;
        let mut first = 0; // number of the item that is to be consumed next
        let mut window: VecDeque<Option<Result<T, E>>> = VecDeque::new();
        let mut costs: VecDeque<u64> = VecDeque::new(); // of what is in the window
        let mut under_way = 0_u64;
        let mut waiting = None; // an item that the window has no room for yet
        loop {
            while (open || waiting.is_some()) && window.len() < most {
                match waiting.take().map(Ok).or_else(&mut next) {
                    Some(Ok(item)) => {
                        let cost = cost(&item);
                        if !window.is_empty() && under_way.saturating_add(cost) > limit.cost {
                            waiting = Some(item);
                            break;
                        }
                        under_way = under_way.saturating_add(cost);
                        costs.push_back(cost);
                        let number = first + window.len();
                        window.push_back(None);
                        let (sender, stop, work) = (sender.clone(), &stop, &work);
                        scope.spawn(move |_| {
                            if !stop.load(Ordering::Relaxed) {
                                let done = catch_unwind(AssertUnwindSafe(|| work(item)));
                                // Nobody listens any more only if the call is already ending with an error.
                                let _ = sender.send((number, done));
                            }
                        });
                    }
                    Some(Err(error)) => {
                        last = Some(error);
                        open = false;
                    }
                    None => open = false,
                }
            }
            if window.is_empty() {
                break;
            }
            let (number, done) = receive(&receiver);
            let done = done.unwrap_or_else(|panic| {
                stop.store(true, Ordering::Relaxed);
                resume_unwind(panic)
            });
            if let Some(slot) = window.get_mut(number - first) {
                *slot = Some(done);
            }
            while let Some(Some(_)) = window.front() {
                let Some(Some(done)) = window.pop_front() else { break };
                first += 1;
                under_way = under_way.saturating_sub(costs.pop_front().unwrap_or(0));
                outcome = done.and_then(&mut consume);
                if outcome.is_err() {
                    stop.store(true, Ordering::Relaxed);
                    return outcome;
                }
            }
        }
        match last {
            Some(error) => Err(error),
            None => outcome,
        }
    })
}

/// Waits for a result. A thread of the pool helps with the work meanwhile: it may be the only one.
fn receive<M>(receiver: &Receiver<M>) -> M {
    loop {
        match receiver.try_recv() {
            Ok(message) => return message,
            Err(TryRecvError::Empty) => {}
            Err(TryRecvError::Disconnected) => unreachable!("the caller keeps a sender"),
        }
        let pause = match rayon::yield_now() {
            Some(rayon::Yield::Executed) => continue,
            Some(rayon::Yield::Idle) => Duration::from_millis(1),
            None => Duration::from_secs(3600),
        };
        if let Ok(message) = receiver.recv_timeout(pause) {
            return message;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    fn pool(threads: usize) -> rayon::ThreadPool {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
    }

    const WIDE: u64 = u64::MAX;

    fn window(items: usize) -> Window {
        Window { items, cost: WIDE }
    }

    fn squares(limit: usize) -> Vec<usize> {
        let mut items = 0..1000;
        let mut got = Vec::new();
        let in_flight = AtomicUsize::new(0);
        ordered(
            window(limit),
            || {
                assert!(in_flight.fetch_add(1, Ordering::SeqCst) < limit + 1);
                items.next().map(Ok)
            },
            |_| 1,
            |n: usize| {
                if n.is_multiple_of(7) {
                    std::thread::yield_now();
                }
                Ok::<_, ()>(n * n)
            },
            |n| {
                in_flight.fetch_sub(1, Ordering::SeqCst);
                got.push(n);
                Ok(())
            },
        )
        .unwrap();
        got
    }

    #[test]
    fn keeps_the_order_on_any_number_of_threads() {
        let expected: Vec<_> = (0..1000).map(|n| n * n).collect();
        assert_eq!(squares(5), expected);
        for threads in [1, 2, 5] {
            assert_eq!(pool(threads).install(|| squares(8)), expected);
            assert_eq!(pool(threads).install(|| squares(1)), expected);
        }
    }

    #[test]
    fn no_more_is_under_way_than_the_costs_allow() {
        for threads in [1, 3] {
            let (under_way, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let (mut items, mut got) = (0..200_usize, Vec::new());
            let cost = |n: &usize| if n.is_multiple_of(50) { 100 } else { 3 };
            pool(threads).install(|| {
                ordered(
                    Window { items: 64, cost: 10 },
                    || items.next().map(Ok),
                    cost,
                    |n| {
                        // What costs more than there is runs alone.
                        let now = under_way.fetch_add(cost(&n) as usize, Ordering::SeqCst) + cost(&n) as usize;
                        most.fetch_max(now, Ordering::SeqCst);
                        std::thread::yield_now();
                        under_way.fetch_sub(cost(&n) as usize, Ordering::SeqCst);
                        Ok::<_, ()>(n)
                    },
                    |n| {
                        got.push(n);
                        Ok(())
                    },
                )
                .unwrap();
            });
            assert_eq!(got, (0..200).collect::<Vec<_>>());
            assert!((100..=100).contains(&most.load(Ordering::SeqCst)));
        }
    }

    #[test]
    fn the_first_error_in_order_ends_it() {
        for threads in [1, 3] {
            let mut items = 0..100;
            let mut seen = 0;
            let result = pool(threads).install(|| {
                ordered(
                    window(10),
                    || items.next().map(|n| if n == 50 { Err(50) } else { Ok(n) }),
                    |_| 1,
                    |n| if n == 20 || n == 23 { Err(n) } else { Ok(n) },
                    |_| {
                        seen += 1;
                        Ok(())
                    },
                )
            });
            assert_eq!(result, Err(20));
            assert_eq!(seen, 20);
        }
    }

    #[test]
    fn errors_of_both_ends_come_after_what_is_before_them() {
        let mut items = 0..100;
        let mut seen = 0;
        let result = ordered(
            window(10),
            || items.next().map(|n| if n == 50 { Err("next") } else { Ok(n) }),
            |_| 1,
            Ok,
            |_| {
                seen += 1;
                Ok(())
            },
        );
        assert_eq!((result, seen), (Err("next"), 50));
        let mut items = 0..100;
        let consume = |n| if n == 30 { Err("consume") } else { Ok(()) };
        let result = ordered(window(10), || items.next().map(Ok), |_| 1, Ok, consume);
        assert_eq!(result, Err("consume"));
    }

    #[test]
    fn a_panic_reaches_the_caller() {
        let mut items = 0..100;
        let result = catch_unwind(AssertUnwindSafe(|| {
            let work = |n| if n == 9 { panic!("nine") } else { Ok(n) };
            ordered(window(4), || items.next().map(Ok::<_, ()>), |_| 1, work, |_| Ok(()))
        }));
        assert_eq!(result.unwrap_err().downcast_ref::<&str>(), Some(&"nine"));
    }
}
