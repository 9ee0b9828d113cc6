//! Integration tests of the benchmark.
#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod allocation;
mod cases;
mod compared;
mod compared_model;
mod compression;
mod confidence_tuning;
mod counts;
mod environment;
mod frozen;
mod goldens;
mod invariants;
mod law;
mod learned;
mod mediation;
mod methods;
mod parameters;
mod positional;
mod record;
mod record_properties;
mod second_model;
mod studies;
mod values;

use safecommit_bench::{Generator, Parameters, Split, Suite};

fn project() -> Parameters {
    Parameters::project().unwrap()
}

/// Episodes that no experiment uses.
fn spare_generator(parameters: &Parameters) -> Generator {
    let suite = Suite::Experiment { seed: 1_000_003 };
    Generator::new(&parameters.generator, suite, Split::Test)
}
