//! A stage in the real window.

use std::fs::File;

use serde_json::{Value, json};

use crate::desktop::Desktop;
use crate::sayso::desktop_bin;
use crate::stage::Stage;
use crate::wait::SOON;
use crate::wait_until;
use crate::webdriver::Session;

/// A stage whose host is the desktop app, and its page.
pub struct WindowStage {
    /// The desktop that the window is on.
    pub desktop: Desktop,
    /// The data folder, the agent and its model.
    pub stage: Stage,
    /// The page in the window.
    pub page: Session,
}

/// A run that was started and now waits for a person.
pub struct Waiting {
    /// The run's id.
    pub run: String,
    /// The prompt of its request.
    pub prompt: String,
}

impl WindowStage {
    /// Opens the window on a new desktop.
    pub async fn open(stage: Stage) -> Self {
        Self::open_on(Desktop::start().await, stage).await
    }

    /// Opens the window on a desktop that is prepared, for example with a notification service.
    pub async fn open_on(desktop: Desktop, stage: Stage) -> Self {
        let data = stage.sayso.data_dir().to_string_lossy().into_owned();
        let page = Session::window(&desktop, &desktop_bin(), &["--data-dir", &data], &[]).await;
        Self { desktop, stage, page }
    }

    /// Closes the window and waits until the app has let go of its data folder.
    pub async fn close(self) -> Stage {
        self.page.end().await;
        let lock = self.stage.sayso.data_dir().join("lock");
        let is_free = async || File::open(&lock).is_ok_and(|lock| lock.try_lock().is_ok());
        wait_until("the app has let go of its data folder", SOON, is_free).await;
        self.stage
    }

    /// Adds the agent, changed by `more`, starts a run and waits for its request.
    pub async fn ask(&self, more: Value) -> Waiting {
        self.page.wait_text("Nothing waits for you").await;
        self.stage.add_agent(more).await;
        let run = self.stage.start_run("write the report").await;
        let request = self.stage.waiting().await;
        let prompt = request["request"]["prompt"].as_str().expect("a prompt").to_owned();
        Waiting { run, prompt }
    }
}

/// A stage whose model writes `report.txt`.
pub async fn writing_stage() -> Stage {
    Stage::calling("write_file", json!({ "path": "report.txt", "content": "ready\n" })).await
}
