//! Which columns may share a lane.
//!
//! Gebremedhin, Manne, Pothen: What color is your Jacobian? Graph coloring for computing derivatives. SIAM Review 47
//! (2005).

use super::pattern::Pattern;

/// A color for every column: columns of one color share a lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coloring {
    colors: Vec<usize>,
    count: usize,
}

/// Not colored yet.
const OPEN: usize = usize::MAX;

impl Coloring {
    /// Colors the columns so that no two of one color have an entry in the same row: every entry of the matrix can be read
    /// from a sum of the columns of its color. Greedy, columns that meet the most others first.
    pub fn of_columns(pattern: &Pattern) -> Self {
        let by_row = pattern.transpose();
        let meets = |j: usize| pattern.column(j).iter().map(|&i| by_row.column(i).len()).sum::<usize>();
        greedy(pattern.ncols(), meets, |j, colors, forbid| {
            for &i in pattern.column(j) {
                for &k in by_row.column(i) {
                    forbid(colors[k]);
                }
            }
        })
    }

    /// Star coloring of a symmetric pattern: neighbours differ, and no path of four vertices has two colors only. Then
    /// every entry or its mirror image can be read from a sum of the columns of its color, with fewer colors than
    /// [`of_columns`](Coloring::of_columns) needs. Greedy, vertices with the most neighbours first.
    ///
    /// # Panics
    /// If the pattern is not symmetric.
    #[track_caller]
    pub fn star(pattern: &Pattern) -> Self {
        assert!(pattern.is_symmetric(), "a star coloring needs a symmetric pattern");
        let neighbours = |v: usize| pattern.column(v).iter().copied().filter(move |&w| w != v);
        greedy(
            pattern.ncols(),
            |v| pattern.column(v).len(),
            |v, colors, forbid| {
                for w in neighbours(v) {
                    forbid(colors[w]);
                    for x in neighbours(w).filter(|&x| x != v && colors[x] != OPEN) {
                        // Without a color, w may still take that of a neighbour of x.
                        if colors[w] == OPEN || neighbours(x).any(|y| y != w && colors[y] == colors[w]) {
                            forbid(colors[x]);
                        }
                    }
                }
            },
        )
    }

    /// The color of column `j`.
    pub fn color(&self, j: usize) -> usize {
        self.colors[j]
    }

    /// How many colors there are.
    pub fn count(&self) -> usize {
        self.count
    }
}

/// Each column takes the first color that is not forbidden, those of the largest weight first.
fn greedy(
    n: usize,
    weight: impl Fn(usize) -> usize,
    forbidden: impl Fn(usize, &[usize], &mut dyn FnMut(usize)),
) -> Coloring {
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by_cached_key(|&j| core::cmp::Reverse(weight(j)));
    let mut colors = vec![OPEN; n];
    // taken[c] == j + 1: color c is forbidden for column j.
    let mut taken = Vec::new();
    for j in order {
        forbidden(j, &colors, &mut |c| {
            if c != OPEN {
                taken[c] = j + 1;
            }
        });
        let color = taken.iter().position(|&t| t != j + 1).unwrap_or(taken.len());
        if color == taken.len() {
            taken.push(0);
        }
        colors[j] = color;
    }
    Coloring { colors, count: taken.len() }
}
