//! The sentences of the reference and the tests that show them: each id `[S-chapter-n]` that stands in `spec` is named in a
//! comment of a program or a test, and each id that is named stands there.

use std::collections::BTreeMap;

use crate::tree::Text;

/// The complaints.
pub(crate) fn check(files: &[Text]) -> Vec<String> {
    let mut errors = vec![];
    let mut defined: BTreeMap<String, String> = BTreeMap::new();
    let mut named: BTreeMap<String, String> = BTreeMap::new();
    for file in files {
        let (sentences, comments) = ids(file);
        for (id, place) in sentences {
            let chapter = id.split('-').nth(1).unwrap_or_default();
            if file.path != format!("spec/{chapter}.md") {
                errors.push(format!("{place}: {id} is not of this chapter"));
            }
            if let Some(first) = defined.insert(id.clone(), place.clone()) {
                errors.push(format!("{place}: {id} stands at {first} too"));
            }
        }
        for (id, place) in comments {
            named.entry(id).or_insert(place);
        }
    }
    let untested = defined.iter().filter(|(id, _)| !named.contains_key(*id));
    errors.extend(untested.map(|(id, place)| format!("{place}: no test names {id}")));
    let unknown = named.iter().filter(|(id, _)| !defined.contains_key(*id));
    errors.extend(unknown.map(|(id, place)| format!("{place}: no sentence has the id {id}")));
    errors
}

/// Ids with their places.
type Ids = Vec<(String, String)>;

/// The ids that the file gives to sentences, and those that its comments name.
fn ids(file: &Text) -> (Ids, Ids) {
    let (mut sentences, mut comments) = (vec![], vec![]);
    let chapter = file.path.starts_with("spec/") && file.path.ends_with(".md");
    let code = file.path.ends_with(".rs") || file.path.ends_with(".adl");
    if !(chapter || code) || file.path == "xtask/src/sentences.rs" || file.path == "spec/README.md" {
        return (sentences, comments);
    }
    let mut in_block = false;
    for (k, line) in file.text.lines().enumerate() {
        let place = format!("{}:{}", file.path, k + 1);
        if chapter && line.starts_with("```") {
            in_block = !in_block;
        } else if chapter && !in_block {
            for part in line.split("[S-").skip(1) {
                let id = part.split(']').next().unwrap_or_default();
                sentences.push((format!("S-{id}"), place.clone()));
            }
        } else if let Some((_, comment)) = line.split_once("//") {
            let words =
                comment.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
            let ids = words.filter(|word| is_id(word));
            comments.extend(ids.map(|id| (id.to_string(), place.clone())));
        }
    }
    (sentences, comments)
}

fn is_id(word: &str) -> bool {
    let parts: Vec<&str> = word.split('-').collect();
    matches!(parts[..], ["S", chapter, number] if !chapter.is_empty() && number.parse::<u32>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> Text {
        Text { path: path.to_string(), text: text.to_string() }
    }

    #[test]
    fn ids_have_to_meet() {
        let chapter = "[S-types-1] One.\n[S-types-2] Two.\n[S-types-2] Two again.\n[S-sizes-1] Elsewhere.\n\
                       [S-types-4] Four.\n```adl\n// S-types-1\n```\n";
        let program = file("tests/corpus/a.adl", "// S-types-2 S-sizes-1 S-types-3\n1 + 1\n");
        let found = check(&[file("spec/types.md", chapter), program]);
        assert_eq!(
            found,
            [
                "spec/types.md:3: S-types-2 stands at spec/types.md:2 too",
                "spec/types.md:4: S-sizes-1 is not of this chapter",
                "spec/types.md:5: no test names S-types-4",
                "tests/corpus/a.adl:1: no sentence has the id S-types-3",
            ]
        );
    }
}
