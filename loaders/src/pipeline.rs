//! Processes a sequence in parallel and returns the results in order, with a bounded number of items in progress.
//! Independent of files and formats.

use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::Duration;

/// A result with its number in the sequence, or the panic that occurred instead.
type Done<T, E> = (usize, Result<Result<T, E>, Box<dyn Any + Send>>);

/// Limits for the items between `next` and `consume`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    /// Maximum number of items.
    pub(crate) items: usize,
    /// Maximum sum of their costs. A single item may cost more; it is then processed alone.
    pub(crate) cost: u64,
}

impl Window {
    /// Returns a window of `blocks_per_thread` items for each thread of the current pool, with a total cost of `memory`
    /// bytes.
    pub(crate) fn of(blocks_per_thread: usize, memory: u64) -> Self {
        Self { items: blocks_per_thread.max(1).saturating_mul(rayon::current_num_threads()), cost: memory }
    }
}

/// Takes items from `next` on the calling thread, runs `work` on them on the current rayon pool, and passes the results
/// to `consume` on the calling thread, in the order of the items. `limit` bounds the items in progress; `cost` returns
/// the cost of an item.
///
/// The first error in the order of the items ends processing, whether it comes from `next`, `work` or `consume`. Later
/// items are not consumed.
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
                    // Sending fails only if the call is already returning an error.
                    let _ = sender.send((number, done));
                }
            });
        };
        let mut under_way = UnderWay { limit, first: 0, items: VecDeque::new(), cost: 0 };
        let mut end = None; // set once `next` has ended; an error is returned after all earlier items are consumed
        let mut waiting = None; // an item that does not fit yet
        loop {
            // Start as many items as the window has room for.
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
            // Wait for one result; it may also release finished items behind it.
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

/// The items between `next` and `consume`, in order.
struct UnderWay<R> {
    limit: Window,
    /// The number of the item to consume next.
    first: usize,
    /// Cost of each item, and its result if it is finished.
    items: VecDeque<(u64, Option<R>)>,
    /// The sum of the costs.
    cost: u64,
}

impl<R> UnderWay<R> {
    fn is_full(&self) -> bool {
        self.items.len() >= self.limit.items.max(1)
    }

    /// Returns whether an item of this cost may enter. If no item is in progress, any may.
    fn has_room(&self, cost: u64) -> bool {
        self.items.is_empty() || self.cost.saturating_add(cost) <= self.limit.cost
    }

    /// Adds an item and returns its number.
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

    /// Removes the first item and returns its result, if it is finished.
    fn leave(&mut self) -> Option<R> {
        let result = self.items.front_mut()?.1.take()?;
        self.first += 1;
        self.cost = self.cost.saturating_sub(self.items.pop_front().map_or(0, |(cost, _)| cost));
        Some(result)
    }
}

/// Waits for a result. A thread of the pool helps with the work meanwhile, because it may be the only thread.
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
                        // An item that costs more than the limit runs alone.
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
