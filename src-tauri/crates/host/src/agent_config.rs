use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use sayso_agent::{McpConfig, Style, ToolSetup, Toolkit, expand_home};
use sayso_domain::Policy;
use serde_json::Value;

use crate::secrets::KeyRef;

/// The base URL that stands for the model which the app serves to itself.
pub(crate) const DEMO_URL: &str = "sayso:demo";

/// An agent's set-up, checked: the file that `sayso agent add` takes.
#[derive(Clone, Debug)]
pub(crate) struct AgentConfig {
    pub(crate) name: String,
    pub(crate) base_url: String,
    pub(crate) style: Style,
    pub(crate) model: String,
    pub(crate) api_key: Option<KeyRef>,
    pub(crate) folder: Option<PathBuf>,
    pub(crate) system_prompt: Option<String>,
    pub(crate) tools: BTreeMap<String, Policy>,
    pub(crate) max_turns: u32,
    /// MCP servers, whose tools the agent has too.
    pub(crate) mcp: McpConfig,
    /// The tokens that a run may use in all.
    pub(crate) max_tokens: Option<u32>,
    /// The tokens that one model call may read.
    pub(crate) context_tokens: Option<u32>,
    /// Whether the model is asked to answer in pieces.
    pub(crate) stream: bool,
    /// Seconds that a request of this agent waits before it settles as expired.
    pub(crate) ask_timeout_seconds: Option<u32>,
    /// Whether `web_fetch` may reach this machine and private networks.
    pub(crate) allow_private_addresses: bool,
}

/// Tools alone take more than this leaves.
const LEAST_CONTEXT: u32 = 2000;

const KEYS: [&str; 15] = [
    "name",
    "base_url",
    "style",
    "model",
    "api_key",
    "folder",
    "system_prompt",
    "tools",
    "max_turns",
    "max_tokens",
    "context_tokens",
    "stream",
    "mcpServers",
    "ask_timeout_seconds",
    "allow_private_addresses",
];

impl AgentConfig {
    /// Reads a set-up. Errors name the key and say what to write.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(text)
            .map_err(|error| format!("The set-up is not valid JSON: {error}. Nothing was changed."))?;
        let object = value.as_object().ok_or("The set-up must be a JSON object. Nothing was changed.")?;
        if let Some(unknown) = object.keys().find(|key| !KEYS.contains(&key.as_str())) {
            return Err(format!(
                "The set-up has a key that Sayso does not know: `{unknown}`. The keys are {}.",
                KEYS.join(", ")
            ));
        }
        let mcp = match present(&value, "mcpServers") {
            None => McpConfig::default(),
            Some(servers) => McpConfig::parse(servers)?,
        };
        let config = Self {
            name: required(&value, "name")?,
            base_url: required(&value, "base_url")?,
            style: match text_of(&value, "style")?.as_deref() {
                Some("openai") | None => Style::OpenAi,
                Some("anthropic") => Style::Anthropic,
                Some(_) => return Err("`style` must be openai or anthropic.".to_owned()),
            },
            model: required(&value, "model")?,
            api_key: text_of(&value, "api_key")?.map(|key| key.parse()).transpose()?,
            folder: text_of(&value, "folder")?.map(|folder| expand_home(&folder)),
            system_prompt: text_of(&value, "system_prompt")?,
            tools: policies(&value, &mcp)?,
            max_turns: number(&value, "max_turns")?.unwrap_or(10),
            mcp,
            max_tokens: number(&value, "max_tokens")?,
            context_tokens: number(&value, "context_tokens")?,
            stream: flag(&value, "stream")?.unwrap_or(true),
            ask_timeout_seconds: number(&value, "ask_timeout_seconds")?,
            allow_private_addresses: flag(&value, "allow_private_addresses")?.unwrap_or(false),
        };
        config.check()?;
        Ok(config)
    }

    pub(crate) fn is_demo(&self) -> bool {
        self.base_url == DEMO_URL
    }

    fn check(&self) -> Result<(), String> {
        if self.name.chars().count() > 64
            || self.name.chars().any(char::is_control)
            || self.name.trim() != self.name
        {
            return Err(
                "`name` must be 1 to 64 characters with no line breaks and no space around it.".to_owned()
            );
        }
        if !self.is_demo() {
            let url = reqwest_url(&self.base_url)?;
            if !url.username().is_empty() || url.password().is_some() {
                return Err(
                    "`base_url` must not hold a user or a password: name the key in `api_key`.".to_owned()
                );
            }
        }
        if self.context_tokens.is_some_and(|tokens| tokens < LEAST_CONTEXT) {
            return Err(format!(
                "`context_tokens` must be at least {LEAST_CONTEXT}: the tools alone need a good part of that."
            ));
        }
        if self.folder.as_ref().is_some_and(|folder| !folder.is_absolute()) {
            return Err("`folder` must be a whole path, such as /home/you/code or ~/code.".to_owned());
        }
        Ok(())
    }

    /// The set-up with its folder where it is now, links resolved: what a run keeps, so that all of it stays in the folder
    /// that is shown.
    pub(crate) async fn pinned(&self, text: &str, data_dir: &Path) -> Result<String, String> {
        let (config, data_dir) = (self.clone(), data_dir.to_owned());
        let look = move || config.checked_folder(&data_dir);
        let Some(real) = tokio::task::spawn_blocking(look).await.map_err(|error| error.to_string())?? else {
            return Ok(text.to_owned());
        };
        let Some(real) = real.to_str() else {
            return Err(format!(
                "The agent's folder {} has a name that is no text. Name another.",
                real.display()
            ));
        };
        let mut value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        value["folder"] = real.into();
        Ok(value.to_string())
    }

    /// [`AgentConfig::checked_folder`], off the async threads: a disk may be slow, or at the other end of a network.
    pub(crate) async fn check_folder(&self, data_dir: &Path) -> Result<(), String> {
        let (config, data_dir) = (self.clone(), data_dir.to_owned());
        let check = move || config.checked_folder(&data_dir).map(drop);
        tokio::task::spawn_blocking(check).await.unwrap_or_else(|error| Err(error.to_string()))
    }

    /// The folder as it is on disk. An agent's folder may not contain the data folder nor be inside it. Blocks.
    pub(crate) fn checked_folder(&self, data_dir: &Path) -> Result<Option<PathBuf>, String> {
        let Some(folder) = &self.folder else { return Ok(None) };
        let real = folder.canonicalize().map_err(|error| {
            format!(
                "The agent's folder {} cannot be opened: {error}. Nothing was run. Make the folder again, or name \
                 another in the agent's set-up.",
                folder.display()
            )
        })?;
        if !real.is_dir() {
            return Err(format!("The agent's folder {} is not a folder. Name another.", folder.display()));
        }
        if real.starts_with(data_dir) || data_dir.starts_with(&real) {
            return Err(format!(
                "The agent's folder {} and Sayso's data folder {} must not lie inside each other: an agent could \
                 read or change what was decided. Name another folder.",
                real.display(),
                data_dir.display()
            ));
        }
        Ok(Some(real))
    }
}

fn reqwest_url(text: &str) -> Result<url::Url, String> {
    let wrong =
        || format!("`base_url` must be a web address such as http://localhost:11434/v1; it is `{text}`.");
    let url = url::Url::parse(text).map_err(|_| wrong())?;
    if matches!(url.scheme(), "http" | "https") && url.has_host() { Ok(url) } else { Err(wrong()) }
}

fn present<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    value.get(key).filter(|value| !value.is_null())
}

fn text_of(value: &Value, key: &str) -> Result<Option<String>, String> {
    match present(value, key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(format!("`{key}` must be a text.")),
    }
}

fn required(value: &Value, key: &str) -> Result<String, String> {
    text_of(value, key)?.filter(|text| !text.is_empty()).ok_or_else(|| format!("`{key}` is missing."))
}

fn flag(value: &Value, key: &str) -> Result<Option<bool>, String> {
    match present(value, key) {
        None => Ok(None),
        Some(flag) => flag.as_bool().map(Some).ok_or_else(|| format!("`{key}` must be true or false.")),
    }
}

fn number(value: &Value, key: &str) -> Result<Option<u32>, String> {
    match present(value, key) {
        None => Ok(None),
        Some(number) => number
            .as_u64()
            .and_then(|number| u32::try_from(number).ok())
            .filter(|number| *number > 0)
            .map(Some)
            .ok_or_else(|| format!("`{key}` must be a whole number above 0.")),
    }
}

fn policies(value: &Value, mcp: &McpConfig) -> Result<BTreeMap<String, Policy>, String> {
    let Some(tools) = present(value, "tools") else { return Ok(BTreeMap::new()) };
    let tools = tools.as_object().ok_or("`tools` must be an object of tool names.")?;
    // A name with a typing mistake would leave the tool that was meant as it is.
    let known = Toolkit::standard(&ToolSetup::default());
    if let Some(unknown) =
        tools.keys().find(|name| known.get(name).is_none() && mcp.server_of(name).is_none())
    {
        let names: Vec<_> = known.specs().map(|spec| spec.name.as_str()).collect();
        return Err(format!(
            "`tools` names a tool that Sayso does not know: `{unknown}`. The tools are {}; those of an MCP server are \
             called SERVER_TOOL.",
            names.join(", ")
        ));
    }
    let policy = |(name, policy): (&String, &Value)| {
        serde_json::from_value(policy.clone())
            .map(|policy| (name.clone(), policy))
            .map_err(|_| format!("`tools.{name}` must be allow, ask or forbid."))
    };
    tools.iter().map(policy).collect()
}
