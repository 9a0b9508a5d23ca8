//! How much the blocks of a file count, by its path: tests, documents and the like are seldom meant. A
//! search for tests alone reads what [`is_test`] names.

use super::query::RankQuery;

/// The names of directories whose files are seldom meant.
const NOISE_FOLDERS: &[&str] = &[
    "_examples",
    "_vendor",
    "benches",
    "benchmark",
    "benchmarks",
    "compat",
    "deprecated",
    "example",
    "examples",
    "fixtures",
    "generated",
    "legacy",
    "mocks",
    "samples",
    "test_suite",
    "testdata",
    "testing",
    "testsuite",
    "third_party",
    "v1",
    "vendor",
];

/// The ends of the names of documents: what is written for people, and lists that programs write.
const DOCUMENT_ENDS: &[&str] = &[
    ".1",
    ".adoc",
    ".asciidoc",
    ".css",
    ".htm",
    ".html",
    ".lock",
    ".markdown",
    ".md",
    ".mdx",
    ".org",
    ".po",
    ".rst",
    ".svg",
    ".tex",
    ".txt",
    "go.sum",
    "package-lock.json",
];

/// Returns the factor of the blocks of a file, from 0 to 1. It is 1 for kinds that the query asks for. A
/// document counts as one wherever it is.
pub(super) fn worth(query: &RankQuery, path: &str) -> f64 {
    let weights = &query.weights;
    let (factor, is_wanted) = if is_document(path) {
        (weights.documents, query.wants_documents)
    } else if is_test(path) {
        (weights.tests, query.wants_noise)
    } else if is_noise(path) {
        (weights.noise, query.wants_noise)
    } else {
        (1.0, true)
    };
    if is_wanted { 1.0 } else { factor }
}

/// Reports whether a file is a document: by its ending, or a name in capitals such as `LICENSE`.
fn is_document(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    DOCUMENT_ENDS.iter().any(|end| name.ends_with(end))
        || name.bytes().all(|byte| byte.is_ascii_uppercase() || matches!(byte, b'-' | b'_'))
}

/// Reports whether a file that is no test is an example, a benchmark, test data, old, what others wrote,
/// what was generated, or a list of exports.
fn is_noise(path: &str) -> bool {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let ends = [".d.ts", ".min.js", ".pb.go", "_pb2.py"];
    folders.split('/').any(|folder| NOISE_FOLDERS.contains(&folder))
        || matches!(name, "__init__.py" | "index.ts" | "index.js" | "mod.rs" | "mod.ts")
        || ends.iter().any(|end| name.ends_with(end))
}

/// Reports whether a file is a test or a part of tests, by its path.
pub fn is_test(path: &str) -> bool {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let within = [".test.", ".tests.", ".spec.", "_test.", "_tests.", "-test.", "_spec."];
    let tests = ["test", "tests", "__tests__", "spec"];
    name.starts_with("test_")
        || within.iter().any(|part| name.contains(part))
        || folders.split('/').any(|folder| tests.contains(&folder))
}
