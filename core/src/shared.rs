//! Values shared between the passes of a driver.
//!
//! A driver that takes its inputs in chunks evaluates the function once for each chunk: at the same values, with other
//! tangents. What an elementary function returns for a value, and its derivatives there, are the same in every pass,
//! so the first pass writes them down in the order of the calls and the later ones read them back. A call is answered
//! from the record only if it is the same function of the same bits; any other is computed, and takes the place of
//! the record. Results are therefore the same to the bit whatever the function does, also where it takes another
//! path in a later pass; only the time differs.
//!
//! The record belongs to the thread and keeps its memory, so that repeated drivers allocate nothing. Drivers inside the
//! function of a driver add their calls to the record of the outer one.

#[cfg(feature = "std")]
use std::cell::{Cell, RefCell};
#[cfg(feature = "std")]
use std::vec::Vec;

/// Calls that are remembered in one pass: 2 MiB.
#[cfg(feature = "std")]
const CAPACITY: usize = 1 << 16;

/// The bits of a value and of the derivative.
pub(crate) type Outcome = [u64; 2];

#[cfg(feature = "std")]
struct Call {
    function: u64,
    argument: u64,
    outcome: Outcome,
}

#[cfg(feature = "std")]
struct Record {
    calls: Vec<Call>,
    /// The next call of this pass.
    next: usize,
}

#[cfg(feature = "std")]
thread_local! {
    static ACTIVE: Cell<bool> = const { Cell::new(false) };
    static RECORD: RefCell<Record> = const { RefCell::new(Record { calls: Vec::new(), next: 0 }) };
}

/// A name for the function of a row of the tables.
pub const fn id(name: &str) -> u64 {
    // FNV-1a.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut k = 0;
    while k < name.len() {
        hash = (hash ^ name.as_bytes()[k] as u64).wrapping_mul(0x100_0000_01b3);
        k += 1;
    }
    hash
}

/// Whether looking up a result is cheaper than computing it.
pub(crate) const fn costly(name: &str) -> bool {
    !matches!(name.as_bytes(), b"recip" | b"sqrt")
}

/// Whether a driver keeps a record.
#[inline(always)]
pub(crate) fn active() -> bool {
    #[cfg(feature = "std")]
    return ACTIVE.get();
    #[cfg(not(feature = "std"))]
    false
}

#[cfg(not(feature = "std"))]
pub(crate) fn outcome(_: u64, _: u64, compute: impl FnOnce() -> Outcome) -> Outcome {
    compute()
}

/// The outcome of `function` at `argument`, from the record or from `compute`.
#[cfg(feature = "std")]
#[inline(always)]
pub(crate) fn outcome(function: u64, argument: u64, compute: impl FnOnce() -> Outcome) -> Outcome {
    let recorded = RECORD.with_borrow_mut(|record| match record.calls.get(record.next) {
        Some(call) if call.function == function && call.argument == argument => {
            record.next += 1;
            Some(call.outcome)
        }
        _ => None,
    });
    match recorded {
        Some(outcome) => outcome,
        None => computed(function, argument, compute),
    }
}

#[cfg(feature = "std")]
#[cold]
#[inline(never)]
fn computed(function: u64, argument: u64, compute: impl FnOnce() -> Outcome) -> Outcome {
    let outcome = compute();
    RECORD.with_borrow_mut(|record| {
        let call = Call { function, argument, outcome };
        match record.calls.get_mut(record.next) {
            Some(slot) => *slot = call,
            None if record.next < CAPACITY => record.calls.push(call),
            None => {}
        }
        record.next += 1;
    });
    outcome
}

/// The passes of one driver; ends the sharing when dropped, also by a panic.
pub(crate) struct Passes {
    #[cfg(feature = "std")]
    recording: bool,
}

impl Passes {
    /// Shares from now on if there are `several` passes, unless a driver outside does already.
    #[inline]
    pub(crate) fn begin(several: bool) -> Self {
        #[cfg(feature = "std")]
        {
            let recording = several && !ACTIVE.get() && Self::rewind(true);
            ACTIVE.set(ACTIVE.get() || recording);
            Self { recording }
        }
        #[cfg(not(feature = "std"))]
        {
            let _ = several;
            Self {}
        }
    }

    /// The next pass begins.
    #[inline]
    pub(crate) fn next(&self) {
        #[cfg(feature = "std")]
        if self.recording {
            Self::rewind(false);
        }
    }

    /// Whether there is a record: a thread that is ending has none.
    #[cfg(feature = "std")]
    fn rewind(clear: bool) -> bool {
        RECORD
            .try_with(|record| {
                let mut record = record.borrow_mut();
                record.next = 0;
                if clear {
                    record.calls.clear();
                }
            })
            .is_ok()
    }
}

#[cfg(feature = "std")]
impl Drop for Passes {
    #[inline]
    fn drop(&mut self) {
        if self.recording {
            ACTIVE.set(false);
        }
    }
}
