use sayso_domain::Time;

#[derive(Debug, Default, PartialEq, Eq, clap::Args)]
pub(crate) struct Filters {
    /// Words anywhere in a decision: "quoted phrases" and -without, parts of paths, --options.
    #[arg(long, value_name = "WORDS", allow_hyphen_values = true)]
    pub(crate) text: Option<String>,
    /// How it was decided.
    #[arg(long, value_parser = ["approved", "answered", "declined", "cancelled", "expired"])]
    pub(crate) outcome: Option<String>,
    /// Who asked.
    #[arg(long, value_name = "NAME")]
    pub(crate) source: Option<String>,
    /// What was asked for: approval, tool_call, question, input, authorization, or another kind.
    #[arg(long)]
    pub(crate) kind: Option<String>,
    /// Who or what decided.
    #[arg(long, value_parser = ["person", "rule", "deadline", "source", "stop"])]
    pub(crate) decided_by: Option<String>,
    /// Where a person decided.
    #[arg(long, value_parser = ["window", "notification", "tray", "cli", "browser"])]
    pub(crate) surface: Option<String>,
    /// The tool.
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// The risk as it was shown.
    #[arg(long, value_parser = ["low", "medium", "high"])]
    pub(crate) risk: Option<String>,
    /// The run that waited.
    #[arg(long)]
    pub(crate) run: Option<String>,
    /// Decided at or after: 2026-01-31 or 2026-01-31T12:00:00Z.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) since: Option<Time>,
    /// Decided before: 2026-01-31, of which the whole day counts, or 2026-01-31T12:00:00Z.
    #[arg(long, value_name = "TIME", value_parser = end)]
    pub(crate) until: Option<Time>,
    /// At most so many; 100 unless told.
    #[arg(long, value_name = "N", conflicts_with = "all")]
    pub(crate) limit: Option<u32>,
    /// All of them.
    #[arg(long)]
    pub(crate) all: bool,
}

/// Of a day, its end.
fn end(text: &str) -> Result<Time, String> {
    const DAY: i64 = 24 * 60 * 60 * 1000;
    let is_day = !text.contains(['T', 't', ' ']);
    time(text).map(|time| if is_day { Time::from_millis(time.as_millis() + DAY) } else { time })
}

/// A moment, or the beginning of a day.
pub(crate) fn time(text: &str) -> Result<Time, String> {
    let day = || format!("{text}T00:00:00Z").parse();
    text.parse().or_else(|_| day()).map_err(|_: sayso_domain::ParseTimeError| {
        "write a day such as 2026-01-31, or a time such as 2026-01-31T12:00:00Z".to_owned()
    })
}
