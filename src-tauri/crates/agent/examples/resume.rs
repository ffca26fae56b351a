//! A run that waits for a person without a process: it halts, is kept as a file, and goes on in another process.
//!
//! ```text
//! cargo run -p sayso-agent --example resume
//! ```

mod scripted;

use std::error::Error;
use std::fs;
use std::path::Path;

use sayso_agent::{
    Checkpoint, Client, Endpoint, FolderClaims, NativeTool, ResumeError, RunResult, Style, Toolkit,
};
use sayso_domain::run::Status;
use sayso_domain::{Answer, Policy, ToolResult};
use scripted::{Scripted, calls, says};
use serde_json::json;

/// A tool that is asked about before it runs. It is the same in both processes.
fn toolkit() -> Toolkit {
    let schema = json!({ "type": "object", "properties": { "to": { "type": "string" } } });
    let deploy = NativeTool::new("deploy", "Deploys the site", schema, async |arguments, _| {
        ToolResult::ok(format!("deployed to {}", arguments.value["to"]))
    });
    Toolkit::new().with(deploy.policy(Policy::Ask))
}

fn client(base_url: &str, folder: &Path) -> Client {
    let endpoint = Endpoint {
        base_url: base_url.to_owned(),
        style: Style::OpenAi,
        model: "qwen3".to_owned(),
        key: None,
    };
    // All who may resume share this folder, so that no checkpoint is resumed twice.
    Client::new(endpoint).claims(FolderClaims::new(folder.join("claims")))
}

/// The first process: nobody is there to ask, so it keeps the run and ends.
async fn halt(base_url: &str, folder: &Path) -> Result<(), Box<dyn Error>> {
    let halted = client(base_url, folder).run("deploy the site", &toolkit()).await;
    assert_eq!(halted.status, Status::Pending);
    println!("waits: {}", halted.pending[0].prompt);
    fs::write(folder.join("run.json"), serde_json::to_string(&halted.checkpoint)?)?;
    Ok(())
}

/// Another process, later: somebody said yes.
async fn resume(base_url: &str, folder: &Path) -> Result<Result<RunResult, ResumeError>, Box<dyn Error>> {
    let checkpoint: Checkpoint = serde_json::from_str(&fs::read_to_string(folder.join("run.json"))?)?;
    let answers: Vec<_> = checkpoint.requests().map(|(request, _)| Answer::ok(request.id.clone())).collect();
    Ok(client(base_url, folder).resume(checkpoint, answers, &toolkit()).await)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let model =
        Scripted::new(vec![calls("deploy", &json!({ "to": "production" })), says("It is live.")]).await?;
    let folder = tempfile::tempdir()?;
    halt(&model.base_url, folder.path()).await?;

    let result = resume(&model.base_url, folder.path()).await??;
    assert_eq!(result.status, Status::Done);
    println!("{}: {}", result.tool_calls[0].output, result.text);

    let again = resume(&model.base_url, folder.path()).await?;
    assert!(matches!(again, Err(ResumeError::AlreadyResumed)));
    println!("a second time: {}", again.err().map(|error| error.to_string()).unwrap_or_default());
    Ok(())
}

#[test]
fn it_runs() {
    main().unwrap();
}
