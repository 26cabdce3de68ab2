use insta::assert_snapshot;

use super::{Style, waterfall};
use crate::{
    names,
    terminal::columns,
    view::{Node, Tree, scripted::weather},
};

fn plain(tree: &Tree, width: usize) -> String {
    waterfall(tree, Style { width, colours: false })
}

#[test]
fn a_reply_is_a_waterfall() {
    assert_snapshot!(plain(&weather(), 100), @r"
    SPAN                    0                       2.41 s    TIME  TOKENS   FIRST  STATUS
    invoke_agent Friday     ██████████████████████████████  2.41 s  732→24          ok
      chat gpt-5            ▒▒▒▒██████▏                     811 ms  612→20  340 ms  ok
      execute_tool weather            ██████████▏           802 ms                  ERROR tool_error: n…
        GET /v1/stations              ██████████            780 ms
      chat gpt-5                                ▒▒████████  786 ms   120→4  210 ms  ok
    ");
}

#[test]
fn a_narrow_terminal_keeps_the_numbers() {
    assert_snapshot!(plain(&weather(), 50), @r"
    SPAN                  0   2.41 s    TIME  STATUS
    invoke_agent Friday   ██████████  2.41 s  ok
      chat gpt-5          ▒██▍        811 ms  ok
      execute_tool weat…     ███▊     802 ms  ERROR t…
        GET /v1/stations     ▐██▋     780 ms
      chat gpt-5                ▐███  786 ms  ok
    ");
}

#[test]
fn tools_side_by_side_stand_below_their_own_spans() {
    // As they began: both tools before what they do.
    let tree = Tree::scripted([
        Node::scripted(None, "invoke_agent Friday", 0, 1000).ok(),
        Node::scripted(0, "execute_tool a", 0, 1000).ok(),
        Node::scripted(0, "execute_tool b", 10, 900).ok(),
        Node::scripted(2, "invoke_agent Robin", 20, 800).ok(),
        Node::scripted(1, "query", 30, 500),
        Node::scripted(3, "chat small", 40, 41).ok(),
    ]);
    assert_snapshot!(plain(&tree, 80), @r"
    SPAN                    0                                1.00 s     TIME  STATUS
    invoke_agent Friday     ███████████████████████████████████████   1.00 s  ok
      execute_tool a        ███████████████████████████████████████   1.00 s  ok
        query                ██████████████████▌                      470 ms
      execute_tool b        ███████████████████████████████████▏      890 ms  ok
        invoke_agent Robin  ▐██████████████████████████████▎          780 ms  ok
          chat small         ▋                                       1.00 ms  ok
    ");
}

#[test]
fn each_end_has_its_word() {
    let tree = Tree::scripted([
        Node::scripted(None, "invoke_agent Friday", 0, 40)
            .with(names::HITL_PENDING_TOOLS, r#"["pay","delete"]"#)
            .with(names::EXTERNAL_EXECUTION_PENDING_TOOLS, r#"["print"]"#)
            .with(names::CANCELLED, true),
        Node::scripted(0, "chat a", 0, 10).with(names::CANCELLED, true),
        Node::scripted(0, "chat b", 10, 20).failed("rate_limit", ""),
        Node::scripted(0, "execute_tool c", 20, 30)
            .failed("cancelled", "interrupted")
            .with(names::CANCELLED, true),
        Node::scripted(0, "mine", 30, 40),
    ]);
    assert_snapshot!(plain(&tree, 100), @r"
    SPAN                 0                                 40.0 ms     TIME  STATUS
    invoke_agent Friday  █████████████████████████████████████████  40.0 ms  waiting for pay, delete, p…
      chat a             ██████████▎                                10.0 ms  cancelled
      chat b                       ██████████▌                      10.0 ms  ERROR rate_limit
      execute_tool c                         ▐█████████▊            10.0 ms  ERROR cancelled: interrupt…
      mine                                             ▐██████████  10.0 ms
    ");
}

#[test]
fn what_was_left_out_is_said() {
    let mut tree = Tree::scripted([Node::scripted(None, "invoke_agent Friday", 0, 0).ok()]);
    tree.spans_left_out = 17;
    assert_snapshot!(plain(&tree, 60), @r"
    SPAN                 0                    0 µs  TIME  STATUS
    invoke_agent Friday  ▏                          0 µs  ok
    … 17 more spans were left out
    ");
}

#[test]
fn names_and_texts_never_steer_the_terminal() {
    let evil = "\x1b]0;owned\x07\x1b[2J\r\n\u{9b}31m\u{202e}x";
    let tree = Tree::scripted([
        Node::scripted(None, evil, 0, 10).failed(evil, evil),
        Node::scripted(0, evil, 0, 10).with(names::HITL_PENDING_TOOLS, r#"["\u001b[31m"]"#),
    ]);
    let shown = plain(&tree, 200);
    assert_eq!(shown.trim_end().lines().count(), 3);
    let acts = |c: char| (c.is_control() && c != '\n') || ('\u{202a}'..='\u{202e}').contains(&c);
    assert!(!shown.contains(acts), "{shown:?}");
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let names = ["天気予報".repeat(40), "a".repeat(300), "e\u{301}".repeat(100), "🦀".repeat(100)];
    for width in [50, 64, 100, 250] {
        for name in &names {
            let mut spans = vec![Node::scripted(None, name, 0, 1000).failed(name, name)];
            for depth in 0..40 {
                let span = Node::scripted(depth, name, depth as u64, 999);
                spans.push(
                    span.failed(name, name).used(1_234_567, 89_012).with(names::TIME_TO_FIRST_CHUNK, 0.25),
                );
            }
            let shown = plain(&Tree::scripted(spans), width);
            let widest = shown.lines().map(columns::width).max();
            assert!(widest <= Some(width), "{widest:?} of {width}:\n{shown}");
        }
    }
}

#[test]
fn colours_are_there_when_wanted_and_end_in_their_line() {
    let shown = waterfall(&weather(), Style { width: 100, colours: true });
    assert!(shown.contains("\x1b[1;31mERROR tool_error"), "{shown:?}");
    for line in shown.lines() {
        assert_eq!(line.matches("\x1b[").count(), 2 * line.matches("\x1b[0m").count(), "{line:?}");
    }
    let without: Vec<&str> =
        shown.split("\x1b[").map(|part| part.split_once('m').map_or(part, |(_, text)| text)).collect();
    assert!(plain(&weather(), 100).starts_with(without.concat().lines().next().unwrap_or("?")));
}
