//! A table of text cells with aligned columns.

use std::ops::Range;

/// How a column stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// Rows under headings; renders as a Markdown table whose source is aligned too.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Grid {
    /// A table without rows.
    pub(crate) fn new<'a>(columns: impl IntoIterator<Item = (&'a str, Align)>) -> Self {
        let columns = columns.into_iter();
        Self {
            columns: columns
                .map(|(name, align)| (name.to_owned(), align))
                .collect(),
            rows: Vec::new(),
        }
    }

    /// Puts a mark before the headings of these columns.
    pub(crate) fn marked(mut self, mark: char, columns: Range<usize>) -> Self {
        for (heading, _) in &mut self.columns[columns] {
            *heading = format!("{mark} {heading}");
        }
        self
    }

    /// Adds a row; cells that are missing at its end stay empty.
    pub(crate) fn push(&mut self, cells: impl IntoIterator<Item = String>) {
        // A bar would begin another cell.
        let cells = cells.into_iter().map(|cell| cell.replace('|', "\\|"));
        self.rows.push(cells.collect());
    }

    /// The Markdown text, ending with a line break.
    pub(crate) fn markdown(&self) -> String {
        let cell = |row: &[String], column: usize| row.get(column).cloned().unwrap_or_default();
        let widths: Vec<usize> = (0..self.columns.len())
            .map(|column| {
                let cells = self.rows.iter().map(|row| cell(row, column));
                let heading = self.columns[column].0.clone();
                cells
                    .chain([heading])
                    .map(|cell| cell.chars().count())
                    .max()
                    .unwrap_or(0)
                    .max(3)
            })
            .collect();
        let mut text = String::new();
        let mut line = |cells: Vec<String>| {
            for (column, cell) in cells.iter().enumerate() {
                let width = widths[column];
                text.push_str("| ");
                match self.columns[column].1 {
                    Align::Left => text.push_str(&format!("{cell:<width$} ")),
                    Align::Right => text.push_str(&format!("{cell:>width$} ")),
                }
            }
            text.push_str("|\n");
        };
        line(self.columns.iter().map(|column| column.0.clone()).collect());
        line(
            self.columns
                .iter()
                .zip(&widths)
                .map(|((_, align), width)| match align {
                    Align::Left => "-".repeat(*width),
                    Align::Right => format!("{}:", "-".repeat(width - 1)),
                })
                .collect(),
        );
        for row in &self.rows {
            line(
                (0..self.columns.len())
                    .map(|column| cell(row, column))
                    .collect(),
            );
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let mut grid = Grid::new([("a", Align::Left), ("b", Align::Right)]);
        grid.push(["± 1".to_owned(), "2".to_owned()]);
        grid.push(["x|y".to_owned()]);
        let expected = "| a    |   b |\n| ---- | --: |\n| ± 1  |   2 |\n| x\\|y |     |\n";
        assert_eq!(grid.markdown(), expected);
    }
}
