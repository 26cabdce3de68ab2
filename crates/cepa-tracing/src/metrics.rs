//! The metrics of the conventions.

use opentelemetry::{
    KeyValue, global,
    metrics::{Histogram, Meter},
};

/// Durations in seconds, doubling: the boundaries that the conventions ask for.
const SECONDS: [f64; 14] =
    [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];

/// Tokens, by powers of four: the boundaries that the conventions ask for.
const TOKENS: [f64; 14] = [
    1.0,
    4.0,
    16.0,
    64.0,
    256.0,
    1024.0,
    4096.0,
    16384.0,
    65536.0,
    262_144.0,
    1_048_576.0,
    4_194_304.0,
    16_777_216.0,
    67_108_864.0,
];

/// The instruments, made once.
pub(crate) struct Instruments {
    tokens: Histogram<u64>,
    duration: Histogram<f64>,
    time_to_first_chunk: Histogram<f64>,
}

impl Instruments {
    pub(crate) fn new(meter: Option<&Meter>) -> Self {
        let of_program;
        let meter = match meter {
            Some(meter) => meter,
            None => {
                of_program = global::meter("cepa");
                &of_program
            }
        };
        let seconds = |name: &'static str, what: &'static str| {
            meter
                .f64_histogram(name)
                .with_unit("s")
                .with_description(what)
                .with_boundaries(SECONDS.to_vec())
                .build()
        };
        Self {
            tokens: meter
                .u64_histogram("gen_ai.client.token.usage")
                .with_unit("{token}")
                .with_description("Number of input and output tokens used")
                .with_boundaries(TOKENS.to_vec())
                .build(),
            duration: seconds("gen_ai.client.operation.duration", "GenAI operation duration"),
            time_to_first_chunk: seconds(
                "gen_ai.client.operation.time_to_first_chunk",
                "Time to receive the first chunk of a streamed answer",
            ),
        }
    }

    /// An operation has ended.
    pub(crate) fn operation(&self, seconds: f64, attributes: &[KeyValue]) {
        self.duration.record(seconds, attributes);
    }

    /// The first piece of an answer has come.
    pub(crate) fn first_chunk(&self, seconds: f64, attributes: &[KeyValue]) {
        self.time_to_first_chunk.record(seconds, attributes);
    }

    /// What a model call has cost.
    pub(crate) fn usage(&self, input_tokens: u64, output_tokens: u64, attributes: &mut Vec<KeyValue>) {
        for (kind, tokens) in [("input", input_tokens), ("output", output_tokens)] {
            attributes.push(KeyValue::new("gen_ai.token.type", kind));
            self.tokens.record(tokens, attributes);
            attributes.pop();
        }
    }
}
