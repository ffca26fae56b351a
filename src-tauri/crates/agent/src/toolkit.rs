use std::fmt;
use std::sync::{Arc, LazyLock};

use crate::{Arguments, Tool, ToolSpec, tools};

/// The tools of an agent. Cheap to clone.
#[derive(Clone, Default)]
pub struct Toolkit {
    /// Shared until one is added.
    tools: Arc<Vec<(ToolSpec, Arc<dyn Tool>)>>,
}

/// What the standard tools need to know.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolSetup {
    /// Whether `web_fetch` may reach this machine and private networks.
    pub allow_private_addresses: bool,
    /// How much a tool may take and give.
    pub limits: Limits,
}

/// How much a tool may take and give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most that one call gives back to the model, in bytes; what is cut is marked.
    pub output: usize,
    /// The largest file that is read or edited, in bytes.
    pub file: u64,
    /// The time of a command that names none.
    pub command: std::time::Duration,
    /// The longest time that a command may ask for.
    pub longest_command: std::time::Duration,
    /// The time of a fetch, redirects included.
    pub fetch: std::time::Duration,
    /// The largest page that is fetched, in bytes; the rest is cut and marked.
    pub page: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            output: 64 * 1024,
            file: 16 * 1024 * 1024,
            command: std::time::Duration::from_secs(120),
            longest_command: std::time::Duration::from_secs(600),
            fetch: std::time::Duration::from_secs(30),
            page: 4 * 1024 * 1024,
        }
    }
}

impl Toolkit {
    /// No tools.
    pub fn new() -> Self {
        Self::default()
    }

    /// `shell`, `read_file`, `write_file`, `edit_file`, `list_files`, `search_files`, `web_fetch` and `question`.
    pub fn standard(setup: &ToolSetup) -> Self {
        // Those that most agents have are described once: each drive of a run asks for them.
        static USUAL: LazyLock<Toolkit> = LazyLock::new(|| Toolkit::made(&ToolSetup::default()));
        if *setup == ToolSetup::default() { USUAL.clone() } else { Self::made(setup) }
    }

    fn made(setup: &ToolSetup) -> Self {
        tools::standard(setup).into_iter().fold(Self::new(), Self::with_shared)
    }

    /// With one more tool. It replaces one of the same name.
    #[must_use]
    pub fn with(self, tool: impl Tool + 'static) -> Self {
        self.with_shared(Arc::new(tool))
    }

    /// With one more tool that others hold too.
    #[must_use]
    pub fn with_shared(mut self, tool: Arc<dyn Tool>) -> Self {
        let spec = tool.spec();
        let tools = Arc::make_mut(&mut self.tools);
        tools.retain(|(existing, _)| existing.name != spec.name);
        tools.push((spec, tool));
        self
    }

    /// The tool with a name.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.iter().find(|(spec, _)| spec.name == name).map(|(_, tool)| tool)
    }

    /// The schema that edited arguments of a tool must fit, if a person may edit them.
    pub(crate) fn editable(&self, name: &str) -> Option<serde_json::Value> {
        let (spec, tool) = self.tools.iter().find(|(spec, _)| spec.name == name)?;
        tool.is_editable().then(|| spec.schema.clone())
    }

    /// What a model is told of them, in the order in which they were added.
    pub fn specs(&self) -> impl Iterator<Item = &ToolSpec> {
        self.tools.iter().map(|(spec, _)| spec)
    }

    /// A call on one line, for whoever shows it; the arguments themselves where the tool is unknown or cannot read them.
    pub fn summary(&self, name: &str, arguments: &str) -> String {
        match (self.get(name), Arguments::parse(arguments)) {
            (Some(tool), Ok(arguments)) => tool.summary(&arguments.value),
            (None, _) | (_, Err(_)) => sayso_domain::text::cut(arguments, 200),
        }
    }
}

impl fmt::Debug for Toolkit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.specs().map(|spec| &spec.name)).finish()
    }
}
