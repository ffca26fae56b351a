//! Deciding in a page, as a person does: select, read, press.

use std::time::Duration;

use crate::wait::SOON;
use crate::webdriver::Session;

/// The field for the person's own words.
pub const REASON_FIELD: &str = "Reason, kept in history only";

/// Selects the request whose list entry holds `prompt`.
pub async fn select(page: &Session, prompt: &str) {
    page.press("Inbox").await;
    page.wait_text(prompt).await;
    let option = page.find("[role=option]").await;
    option.click().await.expect("the request can be selected");
    page.find("main h2, main h1").await;
}

/// Presses `button` until nothing waits any more: a press within the guard's first moments counts for nothing, as it
/// should.
pub async fn press_until_decided(page: &Session, button: &str) {
    let started = std::time::Instant::now();
    while !page.text().await.to_lowercase().contains("nothing waits") {
        assert!(started.elapsed() < SOON, "{button} decides nothing; the page shows: {}", page.text().await);
        let _ = tokio::time::timeout(Duration::from_secs(1), page.press(button)).await;
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}
