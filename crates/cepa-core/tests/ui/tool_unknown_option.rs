use cepa_core::tool;

/// Tells the time.
#[tool(read_ony)]
fn clock() -> String {
    String::new()
}

fn main() {}
