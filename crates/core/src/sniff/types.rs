//! Determines the MIME type of text: by the extension of the name, otherwise by the start of the
//! text.

/// The MIME type for each extension in lower case. Sorted for binary search.
const MIME_BY_EXTENSION: &[(&str, &str)] = &[
    ("adoc", "text/asciidoc"),
    ("bash", "text/x-shellscript"),
    ("bat", "text/x-bat"),
    ("c", "text/x-c"),
    ("cc", "text/x-c++"),
    ("cfg", "text/plain"),
    ("cjs", "text/javascript"),
    ("clj", "text/x-clojure"),
    ("cmake", "text/x-cmake"),
    ("conf", "text/plain"),
    ("cpp", "text/x-c++"),
    ("cs", "text/x-csharp"),
    ("css", "text/css"),
    ("csv", "text/csv"),
    ("cts", "text/typescript"),
    ("cu", "text/x-cuda"),
    ("cxx", "text/x-c++"),
    ("dart", "text/x-dart"),
    ("diff", "text/x-diff"),
    ("ejs", "text/html"),
    ("el", "text/x-elisp"),
    ("erl", "text/x-erlang"),
    ("ex", "text/x-elixir"),
    ("exs", "text/x-elixir"),
    ("f90", "text/x-fortran"),
    ("fs", "text/x-fsharp"),
    ("geojson", "application/geo+json"),
    ("go", "text/x-go"),
    ("graphql", "application/graphql"),
    ("groovy", "text/x-groovy"),
    ("h", "text/x-c"),
    ("hpp", "text/x-c++"),
    ("hs", "text/x-haskell"),
    ("htm", "text/html"),
    ("html", "text/html"),
    ("ics", "text/calendar"),
    ("ini", "text/plain"),
    ("ipynb", "application/x-ipynb+json"),
    ("java", "text/x-java"),
    ("jl", "text/x-julia"),
    ("js", "text/javascript"),
    ("json", "application/json"),
    ("json5", "application/json5"),
    ("jsonc", "application/json"),
    ("jsonl", "application/jsonl"),
    ("jsx", "text/javascript"),
    ("kt", "text/x-kotlin"),
    ("kts", "text/x-kotlin"),
    ("less", "text/css"),
    ("log", "text/plain"),
    ("lua", "text/x-lua"),
    ("m", "text/x-objective-c"),
    ("markdown", "text/markdown"),
    ("md", "text/markdown"),
    ("mdx", "text/markdown"),
    ("mjs", "text/javascript"),
    ("ml", "text/x-ocaml"),
    ("mts", "text/typescript"),
    ("ndjson", "application/jsonl"),
    ("nim", "text/x-nim"),
    ("patch", "text/x-diff"),
    ("php", "text/x-php"),
    ("pl", "text/x-perl"),
    ("pm", "text/x-perl"),
    ("proto", "text/x-protobuf"),
    ("ps1", "text/x-powershell"),
    ("py", "text/x-python"),
    ("pyi", "text/x-python"),
    ("r", "text/x-r"),
    ("rb", "text/x-ruby"),
    ("rs", "text/x-rust"),
    ("rst", "text/x-rst"),
    ("rtf", "application/rtf"),
    ("sass", "text/css"),
    ("scala", "text/x-scala"),
    ("scss", "text/css"),
    ("sh", "text/x-shellscript"),
    ("sql", "application/sql"),
    ("srt", "application/x-subrip"),
    ("svelte", "text/html"),
    ("svg", "image/svg+xml"),
    ("swift", "text/x-swift"),
    ("tex", "text/x-tex"),
    ("tf", "text/x-terraform"),
    ("toml", "application/toml"),
    ("ts", "text/typescript"),
    ("tsv", "text/tab-separated-values"),
    ("tsx", "text/typescript"),
    ("txt", "text/plain"),
    ("vim", "text/x-vim"),
    ("vtt", "text/vtt"),
    ("vue", "text/html"),
    ("xhtml", "application/xhtml+xml"),
    ("xml", "application/xml"),
    ("xsd", "application/xml"),
    ("xsl", "application/xml"),
    ("yaml", "application/yaml"),
    ("yml", "application/yaml"),
    ("zig", "text/x-zig"),
    ("zsh", "text/x-shellscript"),
];

/// The MIME type for each complete name in lower case.
const MIME_BY_NAME: &[(&str, &str)] = &[
    ("cargo.lock", "application/toml"),
    ("cmakelists.txt", "text/x-cmake"),
    ("dockerfile", "text/x-dockerfile"),
    ("makefile", "text/x-makefile"),
];

/// Returns the MIME type for the name of a text file, which may be a path.
pub(super) fn mime_by_name(path: &str) -> Option<&'static str> {
    let name = path.rsplit('/').next().unwrap_or(path);
    // All names and extensions in the tables are shorter, so the rest of a longer name need not be
    // copied.
    let tail = name.get(name.len().saturating_sub(32)..)?.to_ascii_lowercase();
    if let Some((_, mime)) = MIME_BY_NAME.iter().find(|(known, _)| *known == tail) {
        return Some(mime);
    }
    let (_, extension) = tail.rsplit_once('.')?;
    let at = MIME_BY_EXTENSION.binary_search_by(|(known, _)| (*known).cmp(extension)).ok()?;
    Some(MIME_BY_EXTENSION[at].1)
}

/// Returns the MIME type that the beginning of a text shows.
pub(super) fn mime_by_text(sample: &[u8]) -> Option<&'static str> {
    let head = &sample[..sample.len().min(1024)];
    let head = head.strip_prefix(crate::text::BOM_UTF8).unwrap_or(head).trim_ascii_start();
    let starts = |word: &str| {
        head.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()))
    };
    let svg = memchr::memmem::find(head, b"<svg").is_some();
    match () {
        () if starts("<svg")
            || (svg && (starts("<?xml") || starts("<!--") || starts("<!doctype svg"))) =>
        {
            Some("image/svg+xml")
        }
        () if starts("<!doctype html") || starts("<html") => Some("text/html"),
        () if starts("<?xml") => Some("application/xml"),
        () if starts("{\\rtf") => Some("application/rtf"),
        () if starts("%!ps") => Some("application/postscript"),
        () if starts("#!") => {
            let line = head.split(|&byte| byte == b'\n').next().unwrap_or(head);
            let runs = |program: &[u8]| memchr::memmem::find(line, program).is_some();
            Some(match () {
                () if runs(b"python") => "text/x-python",
                () if runs(b"node") || runs(b"deno") || runs(b"bun") => "text/javascript",
                () if runs(b"perl") => "text/x-perl",
                () if runs(b"ruby") => "text/x-ruby",
                () => "text/x-shellscript",
            })
        }
        () => None,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_table_is_sorted() {
        assert!(super::MIME_BY_EXTENSION.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
}
