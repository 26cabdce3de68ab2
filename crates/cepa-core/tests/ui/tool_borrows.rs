use cepa_core::tool;

/// Says it again.
#[tool]
async fn echo(text: &str) -> String {
    text.to_owned()
}

fn main() {}
