//! Columns that line up.

use super::style::{Paint, Style};

/// A column's heading and alignment.
pub struct Column {
    title: String,
    right: bool,
}

impl Column {
    /// Numbers.
    pub fn right(title: &str) -> Self {
        Self { title: title.to_string(), right: true }
    }

    /// Words.
    pub fn left(title: &str) -> Self {
        Self { title: title.to_string(), right: false }
    }
}

/// Rows of text under headings.
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table.
    pub fn new(columns: Vec<Column>) -> Self {
        Self { columns, rows: Vec::new() }
    }

    /// Adds a row with a field for each column.
    pub fn row(&mut self, fields: Vec<String>) {
        debug_assert_eq!(fields.len(), self.columns.len());
        self.rows.push(fields);
    }

    /// The table, indented by two.
    pub fn render(&self, style: Style) -> String {
        let width = |column: usize| {
            let fields = self.rows.iter().map(|row| row[column].chars().count());
            fields.chain([self.columns[column].title.chars().count()]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let titles: Vec<String> = self.columns.iter().map(|column| column.title.clone()).collect();
        let mut text = format!("{}\n", style.faint(&self.line(&titles, &widths)));
        for row in &self.rows {
            text += &self.line(row, &widths);
            text.push('\n');
        }
        text
    }

    fn line(&self, fields: &[String], widths: &[usize]) -> String {
        let mut line = String::new();
        for ((field, column), width) in fields.iter().zip(&self.columns).zip(widths) {
            let padding = " ".repeat(width - field.chars().count());
            line += "  ";
            line += &if column.right { format!("{padding}{field}") } else { format!("{field}{padding}") };
        }
        line.trim_end().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_end_and_words_begin_in_line() {
        let mut table = Table::new(vec![Column::right("n"), Column::left("name")]);
        table.row(vec!["5".into(), "a".into()]);
        table.row(vec!["1234".into(), "\u{e4}bc".into()]);
        assert_eq!(table.render(Style::plain()), "     n  name\n     5  a\n  1234  \u{e4}bc\n");
    }
}
