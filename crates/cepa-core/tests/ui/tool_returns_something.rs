use cepa_core::tool;

/// Adds.
#[tool]
async fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Divides.
#[tool]
async fn divide(a: i64, b: i64) -> Result<String, String> {
    a.checked_div(b).map(|c| c.to_string()).ok_or("no".to_owned())
}

fn main() {}
