//! What is read of HTML.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

#[path = "support/files.rs"]
mod files;

use files::{error, noise, parse, text};

#[test]
fn html_is_read_as_markdown() {
    let html = "<!doctype html><html><head><title>T</title><style>p{color:red}</style></head><body>\
        <script>alert('no')</script><h1>Bees</h1><p>They <b>hum</b> &amp; fly.</p>\
        <h2>Kinds</h2><ul><li>Honey bees</li><li>Wild bees</li></ul>\
        <table><tr><th>Name</th><th>Legs</th></tr><tr><td>Bee</td><td>6</td></tr></table>\
        <pre><code># no heading\n</code></pre></body></html>";
    let parsed = parse("a.html", html).unwrap();
    let markdown = text(&parsed.sections[0]);
    assert!(
        markdown.starts_with("# Bees\n\nThey **hum** & fly.\n\n## Kinds\n\n*   Honey bees"),
        "{markdown}"
    );
    assert!(markdown.contains("| Bee"), "{markdown}");
    for gone in ["alert", "color", "<"] {
        assert!(!markdown.contains(gone), "{markdown}");
    }
}

#[test]
fn elements_that_are_too_deep_are_refused() {
    for tag in ["<div>", "<b>", "<ul><li>", "<blockquote>", "<span>", "<table><tr><td>"] {
        let message = error("deep.html", tag.repeat(20_000));
        assert_eq!(message, "deep.html cannot be read: its elements are more than 256 deep in each other");
        // as deep as it may be
        parse("a.html", format!("{}text", tag.repeat(60))).unwrap();
    }
}

#[test]
fn noise_is_refused() {
    assert!(error("noise.html", noise(10_000)).starts_with("noise.html cannot be read: it is no text"));
}
