//! A number that knows which inputs it depends on.

use core::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::pattern::Pattern;
use crate::drive::point::{Point, slots, view};
use crate::drive::values::Values;
use crate::ops::Arith;
use crate::rules::Lifted;
use crate::{Lift, Real};

/// A number that carries its value and the set of inputs that it depends on, and in which pairs they act on each other.
///
/// [`jacobian_pattern`] and [`hessian_pattern`] run a function on tracers. The structure is conservative: a product with a
/// variable that happens to be zero counts, so does every function that is not linear, whatever its derivatives are at
/// the point, and `max`, `min`, `clamp` and `select` count all their operands.
///
/// Only an `if` on a value leaves no trace of the branch that is not taken. Where the function has some, or calls what
/// compares (`max_by`, the largest entry of a nalgebra matrix) or skips zeros (nalgebra's decompositions), trace it at a
/// point without zeros and symmetries, and ask [`SparseJacobian::covers`](crate::SparseJacobian::covers) at others. Or
/// write the choice as [`SimdValue::select`](nalgebra::SimdValue::select), which evaluates both branches.
///
/// A function may spread its work over threads. LAPACK knows no tracers: the structure of what calls it is found by
/// [`SparseJacobian::probe`](crate::SparseJacobian::probe).
///
/// ```
/// use dualpack_core::{Tracer, jacobian_pattern};
/// let x = [1.0, 2.0, 3.0];
/// jacobian_pattern(
///     |x| {
///         let y: Tracer<f64> = x[0] * 2.0 + x[2].sin();
///         assert_eq!(y.inputs(), [0, 2]);
///         y
///     },
///     &x,
/// );
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Tracer<T> {
    /// The value.
    pub value: T,
    pub(crate) set: Set,
}

/// A set of inputs: a node of a trace, the newest one among those whose inputs it was made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Set {
    trace: u32,
    node: u32,
}

/// The empty set.
const NONE: Set = Set { trace: 0, node: 0 };

/// How a set came about. Unions are not formed until somebody asks: an operation costs one node, however large its sets.
/// The numbers are nodes of the same trace.
#[derive(Clone, Copy)]
enum Node {
    /// One input of this trace.
    Leaf(u32),
    /// A set of an older trace, one around this one.
    Older(Set),
    /// Both sets.
    Union(u32, u32),
    /// The same inputs, each of them acting on each.
    Curve(u32),
    /// Both sets, every input of one acting on every input of the other.
    Product(u32, u32),
}

/// A trace that is running, with the nodes of its sets: what refers to inputs of this trace and of older ones only.
struct Trace {
    id: u32,
    nodes: Vec<Node>,
}

/// All traces that are running. They are shared by all threads, so that a function may spread its work. The nodes of a
/// trace go with it, whatever else is running.
struct Traces {
    /// From the oldest to the newest.
    running: Vec<Trace>,
    /// The trace begun last, of all that ever were.
    latest: u32,
}

static TRACES: Mutex<Traces> = Mutex::new(Traces { running: Vec::new(), latest: 0 });

/// No panic leaves the traces half changed, so a poisoned lock is as good as any.
fn traces() -> MutexGuard<'static, Traces> {
    TRACES.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Traces {
    fn position(&self, trace: u32) -> Option<usize> {
        let last = self.running.len().wrapping_sub(1);
        if self.running.get(last).is_some_and(|newest| newest.id == trace) {
            return Some(last);
        }
        self.running.binary_search_by_key(&trace, |running| running.id).ok()
    }

    fn find(&self, trace: u32) -> Option<&Trace> {
        self.position(trace).map(|k| &self.running[k])
    }

    /// A number may outlive its trace, in a cache; its node is gone then.
    #[track_caller]
    fn expect(&mut self, trace: u32) -> &mut Trace {
        match self.position(trace) {
            Some(k) => &mut self.running[k],
            None => panic!("a Tracer was used after the end of the trace that it belongs to"),
        }
    }

    fn curve(&mut self, a: Set) -> Set {
        let trace = self.expect(a.trace);
        match trace.nodes[a.node as usize] {
            Node::Curve(_) => a,
            _ => trace.push(Node::Curve(a.node)),
        }
    }

    fn pair(&mut self, a: Set, b: Set, node: impl FnOnce(u32, u32) -> Node) -> Set {
        if a.trace != b.trace {
            self.expect(a.trace.min(b.trace));
        }
        let trace = self.expect(a.trace.max(b.trace));
        let (a, b) = (trace.own(a), trace.own(b));
        trace.push(node(a, b))
    }
}

impl Trace {
    fn push(&mut self, node: Node) -> Set {
        let id = u32::try_from(self.nodes.len()).expect("a trace of 2^32 operations");
        self.nodes.push(node);
        Set { trace: self.id, node: id }
    }

    /// The node of this trace that stands for a set of this or an older one.
    fn own(&mut self, set: Set) -> u32 {
        if set.trace == self.id { set.node } else { self.push(Node::Older(set)).node }
    }
}

fn union(a: Set, b: Set) -> Set {
    match (a, b) {
        (NONE, c) | (c, NONE) => c,
        _ if a == b => a,
        _ => traces().pair(a, b, Node::Union),
    }
}

fn product(a: Set, b: Set) -> Set {
    match (a, b) {
        (NONE, c) | (c, NONE) => c,
        _ if a == b => traces().curve(a),
        _ => traces().pair(a, b, Node::Product),
    }
}

fn curve(a: Set) -> Set {
    if a == NONE { a } else { traces().curve(a) }
}

/// `set`, of a trace that is running.
#[track_caller]
fn alive(set: Set) -> Set {
    if set != NONE {
        traces().expect(set.trace);
    }
    set
}

/// One trace, which ends in whatever way.
struct Session(u32);

impl Session {
    fn begin() -> Self {
        let mut traces = traces();
        traces.latest = traces.latest.checked_add(1).expect("2^32 traces");
        let id = traces.latest;
        traces.running.push(Trace { id, nodes: Vec::new() });
        Session(id)
    }

    fn leaf(&self, input: usize) -> Set {
        let input = u32::try_from(input).expect("2^32 inputs");
        traces().expect(self.0).push(Node::Leaf(input))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let mut traces = traces();
        if let Some(k) = traces.position(self.0) {
            traces.running.remove(k);
        }
    }
}

/// Walks over sets, each node once.
#[derive(Default)]
struct Walk {
    /// The trace and, for each of its nodes, the last walk that met it.
    seen: Vec<(u32, Vec<u32>)>,
    stamp: u32,
    stack: Vec<u32>,
    older: Vec<Set>,
}

impl Walk {
    /// Calls `visit` for every node that `from` is made of, with its trace.
    fn each(&mut self, from: Set, mut visit: impl FnMut(u32, Node)) {
        let traces = traces();
        self.stamp += 1;
        self.older.push(from);
        while let Some(set) = self.older.pop() {
            // NONE has no trace. What is over has inputs of older traces only, which are constants here.
            if let Some(trace) = traces.find(set.trace) {
                self.walk(trace, set.node, &mut visit);
            }
        }
    }

    fn walk(&mut self, trace: &Trace, from: u32, visit: &mut impl FnMut(u32, Node)) {
        let known = self.seen.iter().position(|(id, _)| *id == trace.id).unwrap_or_else(|| {
            self.seen.push((trace.id, Vec::new()));
            self.seen.len() - 1
        });
        let seen = &mut self.seen[known].1;
        seen.resize(trace.nodes.len(), 0);
        self.stack.push(from);
        while let Some(id) = self.stack.pop() {
            if core::mem::replace(&mut seen[id as usize], self.stamp) == self.stamp {
                continue;
            }
            let node = trace.nodes[id as usize];
            match node {
                Node::Leaf(_) => {}
                Node::Older(set) => self.older.push(set),
                Node::Curve(a) => self.stack.push(a),
                Node::Union(a, b) | Node::Product(a, b) => self.stack.extend([a, b]),
            }
            visit(trace.id, node);
        }
    }

    /// The inputs of a set in a trace, in order. Those of traces around it are constants there.
    fn inputs(&mut self, from: Set, of: u32) -> Vec<usize> {
        let mut inputs = Vec::new();
        self.each(from, |trace, node| {
            if let Node::Leaf(input) = node
                && trace == of
            {
                inputs.push(input as usize);
            }
        });
        inputs.sort_unstable();
        inputs.dedup();
        inputs
    }

    /// The pairs of inputs that act on each other, in both orders.
    fn pairs(&mut self, from: Set, of: u32, out: &mut Vec<(usize, usize)>) {
        let mut factors = Vec::new();
        // Sets of traces older than `of` have none of its inputs.
        self.each(from, |trace, node| match node {
            Node::Curve(a) if trace >= of => factors.push((trace, a, a)),
            Node::Product(a, b) if trace >= of => factors.push((trace, a, b)),
            _ => {}
        });
        for (trace, a, b) in factors {
            let part = |node| Set { trace, node };
            let rows = self.inputs(part(a), of);
            let columns = if a == b { rows.clone() } else { self.inputs(part(b), of) };
            for &i in &rows {
                for &j in &columns {
                    out.extend([(i, j), (j, i)]);
                }
            }
        }
    }
}

impl<T> Tracer<T> {
    /// The inputs that this number depends on, in order.
    ///
    /// # Panics
    /// If the trace is over.
    #[track_caller]
    pub fn inputs(&self) -> Vec<usize> {
        Walk::default().inputs(alive(self.set), self.set.trace)
    }
}

impl<T: Real> Tracer<T> {
    /// The constant `value`: depends on nothing.
    #[inline]
    pub fn constant(value: T) -> Self {
        Self { value, set: NONE }
    }
}

impl<T: Real> Arith for Tracer<T> {
    type Part = T;

    fn add(a: &Self, b: &Self) -> Self {
        Self { value: a.value + b.value, set: union(a.set, b.set) }
    }
    fn sub(a: &Self, b: &Self) -> Self {
        Self { value: a.value - b.value, set: union(a.set, b.set) }
    }
    fn mul(a: &Self, b: &Self) -> Self {
        Self { value: a.value * b.value, set: product(a.set, b.set) }
    }
    fn div(a: &Self, b: &Self) -> Self {
        Self { value: a.value / b.value, set: product(a.set, curve(b.set)) }
    }
    fn neg(a: &Self) -> Self {
        Self { value: -a.value, set: a.set }
    }
    fn scale(a: &Self, s: T) -> Self {
        Self { value: a.value * s, set: a.set }
    }
    fn unscale(a: &Self, s: T) -> Self {
        Self { value: a.value / s, set: a.set }
    }
    fn shift(a: &Self, s: T) -> Self {
        Self { value: a.value + s, set: a.set }
    }
}

impl<T: Real> Real for Tracer<T> {
    type Base = T::Base;
    type Fns = Lifted;
    const ORDER: usize = T::ORDER + 2;

    fn from_base(b: T::Base) -> Self {
        Self::constant(T::from_base(b))
    }
    fn base(self) -> T::Base {
        self.value.base()
    }
    fn with_base(mut self, b: T::Base) -> Self {
        self.value = self.value.with_base(b);
        self
    }
    fn all_finite(self) -> bool {
        self.value.all_finite()
    }
    fn same(self, other: Self) -> bool {
        self.value.same(other.value) && self.inputs() == other.inputs()
    }
    fn relative_eq_all(self, other: Self, max_relative: T::Base) -> bool {
        self.value.relative_eq_all(other.value, max_relative) && self.inputs() == other.inputs()
    }
    fn largest_part(self) -> T::Base {
        self.value.largest_part()
    }
    fn parts_near(self, other: Self, tolerance: T::Base) -> bool {
        self.value.parts_near(other.value, tolerance) && self.inputs() == other.inputs()
    }
    fn strong_mul(self, t: Self) -> Self {
        Self { value: self.value.strong_mul(t.value), set: product(self.set, t.set) }
    }
    fn beside(self, other: Self) -> Self {
        Self { value: self.value.beside(other.value), set: union(self.set, other.set) }
    }
}

impl<T: Real> Lift for Tracer<T> {
    type Inner = T;

    fn inner(self) -> T {
        self.value
    }
    fn from_inner(v: T) -> Self {
        Self::constant(v)
    }
    fn with_inner(self, value: T) -> Self {
        Self { value, ..self }
    }
    fn chain(self, value: T, _: impl FnOnce() -> T, _: impl FnOnce() -> T) -> Self {
        Self { value, set: curve(self.set) }
    }
    fn chain2(self, b: Self, value: T, _: impl FnOnce() -> [T; 2], _: impl FnOnce() -> [T; 3]) -> Self {
        Self { value, set: curve(union(self.set, b.set)) }
    }
    fn accumulate(self, x: Self, _: T) -> Self {
        Self { value: self.value, set: union(self.set, x.set) }
    }
    fn accumulate2(self, xi: Self, xj: Self, _: T, _: bool) -> Self {
        Self { value: self.value, set: union(self.set, product(xi.set, xj.set)) }
    }
}

impl<T: fmt::Display> fmt::Display for Tracer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

/// Runs `f` on tracers and hands the sets of its results to `read`.
fn trace<X: Point + ?Sized, Y, R>(
    f: impl FnOnce(&X::With<Tracer<X::Scalar>>) -> Y,
    x: &X,
    read: impl FnOnce(&Y, u32) -> R,
) -> R {
    let session = Session::begin();
    let mut seeded = x.map_coordinates(Tracer::constant);
    for (i, s) in slots::<X, Tracer<_>>(&mut seeded).iter_mut().enumerate() {
        s.set = session.leaf(i);
    }
    let y = f(view::<X, _>(&seeded));
    read(&y, session.0)
}

/// Which values of a function depend on which inputs: the pattern of its Jacobian, `m x n`, found by one evaluation at
/// `x`. See [`Tracer`] for what counts.
///
/// ```
/// use dualpack_core::jacobian_pattern;
/// let pattern = jacobian_pattern(|x| [x[0] * x[1], x[2].exp()], &[1.0, 2.0, 3.0]);
/// assert_eq!(pattern.entries().collect::<Vec<_>>(), [(0, 0), (0, 1), (1, 2)]);
/// ```
pub fn jacobian_pattern<X: Point + ?Sized, Y: Values<Scalar = Tracer<X::Scalar>>>(
    f: impl FnOnce(&X::With<Tracer<X::Scalar>>) -> Y,
    x: &X,
) -> Pattern {
    let n = x.coordinates().len();
    trace(f, x, |y, trace| rows(y.values(), n, trace))
}

fn rows<T>(y: &[Tracer<T>], n: usize, trace: u32) -> Pattern {
    let mut walk = Walk::default();
    let mut entries = Vec::new();
    for (i, y) in y.iter().enumerate() {
        entries.extend(walk.inputs(alive(y.set), trace).into_iter().map(|j| (i, j)));
    }
    Pattern::new(y.len(), n, entries)
}

/// [`jacobian_pattern`] of a function `f(y, x)` that writes `m` values into a slice, and the pairs of inputs that act
/// on each other within one value: the pattern of the Hessian of the sum of all values.
pub(crate) fn patterns_inplace<T: Real>(
    f: impl FnOnce(&mut [Tracer<T>], &[Tracer<T>]),
    x: &[T],
    m: usize,
    second: bool,
) -> (Pattern, Option<Pattern>) {
    let values = |x: &[Tracer<T>]| {
        let mut y = vec![Tracer::constant(T::zero()); m];
        f(&mut y, x);
        y
    };
    trace(values, x, |y, trace| {
        let pairs = second.then(|| {
            let (mut walk, mut pairs) = (Walk::default(), Vec::new());
            for y in y {
                walk.pairs(alive(y.set), trace, &mut pairs);
            }
            Pattern::new(x.len(), x.len(), pairs)
        });
        (rows(y, x.len(), trace), pairs)
    })
}

/// Which pairs of inputs act on each other in a scalar function: the pattern of its Hessian, symmetric `n x n`, found by
/// one evaluation at `x`. See [`Tracer`] for what counts.
///
/// ```
/// use dualpack_core::hessian_pattern;
/// let pattern = hessian_pattern(|x| x[0] * x[1] + x[2].exp() + x[3], &[1.0, 2.0, 3.0, 4.0]);
/// assert_eq!(pattern.entries().collect::<Vec<_>>(), [(1, 0), (0, 1), (2, 2)]);
/// ```
pub fn hessian_pattern<X: Point + ?Sized>(
    f: impl FnOnce(&X::With<Tracer<X::Scalar>>) -> Tracer<X::Scalar>,
    x: &X,
) -> Pattern {
    let n = x.coordinates().len();
    trace(f, x, |y, trace| {
        let mut pairs = Vec::new();
        Walk::default().pairs(alive(y.set), trace, &mut pairs);
        Pattern::new(n, n, pairs)
    })
}
