//! A number that knows which inputs it depends on.

use core::fmt;
use std::cell::RefCell;

use super::pattern::Pattern;
use crate::drive::point::{Point, slots, view};
use crate::drive::values::Values;
use crate::ops::Arith;
use crate::rules::Lifted;
use crate::{Lift, Real};

/// A number that carries its value and the set of inputs that it depends on, and in which pairs they act on each other.
///
/// [`jacobian_pattern`] and [`hessian_pattern`] run a function on tracers. The structure is that of the branches taken:
/// comparisons, `max` and the like look at the value, as everywhere. It is conservative in the rest: a product with a variable that happens
/// to be zero counts, and so does every function that is not linear, whatever its derivatives are at the point.
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
    pub(crate) set: u32,
}

/// The empty set.
const NONE: u32 = 0;

/// How a set came about. Unions are not formed until somebody asks: an operation costs one node, however large its sets.
#[derive(Clone, Copy)]
enum Node {
    /// One input.
    Leaf(u32),
    /// Both sets.
    Union(u32, u32),
    /// The same inputs, each of them acting on each.
    Curve(u32),
    /// Both sets, every input of one acting on every input of the other.
    Product(u32, u32),
}

thread_local! {
    /// Node 0 stands for the empty set and is never read.
    static NODES: RefCell<Vec<Node>> = const { RefCell::new(Vec::new()) };
}

fn push(node: Node) -> u32 {
    NODES.with_borrow_mut(|nodes| {
        if nodes.is_empty() {
            nodes.push(Node::Leaf(0));
        }
        let id = u32::try_from(nodes.len()).expect("a trace of 2^32 operations");
        nodes.push(node);
        id
    })
}

fn union(a: u32, b: u32) -> u32 {
    match (a, b) {
        (NONE, c) | (c, NONE) => c,
        _ if a == b => a,
        _ => push(Node::Union(a, b)),
    }
}

fn product(a: u32, b: u32) -> u32 {
    match (a, b) {
        (NONE, c) | (c, NONE) => c,
        _ if a == b => curve(a),
        _ => push(Node::Product(a, b)),
    }
}

fn curve(a: u32) -> u32 {
    let done = a == NONE || NODES.with_borrow(|nodes| matches!(nodes[a as usize], Node::Curve(_)));
    if done { a } else { push(Node::Curve(a)) }
}

/// Removes the nodes of one trace when it ends, in whatever way.
struct Session {
    start: u32,
}

impl Session {
    fn begin() -> Self {
        push(Node::Leaf(0));
        Session { start: NODES.with_borrow(|nodes| nodes.len() as u32) }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        NODES.with_borrow_mut(|nodes| nodes.truncate(self.start as usize - 1));
    }
}

/// Walks over sets, each node once.
#[derive(Default)]
struct Walk {
    seen: Vec<u32>,
    stamp: u32,
    stack: Vec<u32>,
}

impl Walk {
    /// Calls `visit` for every node from `start` on that `from` is made of.
    fn each(&mut self, from: u32, start: u32, mut visit: impl FnMut(Node)) {
        NODES.with_borrow(|nodes| {
            self.seen.resize(nodes.len(), 0);
            self.stamp += 1;
            self.stack.push(from);
            while let Some(id) = self.stack.pop() {
                // Older nodes belong to a trace around this one: constants here.
                if id < start.max(1)
                    || core::mem::replace(&mut self.seen[id as usize], self.stamp) == self.stamp
                {
                    continue;
                }
                let node = nodes[id as usize];
                match node {
                    Node::Leaf(_) => {}
                    Node::Curve(a) => self.stack.push(a),
                    Node::Union(a, b) | Node::Product(a, b) => self.stack.extend([a, b]),
                }
                visit(node);
            }
        });
    }

    /// The inputs of a set, in order.
    fn inputs(&mut self, from: u32, start: u32) -> Vec<usize> {
        let mut inputs = Vec::new();
        self.each(from, start, |node| {
            if let Node::Leaf(i) = node {
                inputs.push(i as usize);
            }
        });
        inputs.sort_unstable();
        inputs.dedup();
        inputs
    }

    /// The pairs of inputs that act on each other, in both orders.
    fn pairs(&mut self, from: u32, start: u32, out: &mut Vec<(usize, usize)>) {
        let mut factors = Vec::new();
        self.each(from, start, |node| match node {
            Node::Curve(a) => factors.push((a, a)),
            Node::Product(a, b) => factors.push((a, b)),
            Node::Leaf(_) | Node::Union(..) => {}
        });
        for (a, b) in factors {
            let rows = self.inputs(a, start);
            let columns = if a == b { rows.clone() } else { self.inputs(b, start) };
            for &i in &rows {
                for &j in &columns {
                    out.extend([(i, j), (j, i)]);
                }
            }
        }
    }
}

impl<T> Tracer<T> {
    /// The inputs that this number depends on, in order. Meaningful within the function being traced.
    pub fn inputs(&self) -> Vec<usize> {
        Walk::default().inputs(self.set, 1)
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
        s.set = push(Node::Leaf(u32::try_from(i).expect("2^32 inputs")));
    }
    let y = f(view::<X, _>(&seeded));
    read(&y, session.start)
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
    trace(f, x, |y, start| rows(y.values(), n, start))
}

fn rows<T>(y: &[Tracer<T>], n: usize, start: u32) -> Pattern {
    let mut walk = Walk::default();
    let mut entries = Vec::new();
    for (i, y) in y.iter().enumerate() {
        entries.extend(walk.inputs(y.set, start).into_iter().map(|j| (i, j)));
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
    trace(values, x, |y, start| {
        let pairs = second.then(|| {
            let (mut walk, mut pairs) = (Walk::default(), Vec::new());
            for y in y {
                walk.pairs(y.set, start, &mut pairs);
            }
            Pattern::new(x.len(), x.len(), pairs)
        });
        (rows(y, x.len(), start), pairs)
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
    trace(f, x, |y, start| {
        let mut pairs = Vec::new();
        Walk::default().pairs(y.set, start, &mut pairs);
        Pattern::new(n, n, pairs)
    })
}
