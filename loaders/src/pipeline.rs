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
    let stop = AtomicBool::new(false);
    let (sender, receiver) = channel::<Done<T, E>>();
    rayon::in_place_scope(|scope| {
        let start = |number: usize, item: I| {
            let (sender, stop, work) = (sender.clone(), &stop, &work);
            scope.spawn(move |_| {
                if !stop.load(Ordering::Relaxed) {
                    let done = catch_unwind(AssertUnwindSafe(|| work(item)));
                    // Nobody listens any more only if the call is already ending with an error.
                    let _ = sender.send((number, done));
                }
            });
        };
        let mut under_way = UnderWay { limit, first: 0, items: VecDeque::new(), cost: 0 };
        let mut end = None; // `next` has ended: well, or with an error that is due when all before it is consumed
        let mut waiting = None; // an item that there is no room for yet
        loop {
            // As many as there is room for begin.
            while !under_way.is_full() && (end.is_none() || waiting.is_some()) {
                match waiting.take().map(Ok).or_else(&mut next) {
                    Some(Ok(item)) if !under_way.has_room(cost(&item)) => {
                        waiting = Some(item);
                        break;
                    }
                    Some(Ok(item)) => start(under_way.enter(cost(&item)), item),
                    Some(Err(error)) => end = Some(Err(error)),
                    None => end = Some(Ok(())),
                }
            }
            if under_way.items.is_empty() {
                return end.unwrap_or(Ok(()));
            }
            // One ends, and with it perhaps the wait of some behind it.
            let (number, done) = receive(&receiver);
            let done = done.unwrap_or_else(|panic| {
                stop.store(true, Ordering::Relaxed);
                resume_unwind(panic)
            });
            under_way.done(number, done);
            while let Some(done) = under_way.leave() {
                if let Err(error) = done.and_then(&mut consume) {
                    stop.store(true, Ordering::Relaxed);
                    return Err(error);
                }
            }
        }
    })
}

/// What is between `next` and `consume`, in order.
struct UnderWay<R> {
    limit: Window,
    /// The number of the item that is to be consumed next.
    first: usize,
    /// The cost of each, and its result once it is there.
    items: VecDeque<(u64, Option<R>)>,
    /// The sum of the costs.
    cost: u64,
}

impl<R> UnderWay<R> {
    fn is_full(&self) -> bool {
        self.items.len() >= self.limit.items.max(1)
    }

    /// Whether an item of this cost may enter; alone, any may.
    fn has_room(&self, cost: u64) -> bool {
        self.items.is_empty() || self.cost.saturating_add(cost) <= self.limit.cost
    }

    /// Takes an item in; its number.
    fn enter(&mut self, cost: u64) -> usize {
        self.cost = self.cost.saturating_add(cost);
        self.items.push_back((cost, None));
        self.first + self.items.len() - 1
    }

    fn done(&mut self, number: usize, result: R) {
        if let Some((_, place)) = self.items.get_mut(number - self.first) {
            *place = Some(result);
        }
    }

    /// The result of the first item, once it is there.
    fn leave(&mut self) -> Option<R> {
        let result = self.items.front_mut()?.1.take()?;
        self.first += 1;
        self.cost = self.cost.saturating_sub(self.items.pop_front().map_or(0, |(cost, _)| cost));
        Some(result)
    }
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
