use std::fmt;
use std::path::Path;

use sayso_domain::Digest;
use serde_json::{Map, Value, json};

use super::expand::names_a_secret;
use super::name::{cleaned, unique_prefixes};

/// The MCP servers of an agent: the usual `mcpServers` JSON, checked. Values of headers and variables are in none of its
/// texts, errors and `Debug`.
#[derive(Clone, Debug, Default)]
pub struct McpConfig {
    servers: Vec<McpServer>,
}

/// One server's entry. References such as `${NAME}` are kept as written; they are followed when the server is connected.
#[derive(Clone)]
pub struct McpServer {
    name: String,
    prefix: String,
    entry: McpEntry,
    is_disabled: bool,
}

/// How a server is reached.
#[derive(Clone)]
pub(crate) enum McpEntry {
    /// A program that is started, and spoken to over its input and output.
    Stdio { command: String, args: Vec<String>, env: Vec<(String, String)>, cwd: Option<String> },
    /// Streamable HTTP.
    Http { url: String, headers: Vec<(String, String)> },
}

impl McpConfig {
    /// Reads the object beneath `mcpServers`: `command`, `args`, `env` and `cwd`, or `url` and `headers`, and `disabled`.
    /// Other keys, such as other programs' lists of what needs no asking, change nothing. An error says which server and
    /// what to write.
    pub fn parse(servers: &Value) -> Result<Self, String> {
        let Some(entries) = servers.as_object() else {
            return Err("`mcpServers` must be an object of servers by name.".to_owned());
        };
        let names: Vec<_> = entries.keys().cloned().collect();
        if let Some(name) =
            names.iter().find(|name| !(1..=64).contains(&name.chars().count()) || cleaned(name).is_empty())
        {
            let name = sayso_domain::text::cut(&sayso_domain::text::visible_line(name), 80);
            return Err(format!("`mcpServers` has a server whose name is not 1 to 64 characters: `{name}`."));
        }
        let prefixes = unique_prefixes(&names);
        let servers = entries.iter().zip(prefixes).map(|((name, entry), prefix)| {
            let (entry, is_disabled) =
                parse_entry(entry).map_err(|problem| format!("`mcpServers.{name}`: {problem}"))?;
            Ok(McpServer { name: name.clone(), prefix, entry, is_disabled })
        });
        Ok(Self { servers: servers.collect::<Result<_, String>>()? })
    }

    /// All servers, those that are switched off too.
    pub fn servers(&self) -> &[McpServer] {
        &self.servers
    }

    /// The server that a tool's name would belong to, whether or not it is there.
    pub fn server_of(&self, tool: &str) -> Option<&McpServer> {
        let fits = |server: &&McpServer| {
            tool.strip_prefix(server.prefix.as_str())
                .is_some_and(|rest| rest.len() > 1 && rest.starts_with('_'))
        };
        self.servers.iter().filter(fits).max_by_key(|server| server.prefix.len())
    }
}

impl McpServer {
    /// Its name, as the set-up has it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the names of its tools begin with, before a `_`.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Whether it is switched off.
    pub fn is_disabled(&self) -> bool {
        self.is_disabled
    }

    /// Its address, as written; none for a program.
    pub fn url(&self) -> Option<&str> {
        match &self.entry {
            McpEntry::Stdio { .. } => None,
            McpEntry::Http { url, .. } => Some(url),
        }
    }

    /// The program that would be started, on one line as a shell would take it, with the variables that it gets as they are
    /// written, since some decide what is started; the value of one that names a secret is left out. None for an address.
    pub fn command_line(&self) -> Option<String> {
        let McpEntry::Stdio { command, args, env, cwd } = &self.entry else { return None };
        let shown =
            |value: &str, name: &str| if names_a_secret(name) { "…".to_owned() } else { quoted(value) };
        let variables = env.iter().map(|(name, value)| format!("{}={}", quoted(name), shown(value, name)));
        let words = std::iter::once(command).chain(args).map(|word| quoted(word));
        let line = variables.chain(words).collect::<Vec<_>>().join(" ");
        Some(match cwd {
            Some(cwd) => format!("{line}   (in {})", quoted(cwd)),
            None => line,
        })
    }

    /// What a yes to starting it is bound to: the SHA-256 of its name, its command, arguments, variables as written,
    /// and where it would run. None for an address, which starts nothing.
    pub fn fingerprint(&self, folder: Option<&Path>) -> Option<String> {
        let McpEntry::Stdio { command, args, env, cwd } = &self.entry else { return None };
        let folder = folder.map(|folder| folder.display().to_string());
        let what = json!({
            "server": self.name, "command": command, "args": args, "env": env, "cwd": cwd, "folder": folder,
        });
        Some(Digest::of(&what.to_string()).to_string())
    }

    pub(crate) fn entry(&self) -> &McpEntry {
        &self.entry
    }
}

impl fmt::Debug for McpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpServer").field("name", &self.name).finish_non_exhaustive()
    }
}

fn parse_entry(entry: &Value) -> Result<(McpEntry, bool), String> {
    let Some(fields) = entry.as_object() else { return Err("it must be an object.".to_owned()) };
    let is_disabled = match present(fields, "disabled") {
        None => false,
        Some(flag) => flag.as_bool().ok_or("`disabled` must be true or false.")?,
    };
    let (command, url) = (text(fields, "command")?, text(fields, "url")?);
    let kind = text(fields, "type")?;
    let entry = match (kind.as_deref(), command, url) {
        (Some("sse"), _, _) => {
            return Err("`type` sse is the old transport, which Sayso does not speak: use the server's streamable HTTP \
                        address."
                .to_owned());
        }
        (None | Some("stdio"), Some(command), None) if !command.trim().is_empty() => McpEntry::Stdio {
            command,
            args: texts(fields, "args")?,
            env: pairs(fields, "env")?,
            cwd: text(fields, "cwd")?,
        },
        (None | Some("http" | "streamable-http" | "streamableHttp"), None, Some(url)) => {
            // An address that a reference completes is checked when it is complete.
            if !url.contains("${") {
                check_address(&url)?;
            }
            McpEntry::Http { url, headers: pairs(fields, "headers")? }
        }
        (None | Some("stdio" | "http" | "streamable-http" | "streamableHttp"), _, _) => {
            return Err("it needs either `command` (a program to start) or `url` (an address), and a `type` that fits, \
                        if any: stdio or http."
                .to_owned());
        }
        (Some(_), _, _) => return Err("`type` must be stdio or http.".to_owned()),
    };
    Ok((entry, is_disabled))
}

/// Without the address itself in the error: a key may be in it.
pub(super) fn check_address(url: &str) -> Result<url::Url, String> {
    let wrong = || "`url` must be an http or https address without a user and a password.".to_owned();
    let parsed = url::Url::parse(url).map_err(|_| wrong())?;
    let is_plain = parsed.username().is_empty() && parsed.password().is_none();
    if matches!(parsed.scheme(), "http" | "https") && parsed.has_host() && is_plain {
        Ok(parsed)
    } else {
        Err(wrong())
    }
}

fn present<'a>(fields: &'a Map<String, Value>, key: &str) -> Option<&'a Value> {
    fields.get(key).filter(|value| !value.is_null())
}

fn text(fields: &Map<String, Value>, key: &str) -> Result<Option<String>, String> {
    match present(fields, key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(format!("`{key}` must be a text.")),
    }
}

fn texts(fields: &Map<String, Value>, key: &str) -> Result<Vec<String>, String> {
    let wrong = || format!("`{key}` must be a list of texts.");
    let Some(list) = present(fields, key) else { return Ok(Vec::new()) };
    let list = list.as_array().ok_or_else(wrong)?;
    list.iter().map(|item| item.as_str().map(str::to_owned).ok_or_else(wrong)).collect()
}

/// Numbers and truth values are taken as their text, as other programs do.
fn pairs(fields: &Map<String, Value>, key: &str) -> Result<Vec<(String, String)>, String> {
    let Some(object) = present(fields, key) else { return Ok(Vec::new()) };
    let object = object.as_object().ok_or_else(|| format!("`{key}` must be an object of texts."))?;
    let pair = |(name, value): (&String, &Value)| match value {
        Value::String(text) => Ok((name.clone(), text.clone())),
        Value::Number(number) => Ok((name.clone(), number.to_string())),
        Value::Bool(flag) => Ok((name.clone(), flag.to_string())),
        Value::Null | Value::Array(_) | Value::Object(_) => Err(format!("`{key}.{name}` must be a text.")),
    };
    object.iter().map(pair).collect()
}

/// A word as a shell would take it, on one line: what cannot be seen, such as a line break, is written as an escape.
fn quoted(word: &str) -> String {
    if word.chars().any(char::is_control) {
        let escaped = word.chars().map(|c| match c {
            '\n' => "\\n".to_owned(),
            '\r' => "\\r".to_owned(),
            '\t' => "\\t".to_owned(),
            '\\' | '\'' => format!("\\{c}"),
            c if c.is_control() => format!("\\u{:04x}", u32::from(c)),
            c => c.to_string(),
        });
        return format!("$'{}'", escaped.collect::<String>());
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./=:@%+,~".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
