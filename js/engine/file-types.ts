/**
 * Types of files for searches, by name: `rust` means `*.rs`.
 *
 * A type that is not in the table is taken for a file extension, with or without its dot.
 */
import { FilewrightError } from "./errors.ts";

const EXTENSIONS_BY_TYPE: Readonly<Record<string, readonly string[]>> = {
  asm: ["asm", "s"],
  bash: ["sh", "bash"],
  c: ["c", "h"],
  clojure: ["clj", "cljs", "cljc", "edn"],
  cpp: ["cpp", "cc", "cxx", "hpp", "hh", "hxx", "h", "inl"],
  csharp: ["cs", "csx"],
  css: ["css", "scss", "sass", "less"],
  docker: ["dockerfile"],
  elixir: ["ex", "exs", "eex", "heex"],
  erlang: ["erl", "hrl"],
  fsharp: ["fs", "fsi", "fsx"],
  go: ["go"],
  haskell: ["hs", "lhs"],
  html: ["html", "htm"],
  java: ["java", "jsp"],
  javascript: ["js", "jsx", "mjs", "cjs", "vue"],
  js: ["js", "jsx", "mjs", "cjs", "vue"],
  json: ["json", "jsonc", "json5", "jsonl"],
  julia: ["jl"],
  kotlin: ["kt", "kts"],
  markdown: ["md", "markdown", "mdx"],
  ocaml: ["ml", "mli"],
  perl: ["pl", "pm", "t"],
  php: ["php", "phtml"],
  powershell: ["ps1", "psm1", "psd1"],
  protobuf: ["proto"],
  py: ["py", "pyi"],
  python: ["py", "pyi"],
  ruby: ["rb", "erb", "rake", "gemspec"],
  rust: ["rs"],
  scala: ["scala", "sc", "sbt"],
  shell: ["sh", "bash", "zsh", "fish", "ksh"],
  swift: ["swift"],
  text: ["txt"],
  ts: ["ts", "tsx", "mts", "cts"],
  typescript: ["ts", "tsx", "mts", "cts"],
  xml: ["xml", "xsd", "xsl", "xslt", "svg"],
  yaml: ["yaml", "yml"],
};

/**
 * Returns the globs for the types; a file's path must match one of them. Empty without types, which means no
 * restriction. @throws INVALID_ARGUMENT
 */
export function fileTypeGlobs(types: readonly string[] | undefined): readonly string[] {
  return (types ?? []).flatMap((type) => {
    const name = type.replace(/^(\*?\.)/, "").toLowerCase();
    if (!/^[\p{L}\p{N}_+.#-]+$/u.test(name)) {
      throw new FilewrightError(
        "INVALID_ARGUMENT",
        `file type "${type}" is neither a name nor an extension`,
        {
          hint: 'use extensions such as "ts", or glob for anything else',
          details: { argument: "file_types" },
        },
      );
    }
    if (name === "docker" || name === "dockerfile") return ["Dockerfile*", "*.dockerfile"];
    if (name === "make" || name === "makefile") return ["Makefile*", "GNUmakefile", "*.mk"];
    return (EXTENSIONS_BY_TYPE[name] ?? [name]).map((extension) => `*.${extension}`);
  });
}
