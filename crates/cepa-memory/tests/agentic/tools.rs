//! The tools, as a model uses them.

use cepa_core::{
    serde_json::json,
    testing::{Answer, ScriptedModel},
};

use crate::support::{Memories, builder, note, prompt};

#[tokio::test]
async fn what_one_session_saves_the_next_one_knows_without_anybody_being_asked() {
    let memories = Memories::new();
    let layer = || memories.builder().retrieval(false).build().unwrap();
    let model = ScriptedModel::new([
        Answer::new().tool_call("memory_write", note("tea.md", "Likes {tea}: green.")),
        "Noted.".into(),
    ]);
    let reply = builder(&model).middleware(layer()).build().unwrap().reply("I like green tea").await.unwrap();
    assert_eq!(reply.text().as_deref(), Some("Noted."));
    assert!(prompt(&model.requests()[0]).ends_with(cepa_memory::texts::MEMORY_EMPTY));

    let model = ScriptedModel::new(["Green tea?"]);
    builder(&model).middleware(layer()).build().unwrap().reply("A drink, please").await.unwrap();
    let prompt = prompt(&model.requests()[0]);
    assert!(prompt.ends_with("## MEMORY.md\n- [A note](tea.md) — When it is asked for\n"), "{prompt}");
    assert_eq!(
        memories.text("tea.md"),
        "---\nname: A note\ndescription: When it is asked for\ntype: user\n---\n\nLikes {tea}: green.\n"
    );
}

#[test]
fn memories_are_read_searched_changed_and_deleted_with_their_lines_of_the_index() {
    let memories = Memories::with(&[("MEMORY.md", "# Mine\n")]);
    memories.call("memory_write", note("a/b.md", "One\nTwo\nThree")).unwrap();
    memories.call("memory_write", note("c.md", "Four")).unwrap();
    let index =
        "# Mine\n- [A note](a/b.md) — When it is asked for\n- [A note](c.md) — When it is asked for\n";
    assert_eq!(memories.text("MEMORY.md"), index);

    let read = |offset: usize, limit: usize| {
        memories.call("memory_read", json!({"file": "a/b.md", "offset": offset, "limit": limit})).unwrap()
    };
    assert_eq!(read(7, 1), "One\n[2 more lines: go on with offset 8]");
    assert_eq!(read(8, 9), "Two\nThree\n");
    // A whole path, as prompts and hints have it.
    let path = memories.path("c.md").display().to_string();
    assert!(memories.call("memory_read", json!({"file": path})).unwrap().ends_with("\n\nFour\n"));

    assert_eq!(memories.call("memory_search", json!({"text": "THREE"})).unwrap(), "a/b.md:9: Three");
    assert_eq!(memories.call("memory_search", json!({"text": "five"})).unwrap(), "No memory holds that.");

    let edit = |old: &str, new: &str| {
        memories.call("memory_edit", json!({"file": "c.md", "old_text": old, "new_text": new}))
    };
    edit("asked for", "needed").unwrap();
    assert_eq!(
        memories.text("MEMORY.md"),
        index.replace("(c.md) — When it is asked for", "(c.md) — When it is needed")
    );
    assert!(edit("nowhere", "x").unwrap_err().contains("0 times"));
    assert!(edit("e", "x").unwrap_err().contains("read the file"));

    memories.call("memory_delete", json!({"file": "a/b.md"})).unwrap();
    assert_eq!(memories.text("MEMORY.md"), "# Mine\n- [A note](c.md) — When it is needed\n");
    assert!(!memories.path("a/b.md").exists());
    assert!(memories.call("memory_read", json!({"file": "a/b.md"})).unwrap_err().contains("memory_list"));
    assert!(
        memories.call("memory_delete", json!({"file": "MEMORY.md"})).unwrap_err().contains("memory_edit")
    );
}

#[test]
fn the_index_is_changed_by_hand_too_and_keeps_what_somebody_wrote() {
    let memories = Memories::new();
    memories.call("memory_write", note("a.md", "A")).unwrap();
    let edit = json!({"file": "MEMORY.md", "old_text": "- [A note]", "new_text": "## Drinks\n- [Tea]"});
    memories.call("memory_edit", edit).unwrap();
    memories.call("memory_write", note("b.md", "B")).unwrap();
    assert_eq!(
        memories.text("MEMORY.md"),
        "## Drinks\n- [Tea](a.md) — When it is asked for\n- [A note](b.md) — When it is asked for\n"
    );
}

#[test]
fn a_memory_of_the_same_name_is_not_written_over_unless_that_is_wanted() {
    let memories = Memories::new();
    memories.call("memory_write", note("role.md", "Ada is a surgeon")).unwrap();
    let refused = memories.call("memory_write", note("./role.md", "Ada is allergic to nuts")).unwrap_err();
    assert!(refused.contains("`role.md`") && refused.contains("memory_edit"), "{refused}");
    assert!(memories.text("role.md").contains("surgeon"));

    let mut whole = note("role.md", "Ada is retired");
    whole["replace"] = json!(true);
    assert!(memories.call("memory_write", whole).unwrap().contains("in the place of"));
    assert!(memories.text("role.md").ends_with("\n\nAda is retired\n"));
}

#[test]
fn what_is_listed_can_be_read_changed_and_deleted_and_what_is_saved_is_listed() {
    let memories = Memories::new();
    let deep = format!("{}deep.md", "1/".repeat(8));
    let by_hand = ["Meeting (2024) [draft].md", "Why?.md", "12:30.md", "a b.md"];
    for name in by_hand {
        memories.put(name, "---\ndescription: d\n---\ngem");
        // A new file has a name that all machines know.
        let new = note(&format!("new {name}"), "x");
        assert_eq!(memories.call("memory_write", new).is_ok(), name == "a b.md", "{name}");
    }
    memories.call("memory_write", note(&deep, "gem")).unwrap();
    memories.call("memory_write", note(&format!("1/{deep}"), "gem")).unwrap_err();
    let listed = memories.call("memory_list", json!({})).unwrap();
    let found = memories.call("memory_search", json!({"text": "gem"})).unwrap();
    for name in by_hand.into_iter().chain([&*deep]) {
        assert!(
            listed.contains(&format!("{name} (")) && found.contains(&format!("{name}:")),
            "{name}: {listed}"
        );
        assert!(memories.call("memory_read", json!({"file": name})).unwrap().contains("gem"), "{name}");
        let edit = json!({"file": name, "old_text": "gem", "new_text": "stone"});
        memories.call("memory_edit", edit).unwrap();
        let lines = || {
            let index = memories.text("MEMORY.md");
            index.matches(&format!("]({name})")).count() + index.matches(&format!("](<{name}>)")).count()
        };
        assert_eq!(lines(), 1, "{name}");
        memories.call("memory_delete", json!({"file": name})).unwrap();
        assert!(!memories.path(name).exists() && lines() == 0, "{name}");
    }
}

#[cfg(unix)]
#[test]
fn who_may_read_a_memory_does_not_change_with_it() {
    use std::{fs, os::unix::fs::PermissionsExt as _};

    let memories = Memories::new();
    memories.call("memory_write", note("a.md", "A")).unwrap();
    let usual = fs::metadata(memories.path("a.md")).unwrap().permissions().mode();
    for file in ["a.md", "MEMORY.md"] {
        fs::set_permissions(memories.path(file), fs::Permissions::from_mode(0o600)).unwrap();
    }
    let edit = json!({"file": "a.md", "old_text": "asked for", "new_text": "needed"});
    memories.call("memory_edit", edit).unwrap();
    memories.call("memory_write", note("b.md", "B")).unwrap();
    let mode = |file: &str| fs::metadata(memories.path(file)).unwrap().permissions().mode();
    assert_eq!([mode("a.md") & 0o777, mode("MEMORY.md") & 0o777, mode("b.md")], [0o600, 0o600, usual]);
    assert!(memories.text("MEMORY.md").contains("needed"));
}

#[test]
fn what_is_too_long_or_no_text_is_not_written_over_by_halves() {
    let memories = Memories::new();
    let long = "x".repeat(2 << 20);
    assert!(memories.call("memory_write", note("a.md", &long)).unwrap_err().contains("split it"));
    assert!(!memories.path("a.md").exists());
    memories.put("b.md", b"one \xff two");
    let edit = json!({"file": "b.md", "old_text": "one", "new_text": "1"});
    assert!(memories.call("memory_edit", edit).unwrap_err().contains("UTF-8"));
    assert_eq!(std::fs::read(memories.path("b.md")).unwrap(), b"one \xff two");
    memories.put("c.md", &long);
    assert!(memories.call("memory_read", json!({"file": "c.md"})).unwrap_err().contains("split it"));
    memories.call("memory_delete", json!({"file": "c.md"})).unwrap();
}
