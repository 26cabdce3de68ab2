//! The network and its tokenizer.

use std::{fmt, path::Path};

use rten::{Model, NodeId};
use rten_tensor::{AsView as _, Layout as _, NdTensor};
use rten_text::{Tokenizer, tokenizer::EncodeOptions};

use super::MiniLmEmbedding;
use crate::ConfigError;

pub(super) const DIMENSIONS: usize = 384;

/// No word is so long that a text of this many bytes has fewer tokens than the model sees. The rest is not even
/// looked at: a tokenizer needs time for all of it.
const MAX_BYTES: usize = MiniLmEmbedding::MAX_TOKENS * 64;

/// Files beyond this size are something else.
const MAX_FILE: u64 = 512 << 20;

pub(super) struct Network {
    model: Model,
    tokenizer: Tokenizer,
    ids: NodeId,
    mask: NodeId,
    types: Option<NodeId>,
    states: NodeId,
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Network").finish_non_exhaustive()
    }
}

impl Network {
    pub(super) fn load(model_path: &Path, tokenizer_path: &Path) -> Result<Self, ConfigError> {
        let wrong =
            |path: &Path, reason: String| ConfigError::BadFile { path: path.display().to_string(), reason };
        let read = |path: &Path| {
            let size = std::fs::metadata(path).map_err(|error| wrong(path, error.to_string()))?.len();
            if size > MAX_FILE {
                return Err(wrong(path, format!("it has {size} bytes, and the limit is {MAX_FILE}")));
            }
            std::fs::read(path).map_err(|error| wrong(path, error.to_string()))
        };
        let text = String::from_utf8(read(tokenizer_path)?)
            .map_err(|_| wrong(tokenizer_path, "it is no text".to_owned()))?;
        let tokenizer = Tokenizer::from_json(&text)
            .map_err(|error| wrong(tokenizer_path, format!("it is no tokenizer ({error})")))?;
        let model = Model::load(read(model_path)?)
            .map_err(|error| wrong(model_path, format!("it is no ONNX model ({error})")))?;
        let node = |name: &str| model.find_node(name);
        let (Some(ids), Some(mask), Some(&states)) =
            (node("input_ids"), node("attention_mask"), model.output_ids().first())
        else {
            return Err(wrong(
                model_path,
                "it is not all-MiniLM-L6-v2: it does not take its inputs".to_owned(),
            ));
        };
        let types = node("token_type_ids");
        let network = Self { model, tokenizer, ids, mask, types, states };
        // Another model of the same inputs would be found out only by its answers.
        network.embed("onion").map_err(|reason| wrong(model_path, reason))?;
        Ok(network)
    }

    /// The vector of a text, and how many tokens of it were seen.
    pub(super) fn embed(&self, text: &str) -> Result<(Vec<f32>, u64), String> {
        let options =
            EncodeOptions { max_chunk_len: Some(MiniLmEmbedding::MAX_TOKENS), ..Default::default() };
        let end = (0..=MAX_BYTES.min(text.len())).rev().find(|&end| text.is_char_boundary(end));
        let seen = &text[..end.unwrap_or_default()];
        let encoded = self.tokenizer.encode(seen, Some(options)).map_err(|error| error.to_string())?;
        let ids: Vec<i32> = encoded.token_ids().iter().map(|id| id.cast_signed()).collect();
        let (length, tokens) = (ids.len(), ids.len() as u64);
        let row = |values: Vec<i32>| NdTensor::from_data([1, length], values);
        let mut inputs = vec![(self.ids, row(ids).into()), (self.mask, row(vec![1; length]).into())];
        inputs.extend(self.types.map(|types| (types, row(vec![0; length]).into())));
        let [states] = self.model.run_n(inputs, [self.states], None).map_err(|error| error.to_string())?;
        let states: NdTensor<f32, 3> =
            states.try_into().map_err(|_| "its answer has another form than the model's".to_owned())?;
        let shape = states.shape();
        if shape != [1, length, DIMENSIONS] {
            return Err(format!("its answer has the form {shape:?}, and not [1, {length}, {DIMENSIONS}]"));
        }
        let mut vector = vec![0_f32; DIMENSIONS];
        for (place, value) in (0..DIMENSIONS).cycle().zip(states.iter()) {
            vector[place] += value;
        }
        let norm = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
        if !norm.is_finite() || norm == 0.0 {
            return Err("its answer is no vector".to_owned());
        }
        vector.iter_mut().for_each(|value| *value /= norm);
        Ok((vector, tokens))
    }
}
