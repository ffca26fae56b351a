//! Places at which a test can hold a host still, so that it can be killed there for real, or let it panic. Not in release
//! builds.

/// Where a host can be held.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Point {
    /// A run's request is committed and not announced.
    Asked,
    /// A sender's request is committed and not announced.
    SenderAsked,
    /// A decision is committed and not delivered.
    Decided,
    /// A tool's result is committed and the model is not called.
    ToolFinished,
}

/// Waits for ever if `$SAYSO_PAUSE_AT` names this point, after making the file that `$SAYSO_PAUSED` names. Panics if
/// `$SAYSO_PANIC_AT` does.
pub(crate) async fn at(point: Point) {
    if cfg!(debug_assertions) {
        assert!(!is_named(point, "SAYSO_PANIC_AT"), "told to panic at {point:?}");
        if !is_named(point, "SAYSO_PAUSE_AT") {
            return;
        }
        if let Some(file) = std::env::var_os("SAYSO_PAUSED") {
            let _ = std::fs::write(file, []);
        }
        std::future::pending::<()>().await;
    }
}

fn is_named(point: Point, variable: &str) -> bool {
    let name = match point {
        Point::Asked => "asked",
        Point::SenderAsked => "sender_asked",
        Point::Decided => "decided",
        Point::ToolFinished => "tool_finished",
    };
    std::env::var_os(variable).is_some_and(|wanted| wanted == name)
}
