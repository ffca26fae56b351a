use std::future::Future;
use std::sync::Arc;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::Value;

use sayso_domain::ToolResult;

use crate::{Arguments, NativeTool, ToolContext};

impl NativeTool {
    /// A tool whose arguments are a type: the model is told its JSON schema, and gets an error if what it writes does not
    /// fit; then nothing runs and nobody is asked. Descriptions are the type's doc comments.
    ///
    /// ```
    /// use sayso_agent::{NativeTool, schemars};
    /// use sayso_domain::{Kind, Request, ToolResult};
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// # #[schemars(crate = "sayso_agent::schemars")]
    /// struct Purchase {
    ///     /// What to buy.
    ///     item: String,
    ///     /// In whole euros.
    ///     limit: u32,
    /// }
    ///
    /// let purchase = NativeTool::typed("purchase", "Buys an item", async |order: Purchase, context| {
    ///     match context.answer {
    ///         Some(_) => ToolResult::ok(format!("bought {}", order.item)),
    ///         None => ToolResult::pending(&Request::new("", Kind::Approval, format!("Buy {}?", order.item))),
    ///     }
    /// });
    /// ```
    pub fn typed<A, F, R>(name: impl Into<String>, description: impl Into<String>, body: F) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        F: Fn(A, ToolContext) -> R + Send + Sync + 'static,
        R: Future<Output = ToolResult> + Send + 'static,
    {
        let body = Arc::new(body);
        let run = move |arguments: Arguments, context| {
            let body = Arc::clone(&body);
            async move {
                match read::<A>(&arguments) {
                    Ok(arguments) => body(arguments, context).await,
                    Err(error) => error,
                }
            }
        };
        Self::new(name, description, schema_of::<A>(), run)
            .checked(|arguments| read::<A>(arguments).map(drop))
    }
}

fn read<A: DeserializeOwned>(arguments: &Arguments) -> Result<A, ToolResult> {
    serde_json::from_value(arguments.value.clone())
        .map_err(|error| ToolResult::error(format!("The arguments do not fit ({error}). Nothing was run.")))
}

/// The schema in one piece: many a local model cannot follow a reference.
fn schema_of<A: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<A>().to_value();
    if let Some(fields) = schema.as_object_mut() {
        // The type's name is no business of the model.
        fields.shift_remove("title");
    }
    schema
}
