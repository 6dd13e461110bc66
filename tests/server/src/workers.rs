//! The capacity of a server: so many at work, so many in line, the rest refused.

use crate::scenario::Capacity;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::sleep;

/// Workers and their queue. A job that was admitted is done to its end, also when nobody
/// waits for it any more: this is what a storm feeds on.
#[derive(Debug)]
pub(crate) struct Workers {
    count: usize,
    longest: usize,
    line: Mutex<Line>,
}

#[derive(Debug, Default)]
struct Line {
    busy: usize,
    waiting: VecDeque<Job>,
}

#[derive(Debug)]
struct Job {
    service: Duration,
    done: oneshot::Sender<()>,
}

/// Resolves when the job is done, or lost with its server.
pub(crate) type Done = oneshot::Receiver<()>;

impl Workers {
    pub(crate) fn new(capacity: &Capacity) -> Self {
        Self { count: capacity.workers, longest: capacity.queue, line: Mutex::default() }
    }

    /// Takes a job of the length `service`, first come first served; `None` when the
    /// queue is full.
    pub(crate) fn admit(self: &Arc<Self>, service: Duration) -> Option<Done> {
        let (done, receiver) = oneshot::channel();
        let job = Job { service, done };
        let mut line = self.line();
        if line.busy < self.count {
            line.busy += 1;
            tokio::spawn(Arc::clone(self).work(job));
        } else if line.waiting.len() < self.longest {
            line.waiting.push_back(job);
        } else {
            return None;
        }
        Some(receiver)
    }

    /// The server went down: what is in line is lost, what is in hand ends unseen.
    pub(crate) fn on_down(&self) {
        self.line().waiting.clear();
    }

    async fn work(self: Arc<Self>, first: Job) {
        let mut next = Some(first);
        while let Some(job) = next {
            sleep(job.service).await;
            // The client may have gone; the work is done all the same.
            let _ = job.done.send(());
            next = self.next();
        }
    }

    fn next(&self) -> Option<Job> {
        let mut line = self.line();
        let job = line.waiting.pop_front();
        if job.is_none() {
            line.busy -= 1;
        }
        job
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invalid::parse;

    #[tokio::test]
    async fn who_came_first_is_served_first() {
        let capacity = br#"{"workers":1,"service_ms":0,"queue":3}"#;
        let workers = Arc::new(Workers::new(&parse(capacity).expect("a capacity")));
        let jobs = [30, 5, 5, 5].map(|ms| workers.admit(Duration::from_millis(ms)));
        assert!(workers.admit(Duration::ZERO).is_none(), "the queue is full");
        let [first, second, third, mut fourth] = jobs.map(|job| job.expect("room"));
        for job in [first, second, third] {
            job.await.expect("work done");
        }
        assert!(fourth.try_recv().is_err(), "the last in line waits longest");
        fourth.await.expect("work done");
    }

    #[tokio::test]
    async fn a_crash_loses_the_line() {
        let capacity = br#"{"workers":1,"service_ms":0,"queue":1}"#;
        let workers = Arc::new(Workers::new(&parse(capacity).expect("a capacity")));
        let jobs = [5, 5].map(|ms| workers.admit(Duration::from_millis(ms)).expect("room"));
        workers.on_down();
        let [in_hand, in_line] = jobs;
        assert!(in_hand.await.is_ok());
        assert!(in_line.await.is_err());
    }
}
