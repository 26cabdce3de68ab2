//! Very many memories stay within their bounds.

use std::time::Duration;

use cepa_core::testing::ScriptedModel;

use crate::support::{Memories, builder, choice, hints, prompt};

const FILES: usize = 10_000;

#[tokio::test(start_paused = true)]
async fn ten_thousand_memories_stay_within_the_tokens_of_prompt_and_selection() {
    let memories = Memories::new();
    let words = "it is {known} ".repeat(300);
    let mut index = String::new();
    for number in 0..FILES {
        let name = format!("note_{number}.md");
        memories.put(
            &name,
            format!("---\nname: N\ndescription: {words}\ntype: user\n---\n\n{words}{words}{words}\n"),
        );
        index += &format!("- [N]({name}) — note\n");
    }
    memories.put("MEMORY.md", &index);
    let selector = ScriptedModel::answering(|request| {
        let manifest = request.messages[1].text().unwrap();
        let names = manifest.lines().filter_map(|line| line.strip_prefix("- [user] ")?.split(' ').next());
        choice(&names.take(5).collect::<Vec<_>>())
    });
    let minute = Duration::from_secs(60);
    let layer = memories
        .builder()
        .memory_instructions("MEM")
        .retrieval_instructions("PICK")
        .retrieval_model(selector.clone())
        .wait_up_to(minute)
        .build()
        .unwrap();
    let model = ScriptedModel::new(["Hello."]);
    builder(&model).middleware(layer).build().unwrap().reply("Hi").await.unwrap();

    let prompt = prompt(&model.requests()[0]);
    let (shown, left_out) = prompt.split_once("\n<system-reminder>").unwrap();
    assert!(shown.len() / 4 <= 4_000 + 10, "{}", shown.len());
    let lines = shown.matches("\n- [N]").count();
    assert!(lines > 400 && left_out.contains(&format!("{} more lines", FILES - lines)), "{left_out}");

    let question = selector.requests()[0].messages[1].text().unwrap();
    assert_eq!(question.matches("- [user] note_").count(), 200);
    assert!(question.len() / 4 <= 200 * (256 + 12), "{}", question.len());

    let hints = hints(&model.requests()[0]);
    assert_eq!(hints.len(), 1);
    assert_eq!(hints[0].matches("From memory, saved today").count(), 5);
    assert!(hints[0].len() / 4 <= 5 * (2_000 + 80), "{}", hints[0].len());
}
