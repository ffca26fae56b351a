use super::super::super::RiskLevel::{High, Medium};
use super::super::super::note::RiskCode::Deletes;
use super::super::judge::{Call, Does, Judge};
use super::super::word::{Word, join};
use super::delete::{self, Reach};
use crate::risk::place::{Place, UNSEEN};

pub(super) fn judge(judge: &mut Judge<'_>, call: &Call<'_>, does: &mut Does) -> bool {
    match call.program {
        "find" | "gfind" => find(judge, call, does),
        "fd" | "fdfind" => {
            let at = call
                .words
                .iter()
                .position(|word| matches!(word.text.as_str(), "-x" | "-X" | "--exec" | "--exec-batch"));
            if let Some(at) = at {
                let words: Vec<_> =
                    call.words[at + 1..].iter().map(|word| filled(word, &format!("./{UNSEEN}"))).collect();
                let words = if call.words[at + 1..].iter().any(|word| word.text.contains('{')) {
                    words
                } else {
                    [words, vec![Word::plain(UNSEEN)]].concat()
                };
                does.add(&judge.words(&words, &call.part, &[]));
            }
        }
        _ => return false,
    }
    true
}

fn find(judge: &mut Judge<'_>, call: &Call<'_>, does: &mut Does) {
    let words = call.words;
    let expressions =
        words.iter().position(|word| word.text.starts_with(['-', '(', '!']) && !is_early(&word.text));
    let (places, rest) = words.split_at(expressions.unwrap_or(words.len()));
    let mut places: Vec<&str> =
        places.iter().map(|word| word.text.as_str()).filter(|text| !is_early(text)).collect();
    if places.is_empty() {
        places.push(".");
    }
    let name = rest
        .iter()
        .position(|word| matches!(word.text.as_str(), "-name" | "-iname"))
        .and_then(|at| rest.get(at + 1));
    let narrowed = rest.iter().any(|word| {
        matches!(
            word.text.as_str(),
            "-name"
                | "-iname"
                | "-path"
                | "-ipath"
                | "-wholename"
                | "-regex"
                | "-iregex"
                | "-empty"
                | "-newer"
                | "-mtime"
                | "-size"
        )
    }) && name.is_none_or(|name| name.text != "*");
    let found = |place: &&str| {
        let name = name.map(|word| word.text.as_str()).filter(|name| !name.contains(['*', '?', '[', '/']));
        format!("{place}/{}", name.map_or(UNSEEN.to_string(), str::to_owned))
    };
    let mut at = 0;
    while let Some(word) = rest.get(at) {
        at += 1;
        match word.text.as_str() {
            "-delete" => places.iter().for_each(|place| deletes(judge, call, place, narrowed)),
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let end = rest[at..].iter().position(|word| matches!(word.text.as_str(), ";" | "+"));
                let end = end.map_or(rest.len(), |end| at + end);
                for place in &places {
                    let inner: Vec<_> =
                        rest[at..end].iter().map(|word| filled(word, &found(place))).collect();
                    does.add(&judge.words(&inner, &call.part, &[]));
                }
                at = end;
            }
            "-fprint" | "-fprintf" | "-fls" | "-fprint0" => {
                if let Some(file) = rest.get(at) {
                    judge.write_file(&file.text, &call.part);
                }
            }
            _ => {}
        }
    }
}

fn deletes(judge: &mut Judge<'_>, call: &Call<'_>, place: &str, narrowed: bool) {
    match judge.folders.place(place) {
        Place::Inside | Place::Rebuilt | Place::Whole | Place::Temporary | Place::Nowhere if narrowed => {
            judge.note(Deletes, Medium, "Deletes every file that fits a pattern.", &call.part);
        }
        Place::Unseen if narrowed => {
            judge.note(Deletes, High, "Deletes folders that cannot be seen here.", &call.part)
        }
        Place::Inside
        | Place::Rebuilt
        | Place::Whole
        | Place::Temporary
        | Place::Nowhere
        | Place::Unseen
        | Place::Outside
        | Place::Vital
        | Place::Disk => delete::deletes(judge, call, place, Reach::Folders),
    }
}

fn is_early(text: &str) -> bool {
    matches!(text, "-H" | "-L" | "-P") || text.starts_with("-O") || text.starts_with("-D")
}

fn filled(word: &Word, found: &str) -> Word {
    let text = join(std::slice::from_ref(word)).replace("{}", found);
    Word { text, ..word.clone() }
}
