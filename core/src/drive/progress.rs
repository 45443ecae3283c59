//! Watching and stopping long evaluations.

use core::convert::Infallible;
use core::fmt;
use core::ops::ControlFlow;

/// Why a driver with a progress callback ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped<E = Infallible> {
    /// The callback asked for it.
    Cancelled,
    /// The function failed with this error.
    Function(E),
}

impl<E: fmt::Display> fmt::Display for Stopped<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stopped::Cancelled => f.write_str("the differentiation was cancelled by its progress callback"),
            Stopped::Function(e) => e.fmt(f),
        }
    }
}

impl<E: core::error::Error> core::error::Error for Stopped<E> {}

/// The callback of those who did not ask.
#[inline(always)]
pub(crate) fn carry_on(_: f64) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// The result under [`carry_on`], which never cancels.
#[inline(always)]
pub(crate) fn finished<T, E>(result: Result<T, Stopped<E>>) -> Result<T, E> {
    match result {
        Ok(v) => Ok(v),
        Err(Stopped::Function(e)) => Err(e),
        Err(Stopped::Cancelled) => unreachable!("nobody asked to stop"),
    }
}
