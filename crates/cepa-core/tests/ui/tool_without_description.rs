use cepa_core::tool;

#[tool]
fn clock() -> String {
    String::new()
}

fn main() {}
