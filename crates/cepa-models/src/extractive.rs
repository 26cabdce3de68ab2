//! x
/// x
#[derive(Debug)]
pub struct ExtractiveModel;
