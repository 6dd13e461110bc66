//! Bodies on their way out.

use crate::body::{LARGEST_CHUNK, Pattern};
use bytes::Bytes;
use http_body_util::{Either, Full};
use hyper::body::{Body, Frame, SizeHint};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::LazyLock;
use std::task::{Context, Poll, ready};
use tokio::time::{Instant, Sleep, sleep_until};

/// The body of any response of this server.
pub(crate) type Flow = Either<Full<Bytes>, PatternFlow>;

/// A body that is in memory already.
pub(crate) fn whole(bytes: impl Into<Bytes>) -> Flow {
    Either::Left(Full::new(bytes.into()))
}

const ALPHABET: &[u8] = b"abcdefghijklmnopqrstuvwxyz";

static LETTERS: LazyLock<Bytes> = LazyLock::new(|| {
    ALPHABET.iter().copied().cycle().take(LARGEST_CHUNK + ALPHABET.len()).collect()
});

/// `length` letters of the repeated alphabet from its letter number `from`.
pub(crate) fn letters(from: u64, length: usize) -> Bytes {
    let start = (from % ALPHABET.len() as u64) as usize;
    LETTERS.slice(start..start + length)
}

/// A [`Pattern`] that is being sent.
pub(crate) struct PatternFlow {
    pattern: Pattern,
    sent: u64,
    pause: Pin<Box<Sleep>>,
}

impl PatternFlow {
    pub(crate) fn new(pattern: Pattern) -> Self {
        let pause = Box::pin(sleep_until(Instant::now()));
        Self { pattern, sent: 0, pause }
    }
}

impl Body for PatternFlow {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let left = self.pattern.bytes - self.sent;
        if left == 0 {
            return Poll::Ready(None);
        }
        if !self.pattern.every.is_zero() {
            ready!(self.pause.as_mut().poll(cx));
            let next = Instant::now() + self.pattern.every;
            self.pause.as_mut().reset(next);
        }
        let length = left.min(self.pattern.chunk as u64);
        let chunk = letters(self.sent, length as usize);
        self.sent += length;
        Poll::Ready(Some(Ok(Frame::data(chunk))))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.pattern.bytes - self.sent)
    }

    fn is_end_stream(&self) -> bool {
        self.sent == self.pattern.bytes
    }
}
