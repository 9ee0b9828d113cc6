//! SafeCommitBench-Controlled: the generator, the frozen splits, the compared methods and the experiments of the
//! controlled benchmark that the paper describes (Akewar and Ranjan, "SafeCommit: Certifying When
//! Memory-Grounded Agents May Safely Act", arXiv:2608.04289).
//!
//! The paper's benchmark file and generator are not available to us. [`Generator`] follows the paper's description, with
//! free parameters chosen so that its published figures come out; [`Parameters`] holds them and their provenance.

pub mod beyond;
mod bounded;
mod counts;
mod episode;
mod experiments;
mod field_path;
mod frozen;
mod generator;
pub mod json;
mod jsonl;
mod learned;
mod manifest;
mod mediation;
mod methods;
mod micros;
mod parameters;
mod published;
mod random;
mod record;
mod simulate;
mod tables;

pub use bounded::{Finite, NonNegative, OutOfRange, Positive, Probability};
pub use episode::{Episode, EpisodeProbe, EpisodeWorld, Family, MAX_ACTIONS, UnknownFamily};
pub use frozen::{
    DataError, FrozenData, FrozenFile, compare, render_all, render_rows, render_split,
};
pub use generator::{DrawnEpisode, GENERATOR_VERSION, Generator, Role, Split, Suite};
pub use jsonl::{LineProblem, RecordError, read_episodes};
pub use learned::{
    Candidate, CandidateResult, Choice, ChooseError, Criterion, EpisodeWithTerms, Feature,
    FeatureSet, FitError, LearnedScore, LearnedScoreError, Likelihood, LogisticRegression,
    ScoreComparison, ScoreForm, ScoreRun, TermsError, TrainingSet, WorldFeatures, choose,
    choose_on_frozen, compare_scores,
};
pub use manifest::{FORMAT_VERSION, FileEntry, MANIFEST_FILE, Manifest, file_name};
pub use mediation::{Mediation, MediationError};
pub use micros::{Micros, MicrosError};
pub use parameters::{
    ActionCount, ComponentParameters, ExperimentParameters, Families, FamilyParameters,
    FrozenParameters, GeneratorParameters, ParameterError, Parameters, Seeds, TermWeights,
    WorldRange,
};
pub use random::{RandomStream, StreamKey};
pub use record::{
    EpisodeRecord, FieldError, ProbeRecord, RecordProblem, TooManyActions, WorldRecord,
};

pub use counts::{Causes, Counts, Estimate, Fallbacks};
pub use experiments::{Coverage, Experiment, Prepared, Results, Row, Setting, tuned};
pub use methods::{
    ConfidenceThreshold, ConflictAbstention, Environment, ExecutionContainment, GenericOneProbe,
    Inspection, Margin, Memory, Method, MethodName, MethodSettings, PolicyOnly, ProposedProbe,
    ProposedWorld, SafeCommit, ScalarConfidence, Scratch, SingleWorld, UnknownMethod, Verdict,
    calibrate, calibration_score, tune_confidence, tune_margin,
};
pub use published::{
    Bound, Claim, Comparison, Figure, Findings, Metric, Published, PublishedError, TOLERANCES,
    Tolerances,
};
pub use simulate::{Cell, Ending, FamilyCounts, count, decide, simulate, simulate_on};
pub use tables::{CAUTION, LEGEND, PROVENANCE, Table, UNITS, table_names, tables};

/// The sample of the crate's README, as a doc test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
