//! Places at which a test can hold a host still, so that it can be killed there for real. Not in release builds.

/// Where a host can be held.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Point {
    /// A request is committed and not announced.
    Asked,
    /// A decision is committed and not delivered.
    Decided,
    /// A tool's result is committed and the model is not called.
    ToolFinished,
}

/// Waits for ever if `$SAYSO_PAUSE_AT` names this point, after making the file that `$SAYSO_PAUSED` names.
pub(crate) async fn at(point: Point) {
    if cfg!(debug_assertions) && is_wanted(point) {
        if let Some(file) = std::env::var_os("SAYSO_PAUSED") {
            let _ = std::fs::write(file, []);
        }
        std::future::pending::<()>().await;
    }
}

fn is_wanted(point: Point) -> bool {
    let name = match point {
        Point::Asked => "asked",
        Point::Decided => "decided",
        Point::ToolFinished => "tool_finished",
    };
    std::env::var_os("SAYSO_PAUSE_AT").is_some_and(|wanted| wanted == name)
}
