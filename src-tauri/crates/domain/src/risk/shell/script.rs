//! From the parser's tree to flat lists. The tree is walked with a cursor, not by recursion, so that no depth of nesting
//! can exhaust the stack.

use std::cmp::Reverse;
use std::ops::{ControlFlow, Range};

use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree};

use super::split;

/// How often the parser may report progress before it is told to give up: bounds its work, where a limit on time would
/// need a clock.
const STEPS: usize = 6000;
/// How many commands are taken from one text.
const COMMANDS: usize = 1500;

/// The commands of a text and how they hang together. Places are bytes of the text.
#[derive(Debug, Default)]
pub(super) struct Script {
    /// In the order of the text; those of substitutions lie within the ones that use them.
    pub(super) commands: Vec<Found>,
    /// Each pipe's stages.
    pub(super) pipes: Vec<Vec<Range<usize>>>,
    /// Functions: their names and bodies.
    pub(super) functions: Vec<(String, Range<usize>)>,
    /// Variables and what they are given; nothing is an empty text.
    pub(super) assigned: Vec<(String, Given)>,
    /// Files that are written: what it is that writes, and the name.
    pub(super) written: Vec<(Range<usize>, Range<usize>)>,
    /// How much of the text this is.
    pub(super) read: Reading,
}

/// How much of a text was understood.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Reading {
    /// All.
    #[default]
    Whole,
    /// The parser found what it does not know: commands were also looked for without it.
    Broken,
    /// There was more than the limits allow.
    TooMuch,
}

/// What a variable is given.
#[derive(Debug)]
pub(super) enum Given {
    Word(Range<usize>),
    Unseen,
}

/// A simple command.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) span: Range<usize>,
    pub(super) words: Vec<Range<usize>>,
    /// Variables that are set for it alone.
    pub(super) set: Vec<(String, Range<usize>)>,
    pub(super) inputs: Vec<Input>,
    /// Whether what follows happens only after it worked, as in `cd x && …` on the text's own level.
    pub(super) leads: bool,
}

/// Where a command reads from.
#[derive(Clone, Debug)]
pub(super) enum Input {
    /// A here-document's text.
    Document(Range<usize>),
    /// A here-string: a word.
    Word(Range<usize>),
    /// A file's name.
    File(Range<usize>),
}

/// Takes a text apart. Never fails: what cannot be read is split plainly, and [`Script::read`] says so.
pub(super) fn read(text: &str) -> Script {
    let mut script = Script::default();
    let Some(tree) = parse(text) else {
        script.read = Reading::TooMuch;
        script.add_pieces(text);
        return script;
    };
    Walk { text, script: &mut script, inputs: Vec::new(), more: Vec::new() }.run(&tree);
    if tree.root_node().has_error() && script.read == Reading::Whole {
        script.read = Reading::Broken;
    }
    if script.read != Reading::Whole {
        script.add_pieces(text);
    }
    script
}

fn parse(text: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    // A shell takes these for letters of a word. The parser would take some for spaces, and its C code must not see
    // characters that it has no room for. Their bytes stay in place, so that places are those of the text.
    let bytes: Vec<u8> = text.bytes().map(|byte| if is_letter(byte) { b'x' } else { byte }).collect();
    let mut steps = 0;
    let mut progress = |_: &ParseState| {
        steps += 1;
        if steps > STEPS { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    parser.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), None, Some(options))
}

fn is_letter(byte: u8) -> bool {
    !byte.is_ascii() || (byte.is_ascii_control() && byte != b'\n' && byte != b'\t')
}

impl Script {
    fn add_pieces(&mut self, text: &str) {
        let mut stages: Vec<Range<usize>> = Vec::new();
        for piece in split::commands(text) {
            if !piece.piped && !stages.is_empty() {
                self.pipes.push(std::mem::take(&mut stages));
            }
            let span = piece.span;
            stages.push(span.clone());
            let source = text.get(span.clone()).unwrap_or_default();
            let words = split::spans(source).into_iter();
            let words: Vec<_> = words.map(|word| span.start + word.start..span.start + word.end).collect();
            if words.is_empty() {
                continue;
            }
            if self.commands.len() >= 2 * COMMANDS {
                self.read = Reading::TooMuch;
                break;
            }
            self.commands.push(Found { span, words, ..Found::default() });
        }
        self.pipes.push(stages);
        self.commands.sort_by_key(|command| (command.span.start, Reverse(command.span.end)));
    }
}

struct Walk<'t> {
    text: &'t str,
    script: &'t mut Script,
    inputs: Vec<(Range<usize>, Input)>,
    /// Words that stand behind a redirection belong to the command before it.
    more: Vec<(Range<usize>, Range<usize>)>,
}

impl Walk<'_> {
    fn run(mut self, tree: &Tree) {
        let mut cursor = tree.walk();
        let mut above: Vec<Node<'_>> = Vec::new();
        loop {
            let node = cursor.node();
            if self.script.commands.len() >= COMMANDS {
                self.script.read = Reading::TooMuch;
                break;
            }
            self.visit(node, &above);
            if cursor.goto_first_child() {
                above.push(node);
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    self.attach();
                    return;
                }
                above.pop();
            }
        }
        self.attach();
    }

    fn attach(self) {
        let commands = &mut self.script.commands;
        for (body, input) in self.inputs {
            let first = commands.partition_point(|command| command.span.start < body.start);
            let within = commands[first..].iter_mut().take_while(|command| command.span.start < body.end);
            within.take(64).for_each(|command| command.inputs.push(input.clone()));
        }
        for (body, word) in self.more {
            let first = commands.partition_point(|command| command.span.start < body.start);
            if let Some(command) = commands.get_mut(first).filter(|command| command.span == body) {
                command.words.push(word);
            }
        }
    }

    fn visit(&mut self, node: Node<'_>, above: &[Node<'_>]) {
        match node.kind() {
            "command" | "declaration_command" | "unset_command" => self.command(node, above),
            "variable_assignment" => self.assignment(node),
            "for_statement" => self.for_statement(node),
            "pipeline" => self.pipe(node, above),
            "function_definition" => {
                if let (Some(name), Some(body)) =
                    (node.child_by_field_name("name"), node.child_by_field_name("body"))
                {
                    self.script.functions.push((self.source(name).to_owned(), body.byte_range()));
                }
            }
            "file_redirect" => self.file(node, above),
            "heredoc_redirect" => self.document(node, above),
            "herestring_redirect" => {
                if let (Some(body), Some(word)) = (body_of(above), last_child(node)) {
                    self.inputs.push((body, Input::Word(word.byte_range())));
                }
            }
            _ => {}
        }
    }

    fn command(&mut self, node: Node<'_>, above: &[Node<'_>]) {
        let mut found = Found { span: node.byte_range(), ..Found::default() };
        let mut cursor = node.walk();
        let mut end = node.start_byte();
        for child in node.children(&mut cursor) {
            // The parser takes some line breaks before a here-document for spaces, without an error.
            let between = self.text.get(end..child.start_byte()).unwrap_or_default();
            if between.replace("\\\n", "").contains('\n') && self.script.read == Reading::Whole {
                self.script.read = Reading::Broken;
            }
            end = child.end_byte();
            match child.kind() {
                "file_redirect" | "herestring_redirect" | "heredoc_redirect" | "comment" => {}
                "variable_assignment" if node.kind() == "command" => {
                    if let Some((name, value)) = self.name_and_value(child) {
                        found.set.push((name, value));
                    }
                }
                _ => match found.words.last_mut() {
                    Some(last) if last.end == child.start_byte() => last.end = child.end_byte(),
                    _ => found.words.push(child.byte_range()),
                },
            }
        }
        let first = found.words.first().and_then(|span| self.text.get(span.clone()));
        found.leads = matches!(first, Some("cd" | "pushd")) && leads(node, above);
        self.script.commands.push(found);
    }

    fn assignment(&mut self, node: Node<'_>) {
        let Some((name, value)) = self.name_and_value(node) else { return };
        let adds = node.child(1).is_some_and(|operator| operator.kind() == "+=");
        let given = match node.child_by_field_name("value") {
            _ if adds => Given::Unseen,
            Some(array) if array.kind() == "array" => {
                let mut cursor = array.walk();
                for item in array.named_children(&mut cursor) {
                    self.script.assigned.push((name.clone(), Given::Word(item.byte_range())));
                }
                // All of them together, without the brackets.
                Given::Word(
                    (array.start_byte() + 1).min(array.end_byte())..array.end_byte().saturating_sub(1),
                )
            }
            Some(_) | None => Given::Word(value),
        };
        self.script.assigned.push((name, given));
    }

    fn name_and_value(&self, node: Node<'_>) -> Option<(String, Range<usize>)> {
        let name = self.source(node.child_by_field_name("name")?);
        let name = name.split('[').next().unwrap_or_default().to_owned();
        let value = node.child_by_field_name("value").map(|value| value.byte_range());
        Some((name, value.unwrap_or(node.end_byte()..node.end_byte())))
    }

    fn for_statement(&mut self, node: Node<'_>) {
        let Some(name) = node.child_by_field_name("variable").map(|name| self.source(name).to_owned()) else {
            return;
        };
        let mut cursor = node.walk();
        for value in node.children_by_field_name("value", &mut cursor) {
            self.script.assigned.push((name.clone(), Given::Word(value.byte_range())));
        }
    }

    fn pipe(&mut self, node: Node<'_>, above: &[Node<'_>]) {
        let mut cursor = node.walk();
        let mut stages: Vec<_> = node.named_children(&mut cursor).map(|stage| stage.byte_range()).collect();
        // `cat <<END | sh`: the first stage is what the document is for.
        if let Some(body) =
            body_of(above).filter(|_| above.last().is_some_and(|last| last.kind() == "heredoc_redirect"))
        {
            stages.insert(0, body);
        }
        self.script.pipes.push(stages);
    }

    fn file(&mut self, node: Node<'_>, above: &[Node<'_>]) {
        let Some(body) = body_of(above) else { return };
        let mut cursor = node.walk();
        let mut destinations = node.children_by_field_name("destination", &mut cursor);
        let Some(first) = destinations.next() else { return };
        self.more.extend(destinations.map(|word| (body.clone(), word.byte_range())));
        let mut cursor = node.walk();
        let operator = node.children(&mut cursor).find(|child| !child.is_named()).map(|child| child.kind());
        match operator {
            Some("<") => self.inputs.push((body, Input::File(first.byte_range()))),
            Some(">&" | "<&")
                if self.source(first).bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') => {}
            Some(_) | None => self.script.written.push((body, first.byte_range())),
        }
    }

    fn document(&mut self, node: Node<'_>, above: &[Node<'_>]) {
        let Some(body) = body_of(above) else { return };
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            match child.kind() {
                "heredoc_body" => self.inputs.push((body.clone(), Input::Document(child.byte_range()))),
                // Where the document ends is then read otherwise than a shell reads it.
                "heredoc_start"
                    if !self.source(child).bytes().all(|byte| byte.is_ascii() && byte != b'\\') =>
                {
                    self.script.read = Reading::Broken;
                }
                _ => {}
            }
        }
        let mut cursor = node.walk();
        let words = node.children_by_field_name("argument", &mut cursor);
        self.more.extend(words.map(|word| (body.clone(), word.byte_range())));
    }

    fn source(&self, node: Node<'_>) -> &str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }
}

/// What a redirection is for: the command, or the whole that it stands behind.
fn body_of(above: &[Node<'_>]) -> Option<Range<usize>> {
    let owner = above.iter().rev().find(|node| node.kind() != "heredoc_redirect")?;
    match owner.kind() {
        "redirected_statement" => {
            owner.child_by_field_name("body").or(Some(*owner)).map(|body| body.byte_range())
        }
        _ => Some(owner.byte_range()),
    }
}

fn last_child(node: Node<'_>) -> Option<Node<'_>> {
    node.named_child(u32::try_from(node.named_child_count().checked_sub(1)?).ok()?)
}

fn leads(node: Node<'_>, above: &[Node<'_>]) -> bool {
    let plain = above.iter().all(|node| matches!(node.kind(), "program" | "list" | "redirected_statement"));
    plain && node.next_sibling().is_some_and(|next| next.kind() == "&&")
}
