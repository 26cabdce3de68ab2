//! The page of replies in a browser.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr, reason = "a test")]

#[path = "page/browser.rs"]
mod browser;

use std::path::Path;

use cepa_core::{
    Agent,
    serde_json::{Value, json},
    testing::{Answer, ScriptedModel, ScriptedTool, ToolAnswer},
};
use cepa_tracing::{Capture, TracingMiddleware, html};
use tracing_subscriber::layer::SubscriberExt as _;

use self::browser::Browser;

/// What nobody wants to run, wherever it stands.
const HOSTILE: &str = concat!(
    "</pre></details></script><script>window.owned = 1</script><img src=x onerror='window.owned = 2'>",
    "\"onmouseover=\"window.owned = 3\" <svg/onload=window.owned=4> <!-- {{script}} {{ ]]> &lt;b&gt;",
    "<iframe src=https://example.com></iframe><style>body { display: none }</style>",
    "<meta http-equiv=refresh content='0;url=https://example.com'><base href=https://example.com>",
    "\0\x1b[31m\u{202e}\u{fffd}\u{feff}\u{2028} `${window.owned = 5}` javascript:window.owned=6",
);

/// Writes a page of two replies: one that is meant well, and one that is not.
async fn write_page(path: &Path) {
    let _guard = tracing::subscriber::set_default(tracing_subscriber::registry().with(html(path)));
    let capture = || TracingMiddleware::new().capture(Capture::full());

    let tool = ScriptedTool::new(HOSTILE, [ToolAnswer::new().fails(HOSTILE)]);
    let inside = ScriptedTool::answering("loud", |_| {
        tracing::error!(text = HOSTILE, "{HOSTILE}");
        HOSTILE.to_owned()
    });
    let model = ScriptedModel::new([
        Answer::new()
            .text(HOSTILE)
            .tool_call(HOSTILE, json!({ HOSTILE: HOSTILE }))
            .tool_call("loud", json!({})),
        Answer::new().raw_tool_call("1", "loud", HOSTILE).thinking(HOSTILE),
        Answer::new().text(HOSTILE),
    ]);
    let hostile = Agent::builder(HOSTILE).model(model.named(HOSTILE)).tool(tool).tool(inside);
    hostile.middleware(capture()).build().unwrap().reply(HOSTILE).await.unwrap();

    let weather = ScriptedTool::new("weather", [ToolAnswer::new().fails("no station near")]);
    let model = ScriptedModel::new([
        Answer::new().text("Let me see.").tool_call("weather", json!({"city": "Oslo"})).usage(612, 20),
        Answer::new().text("I could not find out.").usage(120, 4),
    ]);
    let friday = Agent::builder("Friday").model(model).tool(weather).middleware(capture());
    friday.build().unwrap().reply("How is the weather in Oslo?").await.unwrap();
}

#[tokio::test]
async fn the_page_works_in_a_browser_and_content_on_it_is_only_text() {
    let Some(mut browser) = Browser::start() else {
        assert!(std::env::var_os("CI").is_none(), "there must be a chromium where tests count");
        eprintln!(
            "skipped: the_page_works_in_a_browser_and_content_on_it_is_only_text, as no chromium is installed"
        );
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("replies.html");
    write_page(&path).await;

    browser.resize(1280, 900, false);
    browser.open(&path, "");
    a_reply_is_a_waterfall(&mut browser);
    a_click_shows_what_was_said(&mut browser);
    keys_do_as_well(&mut browser);
    hostile_content_is_inert(&mut browser);
    it_fits(&mut browser);

    browser.open(&path, "#r1s1");
    assert_eq!(
        browser.eval("document.querySelector('#r1s1').open && document.querySelector('#r1').open"),
        true
    );

    assert_eq!(browser.complaints(), Vec::<&Value>::new());
    let urls = browser.requests();
    assert!(urls.iter().all(|url| url.starts_with("file:///") || url.starts_with("about:")), "{urls:?}");
}

fn a_reply_is_a_waterfall(browser: &mut Browser) {
    let names = "[...document.querySelectorAll('.reply[open] .span .name')].map((name) => name.textContent)";
    let expected = ["invoke_agent Friday", "chat scripted", "execute_tool weather", "chat scripted"];
    assert_eq!(browser.eval(names), json!(expected));
    assert_eq!(browser.eval("document.querySelectorAll('.reply').length"), 2);
    let ends = "[...document.querySelectorAll('.reply[open] .span .ending')].map((end) => end.textContent)";
    assert_eq!(browser.eval(ends), json!(["ok", "ok", "ERROR tool_error", "ok"]));
    // Every bar is within its lane, and of some width.
    let bars = "[...document.querySelectorAll('.reply[open] .bar')].every((bar) => {
        const [inner, outer] = [bar, bar.parentElement].map((e) => e.getBoundingClientRect());
        return inner.width >= 3 && inner.left >= outer.left - 1 && inner.right <= outer.right + 4;
    })";
    assert_eq!(browser.eval(bars), true);
    assert_eq!(browser.eval("document.querySelector('.reply[open] .core').textContent"), "Friday");
    let question = "document.querySelector('.reply[open] .question').textContent";
    assert_eq!(browser.eval(question), "How is the weather in Oslo?");
}

/// Whether this text is to be seen in a span.
fn sees(browser: &mut Browser, span: &str, text: &str) -> bool {
    let shown = format!("document.querySelector('{span}').innerText.includes({text:?})");
    browser.eval(&shown) == true
}

fn a_click_shows_what_was_said(browser: &mut Browser) {
    assert!(!sees(browser, "#r2s1", "Let me see."));
    browser.click("#r2s1 > summary");
    assert!(sees(browser, "#r2s1", "Let me see."));
    browser.click("#r2s1 > summary");
    assert!(!sees(browser, "#r2s1", "Let me see."));
}

fn keys_do_as_well(browser: &mut Browser) {
    browser.eval("document.querySelector('#r2s1 > summary').focus()");
    browser.press("ArrowDown");
    browser.press("Enter");
    assert!(sees(browser, "#r2s2", "Oslo"));
    assert!(sees(browser, "#r2s2", "no station near"));
    browser.press("ArrowUp");
    assert_eq!(browser.eval("document.activeElement.parentElement.id"), "r2s1");
}

fn hostile_content_is_inert(browser: &mut Browser) {
    browser.eval("document.querySelectorAll('details').forEach((details) => { details.open = true; })");
    assert_eq!(browser.eval("window.owned ?? 'not'"), "not");
    let made = "document.querySelectorAll('img, svg, iframe, base, a, object, embed, link, form').length";
    assert_eq!(browser.eval(made), 0);
    assert_eq!(browser.eval("document.scripts.length"), 1);
    assert_eq!(browser.eval("document.styleSheets.length"), 1);
    assert_eq!(browser.eval("document.querySelectorAll('meta[http-equiv]').length"), 1);
    let handlers = "[...document.querySelectorAll('*')].some((e) => e.getAttributeNames().some((name) => name.startsWith('on')))";
    assert_eq!(browser.eval(handlers), false);
    // It is there, as text.
    assert!(sees(browser, "#r1s1", "<script>window.owned = 1</script>"));
    assert!(sees(browser, "#r1s1", "{{script}}"));
    let hidden = "/[\\u0000-\\u0008\\u000e-\\u001f\\u0080-\\u009f\\u202a-\\u202e]/.test(document.documentElement.textContent)";
    assert_eq!(browser.eval(hidden), false);
    assert_eq!(browser.eval("document.querySelectorAll('main > .reply').length"), 2);
}

fn it_fits(browser: &mut Browser) {
    let papers = [false, true].map(|dark| {
        for (width, height) in [(1280, 900), (360, 740)] {
            browser.resize(width, height, dark);
            assert_eq!(browser.eval("document.documentElement.scrollWidth <= innerWidth"), true, "{width}");
        }
        browser.eval("getComputedStyle(document.body).backgroundColor")
    });
    assert_ne!(papers[0], papers[1]);
}
