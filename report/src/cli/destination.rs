//! Where the analyses go: standard output, or files of one or all formats in a folder.

use crate::error::{Error, Result};
use crate::output::{self, Folder};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Arguments of every command that analyses profiles. `F` lists the formats that the command can make, text first.
#[derive(Args, Debug)]
pub struct Destination<F: ValueEnum + Send + Sync + 'static> {
    /// Folder to write to: all formats, or those that --format names
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// What to make; without -o it goes to standard output
    #[arg(short, long, value_enum)]
    format: Vec<F>,
    /// Replace files that are in the way
    #[arg(long)]
    force: bool,
}

/// What a command makes.
pub trait Product<F> {
    /// The one thing of a format that fits on standard output: of many pictures the first.
    fn single(&self, format: F) -> Result<String>;
    /// Writes [`Self::single`] to standard output. For what is too large to be in memory as a whole.
    fn print(&self, format: F) -> Result<()> {
        output::to_stdout(self.single(format)?.as_bytes())
    }
    /// All files of a format.
    fn files(&self, format: F, folder: &mut Folder) -> Result<()>;
}

impl<F: ValueEnum + Send + Sync + 'static> Destination<F> {
    /// Whether the product goes to standard output, as far as the user has said.
    pub fn is_stdout(&self) -> bool {
        self.output.is_none()
    }

    /// Makes what was asked for and writes it.
    pub fn deliver(&self, product: &impl Product<F>) -> Result<()> {
        let Some(path) = &self.output else { return product.print(self.only()?) };
        let formats = if self.format.is_empty() { F::value_variants() } else { &self.format[..] };
        let mut folder = Folder::open(path, self.force)?;
        for format in formats {
            product.files(format.clone(), &mut folder)?;
        }
        output::to_stdout(folder.write()?.as_bytes())
    }

    fn only(&self) -> Result<F> {
        match (&self.format[..], F::value_variants()) {
            ([one], _) | ([], [one, ..]) => Ok(one.clone()),
            _ => Err(Error::usage("several formats", "--format", "name a folder with -o, or one format")),
        }
    }
}
