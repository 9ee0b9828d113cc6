//! Solving a symmetric positive definite system.

/// Solves `matrix` x = `right` by a Cholesky factorisation and returns x; `None` if the matrix is not positive
/// definite to working precision. Only the lower triangle is read, row by row: `matrix[i][j]` for j <= i.
///
/// Additions run in a fixed order and the only function used is the square root, which IEEE 754 rounds
/// correctly, so the result has the same bits on every platform.
pub(super) fn solve(matrix: &[Vec<f64>], right: &[f64]) -> Option<Vec<f64>> {
    let size = right.len();
    let mut factor: Vec<Vec<f64>> = Vec::with_capacity(size);
    for (row, entries) in matrix.iter().enumerate() {
        let mut current: Vec<f64> = Vec::with_capacity(row + 1);
        for (column, (entry, above)) in entries.iter().zip(&factor).enumerate() {
            let done = dot(&current, above);
            current.push((entry - done) / above[column]);
        }
        let pivot = entries[row] - dot(&current, &current);
        // A NaN is not above zero either.
        if !(pivot > 0.0 && pivot.is_finite()) {
            return None;
        }
        current.push(pivot.sqrt());
        factor.push(current);
    }
    let mut solution: Vec<f64> = Vec::with_capacity(size);
    for row in 0..size {
        let done = dot(&solution, &factor[row][..row]);
        solution.push((right[row] - done) / factor[row][row]);
    }
    for row in (0..size).rev() {
        let mut rest = solution[row];
        for below in row + 1..size {
            rest -= factor[below][row] * solution[below];
        }
        solution[row] = rest / factor[row][row];
    }
    Some(solution)
}

/// The sum of products, in order.
pub(super) fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_solution_solves() {
        // Rows of a Hilbert matrix plus the identity: positive definite, every entry different.
        let size = 7;
        let matrix: Vec<Vec<f64>> = (0..size)
            .map(|i| {
                let entry = |j: usize| 1.0 / (i + j + 1) as f64 + f64::from(i == j);
                (0..size).map(entry).collect()
            })
            .collect();
        let right: Vec<f64> = (0..size).map(|i| i as f64 - 2.5).collect();
        let solution = solve(&matrix, &right).unwrap();
        for (row, right) in matrix.iter().zip(right) {
            assert!((dot(row, &solution) - right).abs() < 1e-12);
        }
    }

    #[test]
    fn what_is_not_positive_definite_is_refused() {
        let indefinite = [vec![1.0, 2.0], vec![2.0, 1.0]];
        let singular = [vec![1.0, 1.0], vec![1.0, 1.0]];
        let unknown = [vec![f64::NAN]];
        assert_eq!(solve(&indefinite, &[1.0, 1.0]), None);
        assert_eq!(solve(&singular, &[1.0, 1.0]), None);
        assert_eq!(solve(&unknown, &[1.0]), None);
    }
}
