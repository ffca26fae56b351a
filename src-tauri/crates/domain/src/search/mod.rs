//! What a person types to find decisions, and what it finds.
//!
//! A text is a row of **words**: letters and digits that stand together, without capitals and accents. Scripts that leave
//! no space between words, such as Chinese, Japanese, Korean and Thai, are read sign by sign, so that a word is found
//! inside a sentence. Dashes that begin an option of a command (`-r`, `--force`) are a word of their own. So are symbols
//! such as emoji. Anything else only separates.
//!
//! What is typed is **terms**, all of which must be found, each in any field:
//!
//! | typed | finds |
//! |---|---|
//! | `src/main` | these words one after another; the last may go on: `/home/a/src/main.rs` |
//! | `"git push"` | exactly these words one after another |
//! | `"git pu"*` | the same, and the last may go on |
//! | `--force`, `-rf` | the option. A word of up to three plain letters or digits after one dash is always one |
//! | `-refund`, `-"main"` | what has not this word, where there is another term to find; alone, `-refund` is an option too |
//! | `"-refund"` | the option: in quotes there is nothing but words |
//! | `%` | a sign that is no word, as it is |
//!
//! One plain letter alone is a whole word. Anything that is typed is a search: there is no wrong one.

mod query;
mod snippet;
mod word;

pub use query::Query;
pub use snippet::Snippet;
pub use word::{Word, words};
