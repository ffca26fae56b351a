use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Arc;

/// Does something of which a panic is an answer, not a defect: a toolkit that finds no display, a library that is not
/// there. The panic is not printed; what it said comes back.
pub(crate) fn attempt<T>(what: impl FnOnce() -> T) -> Result<T, String> {
    let usual = Arc::new(take_hook());
    let (elsewhere, here) = (Arc::clone(&usual), std::thread::current().id());
    set_hook(Box::new(move |panic| {
        if std::thread::current().id() != here {
            elsewhere(panic);
        }
    }));
    let outcome = catch_unwind(AssertUnwindSafe(what));
    set_hook(Box::new(move |panic| usual(panic)));
    outcome.map_err(|said| words(said.as_ref()))
}

fn words(said: &(dyn Any + Send)) -> String {
    let text =
        said.downcast_ref::<String>().map(String::as_str).or_else(|| said.downcast_ref::<&str>().copied());
    text.unwrap_or("it gave no reason").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_comes_back_as_words() {
        assert_eq!(attempt(|| 7), Ok(7));
        assert_eq!(attempt(|| -> u32 { panic!("no display {}", ":9") }), Err("no display :9".to_owned()));
        assert_eq!(attempt(|| -> u32 { panic!("no library") }), Err("no library".to_owned()));
    }
}
