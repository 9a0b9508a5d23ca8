// The arguments and data of the tools, written by `npm run tool-types`, not to be edited.

/** The arguments of `read_file`. */
export interface ReadFileArgs {
  /** The file; relative to the workspace, or absolute. */
  readonly path: string;
  /** First line, counted from 1; negative counts from the end: -20 begins 20 lines before it. Default `1`. */
  readonly start_line?: number;
  /** How many lines at most; null reads all (of files up to 20 MiB). Default `2000`. */
  readonly max_lines?: number | null;
  /** The most tokens of the text. */
  readonly max_tokens?: number;
  /** Hash of content that you have: while it is that, the answer is one line without it. */
  readonly known_hash?: string;
  /** Longer lines are cut in the text, with a mark. 0: never. Default `2000`. */
  readonly max_line_chars?: number;
  /** How lines are numbered: `1\t` (plain), `     1\t` (cat), `     1→` (arrow), or not at all. Default `"plain"`. */
  readonly line_numbers?: "plain" | "cat" | "arrow" | "none";
  /** Name of the encoding, such as utf-8, utf-16le or latin1; auto recognises it. Default `"auto"`. */
  readonly encoding?: string;
  /** Images as image blocks (block), PDF files as blocks too (media), or text alone (error). Default `"block"`. */
  readonly non_text?: "block" | "media" | "error";
  /** Add a short hash to each line number (`12#k3x9q1a`) for line-anchored edits. Default `false`. */
  readonly anchors?: boolean;
  /** Show a binary file as text all the same. Default `false`. */
  readonly force_text?: boolean;
  /** Begin at this byte instead of a line, to go on inside a very long line. */
  readonly start_byte?: number;
  /** Of a document: which pages, sheets or slides, such as "3", "1-5" or "-1" (the last). */
  readonly pages?: string;
  /** Only the definition with this name, such as `parse` or `Parser.parse`: a function, class, heading or key. */
  readonly symbol?: string;
  /** Only this value of a JSON, YAML, TOML, XML or CSV file, such as "/scripts/test", "/items/0" or "/project/@name", with the lines it is on. */
  readonly json_pointer?: string;
}

/** The copy that was sent. */
export interface SentImage {
  /** Media type. */
  readonly mime: string;
  /** Bytes. */
  readonly size: number;
  /** Pixels. */
  readonly width: number;
  /** Pixels. */
  readonly height: number;
}

/** Of an image: its size in pixels, and what was sent where it was scaled down. */
export interface ImageFacts {
  /** Pixels. */
  readonly width?: number;
  /** Pixels. */
  readonly height?: number;
  /** The copy that was sent. */
  readonly sent?: SentImage;
}

/** The data of `read_file`. */
export interface ReadFileData {
  /** The file, relative to the workspace. */
  readonly path: string;
  /** The lines as they are, without numbers. */
  readonly content: string;
  /** First line given. */
  readonly start_line: number;
  /** Last line given. */
  readonly end_line: number;
  /** How many lines are given. */
  readonly lines_read: number;
  /** Lines in the file; null in a large file not counted yet. */
  readonly total_lines: number | null;
  /** Where total_lines is null: how many there are at least. */
  readonly at_least_lines?: number;
  /** Bytes of the file. */
  readonly size: number;
  /** Encoding of the file. */
  readonly encoding: string;
  /** Line ends of the file. */
  readonly eol: "lf" | "crlf" | "mixed" | "none" | null;
  /** Whether the file begins with a byte order mark. */
  readonly bom: boolean;
  /** Whether lines follow. */
  readonly truncated: boolean;
  /** Pass as start_line to go on. */
  readonly next_start_line?: number;
  /** Pass as start_byte to go on inside a long line. */
  readonly next_start_byte?: number;
  /** Lines longer than max_line_chars. */
  readonly long_lines: number;
  /** sha256 of the file, for expected_hash. */
  readonly hash: string | null;
  /** Opaque; changes with the content. */
  readonly version?: string;
  /** Media type. */
  readonly mime: string;
  /** Lines that are cut in content too. */
  readonly cut_lines?: readonly number[];
  /** The first long lines: line, and rest_byte to pass as start_byte to go on inside it. */
  readonly long?: readonly {
    /** The line, from 1. */
    readonly line: number;
    /** Where the rest begins: pass it as start_byte. */
    readonly rest_byte: number;
    /** Bytes of the rest, where the file was read that far. */
    readonly rest_bytes?: number;
  }[];
  /** The anchors of the lines, each of the same length (six or seven characters). */
  readonly anchors?: string;
  /** Whether the content was made from the file: no lines to edit. */
  readonly rendered?: true;
  /** What else is known of the file. */
  readonly facts?: Readonly<Record<string, unknown>>;
  /** Of an image: its size in pixels, and what was sent where it was scaled down. */
  readonly image?: ImageFacts;
  /** Where the workspace knows: what changed since you read the file, and by whom. */
  readonly changed?: string;
  /** With max_tokens: the tokens of the text. */
  readonly tokens?: number;
  /** Whether the content is one that you have, and is left out. */
  readonly unchanged?: true;
  /** Something worth knowing. */
  readonly warning?: string;
}

/** The arguments of `read_many_files`. */
export interface ReadManyFilesArgs {
  /** Files, directories and globs, such as src/**\/*.ts. An existing file of exactly that name wins over the glob. */
  readonly paths: readonly string[];
  /** Further globs. Default `[]`. */
  readonly include?: readonly string[];
  /** Globs of what to leave out. Default `[]`. */
  readonly exclude?: readonly string[];
  /** Leave out node_modules, .git, build output, archives, office documents and .env, except where named exactly. Default `true`. */
  readonly use_default_excludes?: boolean;
  /** Leave out what .gitignore, .ignore and .agentignore files name. Default `true`. */
  readonly respect_ignore?: boolean;
  /** False: of directories only the files directly in them; ** goes through no level. Default `true`. */
  readonly recursive?: boolean;
  /** The most files read. Default `200`. */
  readonly max_files?: number;
  /** The most content given, in bytes. Default one page of text. */
  readonly max_total_bytes?: number;
  /** The most tokens of the text. */
  readonly max_tokens?: number;
  /** Hashes of contents that you have: a file with one is named as unchanged, without its content. Default `[]`. */
  readonly known_hashes?: readonly string[];
  /** The line before each file; {filePath} stands for its path. Default `"--- {filePath} ---"`. */
  readonly separator?: string;
  /** Files asked for by name or extension: images as image blocks (block), PDF files as blocks too (media), or skipped (error). Default `"block"`. */
  readonly non_text?: "block" | "media" | "error";
  /** After this time the files not read yet are listed as skipped. In milliseconds. Default `30000`. */
  readonly timeout_ms?: number;
}

/** The files, in path order. */
export interface ReadOne {
  /** Relative to the workspace. */
  readonly path: string;
  /** What is in it. */
  readonly content: string;
  /** Lines given. */
  readonly lines_read: number;
  /** Lines of the file. */
  readonly total_lines: number | null;
  /** Bytes of the file. */
  readonly size: number;
  /** Whether only its beginning is given. */
  readonly truncated: boolean;
  /** Media type. */
  readonly mime: string;
  /** sha256 of the file, where it was computed. */
  readonly hash?: string;
  /** Whether the content is one that you have, and is left out. */
  readonly unchanged?: true;
}

/** What was not read, and why. */
export interface SkippedOne {
  /** As asked for. */
  readonly path: string;
  /** Why. */
  readonly reason: string;
  /** An error code. */
  readonly code: string;
}

/** The data of `read_many_files`. */
export interface ReadManyFilesData {
  /** The files, in path order. */
  readonly files: readonly ReadOne[];
  /** What was not read, and why. */
  readonly skipped: readonly SkippedOne[];
  /** Whether a limit left something out. */
  readonly truncated: boolean;
  /** With max_tokens: the tokens of the text. */
  readonly tokens?: number;
  /** What else is to be known of the answer, such as what was left out. */
  readonly warnings?: readonly string[];
}

/** The arguments of `write_file`. */
export interface WriteFileArgs {
  /** The file to write; relative to the workspace, or absolute. */
  readonly path: string;
  /** The whole new content: no final newline is added or taken. Never leave lines out by a comment such as `// ... rest of the file ...`. */
  readonly content: string;
  /** Replace an existing file. When false an existing file is ALREADY_EXISTS. Default `true`. */
  readonly overwrite?: boolean;
  /** Make missing parent directories. Default `true`. */
  readonly create_dirs?: boolean;
  /** Add the content to the end of the file instead of replacing it. Default `false`. */
  readonly append?: boolean;
  /** Encoding of the file, such as utf-8, utf-16le or latin1. keep: that of the file, with its byte order mark; utf-8 for a new file. Default `"keep"`. */
  readonly encoding?: string;
  /** How `content` is given; base64 writes the decoded bytes. Default `"text"`. */
  readonly content_encoding?: "text" | "base64";
  /** Line endings: as given, all LF, all CRLF, or keep: those of the file. A file that has CRLF alone gets CRLF for content that has LF alone. Default `"keep"`. */
  readonly eol?: "as_is" | "lf" | "crlf" | "keep";
  /** Permission bits in octal, such as 0755. Default: kept, or the system's default for a new file. */
  readonly mode?: string;
  /** Hash from an earlier read_file (`sha256:…`). The call fails with CONFLICT if the content is not that any more. */
  readonly expected_hash?: string;
  /** The content is all that the file is to hold, although it has a comment that could stand for lines left out, or not all of the file was read. Default `false`. */
  readonly whole_file?: boolean;
}

/** The data of `write_file`. */
export interface WriteFileData {
  /** The file, relative to the workspace. */
  readonly path: string;
  /** What happened. Default `"update"`. */
  readonly operation: "create" | "update" | "append";
  /** Bytes of the given content. */
  readonly bytes_written: number;
  /** Lines of the given content. */
  readonly lines_written: number;
  /** Hash of the whole file now, for expected_hash. */
  readonly hash: string;
  /** Unified diff against the content before. */
  readonly diff?: string;
  /** What hooks changed in the files after this call, as a unified diff. `hash` is that of the file then. */
  readonly hook_diff?: string;
  /** What else is to be known of the answer, such as what was left out. */
  readonly warnings?: readonly string[];
}

/** The replacements, applied in order, each on the result of those before; all of them or none. For one alone its fields may stand at the top level instead. */
export type EditArgs = (
  | {
      /** The text to replace, copied from the file without line numbers; with enough lines around it to be there only once. */
      readonly old_text: string;
      /** Required: the text to put there; "" deletes. */
      readonly new_text: string;
      /** Replace every occurrence instead of refusing more than one. Default `false`. */
      readonly replace_all?: boolean;
      /** Replace exactly this many occurrences, or refuse. */
      readonly expected_matches?: number;
      /** Of several occurrences take the one nearest to this line. */
      readonly near_line?: number;
      /** Instead of old_text: the first line to replace, as read_file with anchors: true numbers it (`120#k3x9q1a`). */
      readonly from?: never;
      /** The last line to replace; without it the line `from` alone. */
      readonly to?: never;
      /** Put new_text on lines of its own before or after the line `from` or the definition `symbol`, which stays. */
      readonly insert?: never;
      /** Instead of old_text, in a JSON, YAML, TOML, XML or CSV file: the value at this pointer, such as "/scripts/test"; new_text is the new value as the file writes it, a JSON string with its quotes. */
      readonly json_pointer?: never;
      /** Instead of old_text: the definition with this name, such as `parse` or `Parser.parse`; its decorators and comments above stay. */
      readonly symbol?: never;
    }
  | {
      /** The text to replace, copied from the file without line numbers; with enough lines around it to be there only once. */
      readonly old_text?: never;
      /** Required: the text to put there; "" deletes. */
      readonly new_text: string;
      /** Replace every occurrence instead of refusing more than one. Default `false`. */
      readonly replace_all?: never;
      /** Replace exactly this many occurrences, or refuse. */
      readonly expected_matches?: never;
      /** Of several occurrences take the one nearest to this line. */
      readonly near_line?: never;
      /** Instead of old_text: the first line to replace, as read_file with anchors: true numbers it (`120#k3x9q1a`). */
      readonly from: string;
      /** The last line to replace; without it the line `from` alone. */
      readonly to?: string;
      /** Put new_text on lines of its own before or after the line `from` or the definition `symbol`, which stays. */
      readonly insert?: "before" | "after";
      /** Instead of old_text, in a JSON, YAML, TOML, XML or CSV file: the value at this pointer, such as "/scripts/test"; new_text is the new value as the file writes it, a JSON string with its quotes. */
      readonly json_pointer?: never;
      /** Instead of old_text: the definition with this name, such as `parse` or `Parser.parse`; its decorators and comments above stay. */
      readonly symbol?: never;
    }
  | {
      /** The text to replace, copied from the file without line numbers; with enough lines around it to be there only once. */
      readonly old_text?: never;
      /** Required: the text to put there; "" deletes. */
      readonly new_text: string;
      /** Replace every occurrence instead of refusing more than one. Default `false`. */
      readonly replace_all?: never;
      /** Replace exactly this many occurrences, or refuse. */
      readonly expected_matches?: never;
      /** Of several occurrences take the one nearest to this line. */
      readonly near_line?: never;
      /** Instead of old_text: the first line to replace, as read_file with anchors: true numbers it (`120#k3x9q1a`). */
      readonly from?: never;
      /** The last line to replace; without it the line `from` alone. */
      readonly to?: never;
      /** Put new_text on lines of its own before or after the line `from` or the definition `symbol`, which stays. */
      readonly insert?: never;
      /** Instead of old_text, in a JSON, YAML, TOML, XML or CSV file: the value at this pointer, such as "/scripts/test"; new_text is the new value as the file writes it, a JSON string with its quotes. */
      readonly json_pointer: string;
      /** Instead of old_text: the definition with this name, such as `parse` or `Parser.parse`; its decorators and comments above stay. */
      readonly symbol?: never;
    }
  | {
      /** The text to replace, copied from the file without line numbers; with enough lines around it to be there only once. */
      readonly old_text?: never;
      /** Required: the text to put there; "" deletes. */
      readonly new_text: string;
      /** Replace every occurrence instead of refusing more than one. Default `false`. */
      readonly replace_all?: never;
      /** Replace exactly this many occurrences, or refuse. */
      readonly expected_matches?: never;
      /** Of several occurrences take the one nearest to this line. */
      readonly near_line?: never;
      /** Instead of old_text: the first line to replace, as read_file with anchors: true numbers it (`120#k3x9q1a`). */
      readonly from?: never;
      /** The last line to replace; without it the line `from` alone. */
      readonly to?: never;
      /** Put new_text on lines of its own before or after the line `from` or the definition `symbol`, which stays. */
      readonly insert?: "before" | "after";
      /** Instead of old_text, in a JSON, YAML, TOML, XML or CSV file: the value at this pointer, such as "/scripts/test"; new_text is the new value as the file writes it, a JSON string with its quotes. */
      readonly json_pointer?: never;
      /** Instead of old_text: the definition with this name, such as `parse` or `Parser.parse`; its decorators and comments above stay. */
      readonly symbol: string;
    }
);

/** The arguments of `edit_file`. */
export type EditFileArgs = {
  /** The file to edit; relative to the workspace, or absolute. */
  readonly path: string;
  /** Only show the diff; nothing is written. Default `false`. */
  readonly dry_run?: boolean;
  /** How strictly old_text must match: exact (line ends aside), whitespace (indentation and blanks may differ), or fuzzy (small slips too). Default: whitespace, unless the host has set another. */
  readonly match?: "exact" | "whitespace" | "fuzzy";
  /** With match: fuzzy, the least share of old_text that must be found. It can only make matching stricter. */
  readonly threshold?: number;
  /** What to do where an edit fits in several places. Default `"error"`. */
  readonly on_multiple?: "error" | "first";
  /** Hash from an earlier read_file (`sha256:…`). The call fails with CONFLICT if the content is not that any more. */
  readonly expected_hash?: string;
  /** The edits leave nothing out, although a new line looks like a comment that stands for lines left out. Default `false`. */
  readonly whole_file?: boolean;
} & (
  | {
      /** The replacements, applied in order, each on the result of those before; all of them or none. For one alone its fields may stand at the top level instead. */
      readonly edits: readonly EditArgs[];
      /** For a single edit: The text to replace, copied from the file without line numbers; with enough lines around it to be there only once. */
      readonly old_text?: never;
      /** For a single edit, required: the text to put there; "" deletes. */
      readonly new_text?: never;
      /** For a single edit: replace every occurrence. */
      readonly replace_all?: never;
      /** For a single edit: replace exactly this many occurrences, or refuse. */
      readonly expected_matches?: never;
      /** For a single edit: take the occurrence nearest to this line. */
      readonly near_line?: never;
      /** For a single edit. Instead of old_text: the first line to replace, as read_file with anchors: true numbers it (`120#k3x9q1a`). */
      readonly from?: never;
      /** For a single edit. The last line to replace; without it the line `from` alone. */
      readonly to?: never;
      /** For a single edit. Put new_text on lines of its own before or after the line `from` or the definition `symbol`, which stays. */
      readonly insert?: never;
      /** For a single edit. Instead of old_text, in a JSON, YAML, TOML, XML or CSV file: the value at this pointer, such as "/scripts/test"; new_text is the new value as the file writes it, a JSON string with its quotes. */
      readonly json_pointer?: never;
      /** For a single edit. Instead of old_text: the definition with this name, such as `parse` or `Parser.parse`; its decorators and comments above stay. */
      readonly symbol?: never;
    }
  | {
      /** The replacements, applied in order, each on the result of those before; all of them or none. For one alone its fields may stand at the top level instead. */
      readonly edits?: never;
      /** For a single edit: The text to replace, copied from the file without line numbers; with enough lines around it to be there only once. */
      readonly old_text: string;
      /** For a single edit, required: the text to put there; "" deletes. */
      readonly new_text: string;
      /** For a single edit: replace every occurrence. */
      readonly replace_all?: boolean;
      /** For a single edit: replace exactly this many occurrences, or refuse. */
      readonly expected_matches?: number;
      /** For a single edit: take the occurrence nearest to this line. */
      readonly near_line?: number;
      /** For a single edit. Instead of old_text: the first line to replace, as read_file with anchors: true numbers it (`120#k3x9q1a`). */
      readonly from?: never;
      /** For a single edit. The last line to replace; without it the line `from` alone. */
      readonly to?: never;
      /** For a single edit. Put new_text on lines of its own before or after the line `from` or the definition `symbol`, which stays. */
      readonly insert?: never;
      /** For a single edit. Instead of old_text, in a JSON, YAML, TOML, XML or CSV file: the value at this pointer, such as "/scripts/test"; new_text is the new value as the file writes it, a JSON string with its quotes. */
      readonly json_pointer?: never;
      /** For a single edit. Instead of old_text: the definition with this name, such as `parse` or `Parser.parse`; its decorators and comments above stay. */
      readonly symbol?: never;
    }
  | {
      /** The replacements, applied in order, each on the result of those before; all of them or none. For one alone its fields may stand at the top level instead. */
      readonly edits?: never;
      /** For a single edit: The text to replace, copied from the file without line numbers; with enough lines around it to be there only once. */
      readonly old_text?: never;
      /** For a single edit, required: the text to put there; "" deletes. */
      readonly new_text: string;
      /** For a single edit: replace every occurrence. */
      readonly replace_all?: never;
      /** For a single edit: replace exactly this many occurrences, or refuse. */
      readonly expected_matches?: never;
      /** For a single edit: take the occurrence nearest to this line. */
      readonly near_line?: never;
      /** For a single edit. Instead of old_text: the first line to replace, as read_file with anchors: true numbers it (`120#k3x9q1a`). */
      readonly from: string;
      /** For a single edit. The last line to replace; without it the line `from` alone. */
      readonly to?: string;
      /** For a single edit. Put new_text on lines of its own before or after the line `from` or the definition `symbol`, which stays. */
      readonly insert?: "before" | "after";
      /** For a single edit. Instead of old_text, in a JSON, YAML, TOML, XML or CSV file: the value at this pointer, such as "/scripts/test"; new_text is the new value as the file writes it, a JSON string with its quotes. */
      readonly json_pointer?: never;
      /** For a single edit. Instead of old_text: the definition with this name, such as `parse` or `Parser.parse`; its decorators and comments above stay. */
      readonly symbol?: never;
    }
  | {
      /** The replacements, applied in order, each on the result of those before; all of them or none. For one alone its fields may stand at the top level instead. */
      readonly edits?: never;
      /** For a single edit: The text to replace, copied from the file without line numbers; with enough lines around it to be there only once. */
      readonly old_text?: never;
      /** For a single edit, required: the text to put there; "" deletes. */
      readonly new_text: string;
      /** For a single edit: replace every occurrence. */
      readonly replace_all?: never;
      /** For a single edit: replace exactly this many occurrences, or refuse. */
      readonly expected_matches?: never;
      /** For a single edit: take the occurrence nearest to this line. */
      readonly near_line?: never;
      /** For a single edit. Instead of old_text: the first line to replace, as read_file with anchors: true numbers it (`120#k3x9q1a`). */
      readonly from?: never;
      /** For a single edit. The last line to replace; without it the line `from` alone. */
      readonly to?: never;
      /** For a single edit. Put new_text on lines of its own before or after the line `from` or the definition `symbol`, which stays. */
      readonly insert?: never;
      /** For a single edit. Instead of old_text, in a JSON, YAML, TOML, XML or CSV file: the value at this pointer, such as "/scripts/test"; new_text is the new value as the file writes it, a JSON string with its quotes. */
      readonly json_pointer: string;
      /** For a single edit. Instead of old_text: the definition with this name, such as `parse` or `Parser.parse`; its decorators and comments above stay. */
      readonly symbol?: never;
    }
  | {
      /** The replacements, applied in order, each on the result of those before; all of them or none. For one alone its fields may stand at the top level instead. */
      readonly edits?: never;
      /** For a single edit: The text to replace, copied from the file without line numbers; with enough lines around it to be there only once. */
      readonly old_text?: never;
      /** For a single edit, required: the text to put there; "" deletes. */
      readonly new_text: string;
      /** For a single edit: replace every occurrence. */
      readonly replace_all?: never;
      /** For a single edit: replace exactly this many occurrences, or refuse. */
      readonly expected_matches?: never;
      /** For a single edit: take the occurrence nearest to this line. */
      readonly near_line?: never;
      /** For a single edit. Instead of old_text: the first line to replace, as read_file with anchors: true numbers it (`120#k3x9q1a`). */
      readonly from?: never;
      /** For a single edit. The last line to replace; without it the line `from` alone. */
      readonly to?: never;
      /** For a single edit. Put new_text on lines of its own before or after the line `from` or the definition `symbol`, which stays. */
      readonly insert?: "before" | "after";
      /** For a single edit. Instead of old_text, in a JSON, YAML, TOML, XML or CSV file: the value at this pointer, such as "/scripts/test"; new_text is the new value as the file writes it, a JSON string with its quotes. */
      readonly json_pointer?: never;
      /** For a single edit. Instead of old_text: the definition with this name, such as `parse` or `Parser.parse`; its decorators and comments above stay. */
      readonly symbol: string;
    }
);

/** What became of each edit. */
export interface EditOutcome {
  /** Position in the list, from 0. */
  readonly index: number;
  /** Places where the text was found: more than replaced where one was chosen. */
  readonly matches: number;
  /** How they were found. */
  readonly tier: "exact" | "whitespace" | "fuzzy";
  /** Share of old_text that was found, 0 to 1. */
  readonly score: number;
  /** What had to be undone in the edit, such as pasted line numbers. */
  readonly repairs: readonly string[];
  /** First line replaced, before this edit. */
  readonly start_line: number;
  /** Last line replaced, before this edit. */
  readonly end_line: number;
}

/** The data of `edit_file`. */
export interface EditFileData {
  /** The file, relative to the workspace. */
  readonly path: string;
  /** False for a dry run. */
  readonly applied: boolean;
  /** Places replaced. */
  readonly replacements: number;
  /** Whether a reviewer changed the result or accepted parts: see the diff. */
  readonly revised?: true;
  /** What became of each edit. */
  readonly edits: readonly EditOutcome[];
  /** Unified diff of the whole change. */
  readonly diff: string;
  /** Bytes of the file now. */
  readonly bytes_written: number;
  /** Hash of the file now, for expected_hash. */
  readonly hash: string;
  /** What hooks changed in the files after this call, as a unified diff. `hash` is that of the file then. */
  readonly hook_diff?: string;
  /** Whether the diff is cut. */
  readonly truncated?: boolean;
  /** What else is to be known of the answer, such as what was left out. */
  readonly warnings?: readonly string[];
}

/** The arguments of `apply_patch`. */
export interface ApplyPatchArgs {
  /** The patch: a unified diff (--- a/f, +++ b/f, @@), one of git with its headers, or *** Begin Patch … *** End Patch. */
  readonly patch: string;
  /** The file to patch, for a patch of one file that does not name it; relative to the workspace, or absolute. */
  readonly path?: string;
  /** Leading directories to take from the names of a diff. Default: a/ and b/ are taken. */
  readonly strip?: number | "auto";
  /** Outermost context lines of a hunk that may differ. With 0 the hunk's lines must all be there; otherwise indentation and slips are forgiven where only one place fits. Default `2`. */
  readonly fuzz?: number;
  /** Undo the patch instead. Default `false`. */
  readonly reverse?: boolean;
  /** Only show the diff; nothing is written. Default `false`. */
  readonly dry_run?: boolean;
}

/** What the patch did with each file, in its order. */
export interface PatchOutcome {
  /** The file, relative to the workspace. */
  readonly path: string;
  /** Its name before, where it was renamed or copied. */
  readonly from?: string;
  /** What was done. */
  readonly operation: "update" | "create" | "delete" | "rename" | "copy";
  /** Lines added. */
  readonly added: number;
  /** Lines removed. */
  readonly removed: number;
  /** Lines between where the patch said and where it went. */
  readonly offset: number;
  /** How its loosest hunk was found. */
  readonly matched: "exact" | "whitespace" | "fuzzy" | "fuzz";
}

/** The data of `apply_patch`. */
export interface ApplyPatchData {
  /** False for a dry run. */
  readonly applied: boolean;
  /** What the patch did with each file, in its order. */
  readonly files: readonly PatchOutcome[];
  /** Unified diff of the whole change. */
  readonly diff: string;
  /** What hooks changed in the files after this call, as a unified diff. `hash` is that of the file then. */
  readonly hook_diff?: string;
  /** What was wrong with the patch and could be mended. */
  readonly warnings?: readonly string[];
  /** Whether the diff is cut. */
  readonly truncated?: boolean;
}

/** The arguments of `diff`. */
export type DiffArgs = {
  /** The first (old) file; relative to the workspace, or absolute. */
  readonly a: string;
  /** Unchanged lines around each change. Default `3`. */
  readonly context?: number;
  /** Treat lines as equal that differ only in white space, line ends included. Default `false`. */
  readonly ignore_whitespace?: boolean;
  /** The text: a unified diff, JSON hunks, or an HTML table. Default `"unified"`. */
  readonly format?: "unified" | "json" | "html";
  /** After this time the call ends with TIMEOUT. In milliseconds. Default `30000`. */
  readonly timeout_ms?: number;
} & (
  | {
      /** The second (new) file; or give content_b; relative to the workspace, or absolute. */
      readonly b: string;
      /** The second (new) content itself, instead of a file. */
      readonly content_b?: never;
    }
  | {
      /** The second (new) file; or give content_b; relative to the workspace, or absolute. */
      readonly b?: never;
      /** The second (new) content itself, instead of a file. */
      readonly content_b: string;
    }
);

/** With format json or html: the hunks as data. */
export interface HunkData {
  /** First line in the first file. */
  readonly old_start: number;
  /** Lines in the first file. */
  readonly old_lines: number;
  /** First line in the second file. */
  readonly new_start: number;
  /** Lines in the second file. */
  readonly new_lines: number;
  /** Lines with their markers. */
  readonly lines: readonly string[];
}

/** The data of `diff`. */
export interface DiffData {
  /** Whether nothing differs. */
  readonly identical: boolean;
  /** The unified diff, with the line ends of the files. */
  readonly diff: string;
  /** Lines only in the second. */
  readonly added: number;
  /** Lines only in the first. */
  readonly removed: number;
  /** With format json or html: the hunks as data. */
  readonly hunks?: readonly HunkData[];
  /** Whether the end of the diff is left out. */
  readonly truncated?: boolean;
}

/** The arguments of `list_directory`. */
export interface ListDirectoryArgs {
  /** The directory; relative to the workspace, or absolute. Default `"."`. */
  readonly path?: string;
  /** How many levels: 1 lists the directory itself, 2 also its subdirectories, and so on. Default `1`. */
  readonly depth?: number;
  /** Show names that begin with a dot. Default `true`. */
  readonly hidden?: boolean;
  /** Globs of what to leave out, such as node_modules or *.log. Default `[]`. */
  readonly ignore?: readonly string[];
  /** Leave out what .gitignore, .ignore and .agentignore files name. Default `false`. */
  readonly respect_ignore?: boolean;
  /** `type` puts directories first. Default `"type"`. */
  readonly sort?: "type" | "name" | "size" | "mtime";
  /** asc or desc. Default `"asc"`. */
  readonly order?: "asc" | "desc";
  /** The most entries given. Default `1000`. */
  readonly limit?: number;
  /** `next_cursor` of an earlier call with the same arguments, to go on from there. */
  readonly cursor?: string;
  /** The text: marked lines, JSON, bare names, or an indented tree. Default `"text"`. */
  readonly format?: "text" | "json" | "names" | "tree";
  /** The most tokens of the text. */
  readonly max_tokens?: number;
  /** After this time the call ends with TIMEOUT. In milliseconds. Default `30000`. */
  readonly timeout_ms?: number;
}

/** The entries of this page, each directory followed by what is in it. */
export interface ListedEntry {
  /** Last part of the path. */
  readonly name: string;
  /** Relative to the workspace. */
  readonly path: string;
  /** `other` is a FIFO, socket or device. */
  readonly type: "file" | "dir" | "symlink" | "other";
  /** Bytes. */
  readonly size?: number;
  /** ISO 8601, UTC. */
  readonly modified?: string;
  /** Where a link points. */
  readonly target?: string;
}

/** The data of `list_directory`. */
export interface ListDirectoryData {
  /** The directory, relative to the workspace. */
  readonly path: string;
  /** The entries of this page, each directory followed by what is in it. */
  readonly entries: readonly ListedEntry[];
  /** All entries, also those beyond the limit. */
  readonly total: number;
  /** Whether there are more. */
  readonly truncated: boolean;
  /** Pass as cursor to go on. */
  readonly next_cursor?: string;
  /** With max_tokens: the tokens of the text. */
  readonly tokens?: number;
  /** What else is to be known of the answer, such as what was left out. */
  readonly warnings?: readonly string[];
}

/** The arguments of `glob`. */
export interface GlobArgs {
  /** Glob, or several: * within a directory, ** across them, {a,b}, [a-z]. Without a slash it matches names at any depth. */
  readonly pattern: string | readonly string[];
  /** The directory to look in; relative to the workspace, or absolute. Default `"."`. */
  readonly path?: string;
  /** Globs of what to leave out. Default `[]`. */
  readonly exclude?: readonly string[];
  /** What to find. Default `"file"`. */
  readonly type?: "file" | "dir" | "any";
  /** Whether letter case counts. Default `true`. */
  readonly case_sensitive?: boolean;
  /** Find names that begin with a dot too; .git is never searched. Default `true`. */
  readonly hidden?: boolean;
  /** Leave out what .gitignore, .ignore and .agentignore files name. Default `true`. */
  readonly respect_ignore?: boolean;
  /** path; recent: what changed within recency_ms first, newest first, then the others by path; mtime: newest first. Default `"path"`. */
  readonly sort?: "path" | "recent" | "mtime";
  /** What `recent` means, in milliseconds. Default `86400000`. */
  readonly recency_ms?: number;
  /** The most paths given. Default `1000`. */
  readonly limit?: number;
  /** `next_cursor` of an earlier call with the same arguments, to go on from there. */
  readonly cursor?: string;
  /** The most tokens of the text. */
  readonly max_tokens?: number;
  /** After this time the call ends with TIMEOUT. In milliseconds. Default `30000`. */
  readonly timeout_ms?: number;
}

/** The data of `glob`. */
export interface GlobData {
  /** Paths relative to the workspace. */
  readonly matches: readonly string[];
  /** All matches, also those beyond the limit. */
  readonly total: number;
  /** Whether there are more. */
  readonly truncated: boolean;
  /** Pass as cursor to go on. */
  readonly next_cursor?: string;
  /** Matches that ignore files leave out; where there are others, without those inside large ignored directories. */
  readonly ignored: number;
  /** With max_tokens: the tokens of the text. */
  readonly tokens?: number;
  /** What else is to be known of the answer, such as what was left out. */
  readonly warnings?: readonly string[];
}

/** The arguments of `find_files`. */
export interface FindFilesArgs {
  /** Letters of the path in their order, such as usrctl for src/user/controller.ts; case and spaces do not count, and in longer queries one letter may be wrong. */
  readonly query: string;
  /** The directory to look in; relative to the workspace, or absolute. Default `"."`. */
  readonly path?: string;
  /** score; recent: files that changed lately count more. Default `"score"`. */
  readonly rank?: "score" | "recent";
  /** Leave out what .gitignore, .ignore and .agentignore files name. Default `true`. */
  readonly respect_ignore?: boolean;
  /** The most files given. Default `20`. */
  readonly limit?: number;
  /** After this time the call ends with TIMEOUT. In milliseconds. Default `30000`. */
  readonly timeout_ms?: number;
}

/** Files, best first. */
export interface FoundFile {
  /** Relative to the workspace. */
  readonly path: string;
  /** Higher is better. */
  readonly score: number;
}

/** The data of `find_files`. */
export interface FindFilesData {
  /** Files, best first. */
  readonly files: readonly FoundFile[];
  /** All files that fit, also those beyond the limit. */
  readonly total: number;
  /** Whether there are more. */
  readonly truncated: boolean;
  /** What else is to be known of the answer, such as what was left out. */
  readonly warnings?: readonly string[];
}

/** The matching lines, only the paths of files that match, or the number of matching lines of each. */
export type GrepOutput = "content" | "files" | "count";

/** path; definitions: lines that define what was found first; recent: files that changed lately first. The latter two have no cursor. */
export type Rank = "path" | "definitions" | "recent";

/** The arguments of `grep`. */
export interface GrepArgs<Output extends GrepOutput = GrepOutput> {
  /** Regular expression (Rust syntax: no look-around, no back-references), or plain text with regex: false. */
  readonly pattern: string;
  /** The directory to search, or one file; relative to the workspace, or absolute. Default `"."`. */
  readonly path?: string;
  /** Only files whose path matches: *.ts at any depth, src/** below a directory. */
  readonly glob?: string | readonly string[];
  /** Globs of files to leave out. Default `[]`. */
  readonly exclude?: readonly string[];
  /** Only files of these types or extensions: ts, rust, .py. Default `[]`. */
  readonly file_types?: readonly string[];
  /** False: the pattern is plain text. Default `true`. */
  readonly regex?: boolean;
  /** Whether letter case counts; smart: only where the pattern has a capital. Default `"sensitive"`. */
  readonly case?: "sensitive" | "insensitive" | "smart";
  /** Match whole words only. Default `false`. */
  readonly word?: boolean;
  /** Let a match span lines. Default `false`. */
  readonly multiline?: boolean;
  /** Lines shown before each match. */
  readonly before?: number;
  /** Lines shown after each match. */
  readonly after?: number;
  /** Lines shown before and after each match. Default `0`. */
  readonly context?: number;
  /** The matching lines, only the paths of files that match, or the number of matching lines of each. Default `"content"`. */
  readonly output?: Output;
  /** path; definitions: lines that define what was found first; recent: files that changed lately first. The latter two have no cursor. Default `"path"`. */
  readonly rank?: Rank;
  /** The most lines (or files) given. Default `200`. */
  readonly max_results?: number;
  /** The most lines given of one file. */
  readonly max_per_file?: number;
  /** Longer lines are cut around the match. 0: never. Default `500`. */
  readonly max_line_chars?: number;
  /** Search names that begin with a dot too; .git is never searched. Default `true`. */
  readonly hidden?: boolean;
  /** Leave out what .gitignore, .ignore and .agentignore files name. Default `true`. */
  readonly respect_ignore?: boolean;
  /** `next_cursor` of an earlier call with the same arguments, to go on from there. */
  readonly cursor?: string;
  /** The most tokens of the text. */
  readonly max_tokens?: number;
  /** After this time what was found so far is given. Default `30000`. */
  readonly timeout_ms?: number;
}

/** What is common to all data of this tool. */
export interface GrepSummary {
  /** Matching lines; a lower bound unless complete. */
  readonly total_matches: number;
  /** Files that match. */
  readonly files_with_matches: number;
  /** Files searched. */
  readonly files_searched: number;
  /** Binary files passed over. */
  readonly skipped_binary: number;
  /** Files too large to be searched. */
  readonly skipped_large: number;
  /** Entries that could not be read. */
  readonly unreadable: number;
  /** Whether there is more. */
  readonly truncated: boolean;
  /** watch, sweep or scan: how changes are known. */
  readonly fresh: "watch" | "sweep" | "scan";
  /** Whether everything was searched. */
  readonly complete: boolean;
  /** max_results, max_per_file or timeout. */
  readonly incomplete_reason?: string;
  /** Pass as cursor to go on. */
  readonly next_cursor?: string;
  /** Where a pattern that finds nothing as a regular expression is there as plain text. */
  readonly as_text?: {
    /** The first file. */
    readonly path: string;
    /** The first line. */
    readonly line: number;
    /** Matching lines. */
    readonly count: number;
  };
  /** With max_tokens: the tokens of the text. */
  readonly tokens?: number;
  /** What else is to be known of the answer, such as what was left out. */
  readonly warnings?: readonly string[];
}

/** Matching lines, by path and line. */
export interface GrepMatch {
  /** Relative to the workspace. */
  readonly path: string;
  /** From 1. */
  readonly line: number;
  /** Of the first match, in characters from 1. */
  readonly column: number;
  /** The line. */
  readonly text: string;
  /** Last line of a match that spans several. */
  readonly end_line?: number;
  /** Lines of such a match after its first. */
  readonly rest?: readonly string[];
  /** Lines before. */
  readonly before?: readonly string[];
  /** Lines after. */
  readonly after?: readonly string[];
}

/** With output count. */
export interface GrepCount {
  /** Relative to the workspace. */
  readonly path: string;
  /** Matching lines. */
  readonly count: number;
}

/** The data with `output: "content"`. */
export interface GrepContentData extends GrepSummary {
  /** Matching lines, by path and line. */
  readonly matches: readonly GrepMatch[];
  /** With output files. */
  readonly files?: never;
  /** With output count. */
  readonly counts?: never;
}

/** The data with `output: "files"`. */
export interface GrepFilesData extends GrepSummary {
  /** Matching lines, by path and line. */
  readonly matches?: never;
  /** With output files. */
  readonly files: readonly string[];
  /** With output count. */
  readonly counts?: never;
}

/** The data with `output: "count"`. */
export interface GrepCountData extends GrepSummary {
  /** Matching lines, by path and line. */
  readonly matches?: never;
  /** With output files. */
  readonly files?: never;
  /** With output count. */
  readonly counts: readonly GrepCount[];
}

/** The data of `grep`. */
export type GrepData<Output extends GrepOutput = GrepOutput> = {
  readonly content: GrepContentData;
  readonly files: GrepFilesData;
  readonly count: GrepCountData;
}[Output];

/** The arguments of `outline`. */
export interface OutlineArgs {
  /** The file, or the directory to map; relative to the workspace, or absolute. Default `"."`. */
  readonly path?: string;
  /** Levels of definitions: 1 those of the file itself. Default: all of a file, 1 of a directory. */
  readonly depth?: number;
  /** The most tokens of the text. Default `4000`. */
  readonly max_tokens?: number;
  /** Give the first and last line as anchors (`12#k3x9q1a`), as edit_file takes them. Default `false`. */
  readonly anchors?: boolean;
  /** Map names that begin with a dot too; .git is never mapped. Default `true`. */
  readonly hidden?: boolean;
  /** Leave out what .gitignore, .ignore and .agentignore files name. Default `true`. */
  readonly respect_ignore?: boolean;
  /** After this time what was found so far is given. In milliseconds. Default `30000`. */
  readonly timeout_ms?: number;
}

/** By first line, an outer one before those inside. */
export interface OutlinedDefinition {
  /** function, method, class, struct, enum, interface, section and so on. */
  readonly kind: string;
  /** The name. */
  readonly name: string;
  /** The line with the name, shortened. */
  readonly signature: string;
  /** First line, without decorators and comments above. */
  readonly start_line: number;
  /** Last line. */
  readonly end_line: number;
  /** First line with decorators and comments above, if there are any. */
  readonly lead_line?: number;
  /** 0 for one of the file itself, 1 for one inside, and so on. */
  readonly level: number;
  /** Anchor of the first line, with anchors: true. */
  readonly from?: string;
  /** Anchor of the last line, with anchors: true. */
  readonly to?: string;
}

/** Files with definitions, by path. */
export interface OutlinedFile {
  /** Relative to the workspace. */
  readonly path: string;
  /** By first line, an outer one before those inside. */
  readonly definitions: readonly OutlinedDefinition[];
  /** All definitions of the file to that depth, also those left out. */
  readonly total: number;
}

/** The data of `outline`. */
export interface OutlineData {
  /** Files with definitions, by path. */
  readonly files: readonly OutlinedFile[];
  /** Files with definitions that were found, also those left out. */
  readonly total: number;
  /** Whether files or definitions were left out for lack of room. */
  readonly truncated: boolean;
  /** With max_tokens: the tokens of the text. */
  readonly tokens?: number;
  /** What else is to be known of the answer, such as what was left out. */
  readonly warnings?: readonly string[];
}

/** definition: only blocks that define a name of the query. test: only tests. */
export type CodeKind = "any" | "definition" | "test";

/** The arguments of `search_code`. */
export interface SearchCodeArgs {
  /** What to look for, in words or names: where are expired sessions removed; SessionStore. */
  readonly query: string;
  /** The directory to search; relative to the workspace, or absolute. Default `"."`. */
  readonly path?: string;
  /** Only files whose path matches: *.ts at any depth, src/** below a directory. */
  readonly glob?: string | readonly string[];
  /** definition: only blocks that define a name of the query. test: only tests. Default `"any"`. */
  readonly kind?: CodeKind;
  /** The most tokens of the text. Default `2000`. */
  readonly max_tokens?: number;
  /** The most blocks given. Default `10`. */
  readonly limit?: number;
  /** Hashes (#1a2b3c) of blocks that you have: they come back as one line. Default `[]`. */
  readonly known?: readonly string[];
  /** After this time the call ends with TIMEOUT. In milliseconds. Default `30000`. */
  readonly timeout_ms?: number;
}

/** The line of the definition, and those with words of the query. Of a first block that is larger than max_tokens, those that fit. */
export interface FoundLine {
  /** From 1. */
  readonly line: number;
  /** At most 200 characters. */
  readonly text: string;
}

/** Blocks, best first. */
export interface FoundBlock {
  /** Relative to the workspace. */
  readonly path: string;
  /** From 1. */
  readonly first_line: number;
  /** Inclusive. */
  readonly last_line: number;
  /** Six hexadecimal digits that change with the lines of the block. */
  readonly hash: string;
  /** Whether known has its hash; then it has no lines. */
  readonly known: boolean;
  /** The line of the definition, and those with words of the query. Of a first block that is larger than max_tokens, those that fit. */
  readonly lines: readonly FoundLine[];
  /** How many of its lines did not fit, if any. */
  readonly lines_left_out?: number;
}

/** The data of `search_code`. */
export interface SearchCodeData {
  /** Blocks, best first. */
  readonly blocks: readonly FoundBlock[];
  /** Blocks that were found and do not fit into the answer. */
  readonly left_out: number;
  /** The limit that left out blocks or lines: max_tokens, or that of the size of every answer. */
  readonly left_out_by?: "max_tokens" | "size";
  /** With max_tokens: the tokens of the text. */
  readonly tokens?: number;
  /** Files searched. */
  readonly files_searched: number;
  /** Whether everything was searched. */
  readonly complete: boolean;
  /** What else is to be known of the answer, such as what was left out. */
  readonly warnings?: readonly string[];
}

/** The arguments of `find_symbol`. */
export interface FindSymbolArgs {
  /** The name, or what is around it and the name: Parser.parse. */
  readonly name: string;
  /** The file or directory to search; relative to the workspace, or absolute. Default `"."`. */
  readonly path?: string;
  /** Only files whose path matches: *.ts at any depth, src/** below a directory. */
  readonly glob?: string | readonly string[];
  /** Give the lines that use the name, too. Default `true`. */
  readonly uses?: boolean;
  /** The most tokens of the text. Default `2000`. */
  readonly max_tokens?: number;
  /** After this time what was found so far is given. In milliseconds. Default `30000`. */
  readonly timeout_ms?: number;
}

/** Definitions of the name, by path and line. */
export interface SymbolDefinition {
  /** Relative to the workspace. */
  readonly path: string;
  /** function, method, class, struct, enum, interface and so on. */
  readonly kind: string;
  /** The name, with the names of what is around it: Parser.parse. */
  readonly name: string;
  /** The line with the name, shortened. */
  readonly signature: string;
  /** First line, without decorators and comments above. */
  readonly start_line: number;
  /** Last line. */
  readonly end_line: number;
}

/** The other lines with the name, by path and line. */
export interface SymbolUse {
  /** Relative to the workspace. */
  readonly path: string;
  /** From 1. */
  readonly line: number;
  /** The line, at most 200 characters. */
  readonly text: string;
  /** The definition around it; absent outside of any. */
  readonly in?: string;
  /** The other definition with the last part of the name that begins here: Lexer.parse. */
  readonly defines?: string;
}

/** The data of `find_symbol`. */
export interface FindSymbolData {
  /** Definitions of the name, by path and line. */
  readonly definitions: readonly SymbolDefinition[];
  /** The other lines with the name, by path and line. */
  readonly uses: readonly SymbolUse[];
  /** All definitions that were found, also those left out. */
  readonly total_definitions: number;
  /** All other lines that were found, also those left out; 0 with uses: false. */
  readonly total_uses: number;
  /** The limit that left out places: max_tokens, or that of the size of every answer. */
  readonly left_out_by?: "max_tokens" | "size";
  /** Whether everything was searched. */
  readonly complete: boolean;
  /** With max_tokens: the tokens of the text. */
  readonly tokens?: number;
  /** What else is to be known of the answer, such as what was left out. */
  readonly warnings?: readonly string[];
}

/** The arguments of `stat`. */
export interface StatArgs {
  /** The file, directory or link; relative to the workspace, or absolute. */
  readonly path: string;
  /** Tell about what a symbolic link leads to; false: about the link itself. Default `true`. */
  readonly follow?: boolean;
  /** Also compute the sha256 of a file's content, for expected_hash. Default `false`. */
  readonly hash?: boolean;
}

/** The data of `stat`. */
export interface StatData {
  /** The last part of the path. */
  readonly name: string;
  /** The path, relative to the workspace. */
  readonly path: string;
  /** `other` is a FIFO, socket or device. */
  readonly type: "file" | "dir" | "symlink" | "other";
  /** Bytes. */
  readonly size: number;
  /** Permission bits in octal. */
  readonly mode?: string;
  /** Type and permissions as ls shows them. */
  readonly mode_string?: string;
  /** ISO 8601, UTC. */
  readonly created?: string;
  /** ISO 8601, UTC. */
  readonly modified: string;
  /** ISO 8601, UTC. */
  readonly accessed?: string;
  /** Whether it is a directory. */
  readonly is_dir: boolean;
  /** Whether it is a regular file. */
  readonly is_file: boolean;
  /** Whether it is a symbolic link. */
  readonly is_symlink: boolean;
  /** Where a link points, as written. */
  readonly target?: string;
  /** Media type, from the first bytes and the name. */
  readonly mime?: string;
  /** sha256 of the content. */
  readonly hash?: string;
  /** Opaque; changes with the content. */
  readonly version?: string;
  /** Where the workspace knows: what changed since you read the file, and by whom. */
  readonly changed?: string;
}

/** The arguments of `changes_since`. */
export interface ChangesSinceArgs {
  /** read: since you read each file; or the name of a mark, or a call_id: by recorded calls since then. Default `"read"`. */
  readonly since?: string;
  /** Only this file, or below this directory; relative to the workspace, or absolute. Default `"."`. */
  readonly path?: string;
  /** Whose changes; all includes your own since a mark or a call. Default `"others"`. */
  readonly by?: "others" | "all";
  /** The most tokens of the text. Default `2000`. */
  readonly max_tokens?: number;
}

/** By path; those without `shown` did not fit. */
export interface FileChange {
  /** Relative to the workspace. */
  readonly path: string;
  /** changed, new or gone. */
  readonly what: "changed" | "new" | "gone";
  /** The lines that changed, where they are known. */
  readonly lines?: string;
  /** Who changed it. */
  readonly by: string;
  /** Hunks of a unified diff; where the old lines are not known, the present ones with numbers. */
  readonly shown?: string;
  /** Where the changes begin that are not shown; absent when all are. */
  readonly first_line?: number;
}

/** The data of `changes_since`. */
export interface ChangesSinceData {
  /** By path; those without `shown` did not fit. */
  readonly files: readonly FileChange[];
  /** Whether something did not fit. */
  readonly truncated: boolean;
  /** The number of changed files that did not fit. */
  readonly left_out: number;
  /** Files of which it is not known, since they could not be read. */
  readonly unread: readonly string[];
  /** Tokens of the text. */
  readonly tokens?: number;
  /** What else is to be known of the answer, such as what was left out. */
  readonly warnings?: readonly string[];
}

/** The arguments of `copy`. */
export interface CopyArgs {
  /** What to copy: a file or a directory; relative to the workspace, or absolute. */
  readonly source: string;
  /** The exact path it will have there (not the directory to put it in); relative to the workspace, or absolute. */
  readonly destination: string;
  /** Replace an existing destination. When false it is ALREADY_EXISTS. Default `false`. */
  readonly overwrite?: boolean;
  /** Make missing parent directories of the destination. Default `true`. */
  readonly create_dirs?: boolean;
  /** A call that has not begun to write by then ends with TIMEOUT; one that has is finished. In milliseconds. Default `30000`. */
  readonly timeout_ms?: number;
}

/** The data of `copy`. */
export interface CopyData {
  /** The source, relative to the workspace. */
  readonly source: string;
  /** The destination, relative to the workspace. */
  readonly destination: string;
  /** Files and links copied. */
  readonly files: number;
  /** Directories made. */
  readonly directories: number;
  /** Bytes copied. */
  readonly bytes: number;
  /** What else is to be known of the answer, such as what was left out. */
  readonly warnings?: readonly string[];
}

/** The arguments of `move`. */
export interface MoveArgs {
  /** What to move: a file or a directory; relative to the workspace, or absolute. */
  readonly source: string;
  /** The exact path it will have there (not the directory to put it in); relative to the workspace, or absolute. */
  readonly destination: string;
  /** Replace an existing destination. When false it is ALREADY_EXISTS. Default `false`. */
  readonly overwrite?: boolean;
  /** Make missing parent directories of the destination. Default `true`. */
  readonly create_dirs?: boolean;
  /** A call that has not begun to write by then ends with TIMEOUT; one that has is finished. In milliseconds. Default `30000`. */
  readonly timeout_ms?: number;
}

/** The data of `move`. */
export interface MoveData {
  /** Where it was, relative to the workspace. */
  readonly source: string;
  /** Where it is now, relative to the workspace. */
  readonly destination: string;
  /** What else is to be known of the answer, such as what was left out. */
  readonly warnings?: readonly string[];
}

/** The arguments of `delete`. */
export interface DeleteArgs {
  /** What to delete: a file, a link (its target stays) or a directory; relative to the workspace, or absolute. */
  readonly path: string;
  /** Delete a directory with everything in it. Without it only an empty directory goes. Default `false`. */
  readonly recursive?: boolean;
  /** Nothing there is a success; when false it is NOT_FOUND. Default `false`. */
  readonly missing_ok?: boolean;
  /** A call that has not begun to write by then ends with TIMEOUT; one that has is finished. In milliseconds. Default `30000`. */
  readonly timeout_ms?: number;
}

/** The data of `delete`. */
export interface DeleteData {
  /** What was deleted, relative to the workspace. */
  readonly path: string;
  /** Files and links removed. */
  readonly files: number;
  /** Directories removed. */
  readonly directories: number;
  /** What else is to be known of the answer, such as what was left out. */
  readonly warnings?: readonly string[];
}

/** The arguments of `mkdir`. */
export interface MkdirArgs {
  /** The directory to make; relative to the workspace, or absolute. */
  readonly path: string;
  /** Make missing parent directories too. Default `true`. */
  readonly parents?: boolean;
  /** An existing directory is fine; when false it is ALREADY_EXISTS. Default `true`. */
  readonly exist_ok?: boolean;
}

/** The data of `mkdir`. */
export interface MkdirData {
  /** The directory, relative to the workspace. */
  readonly path: string;
  /** False where it was there already. */
  readonly created: boolean;
  /** What else is to be known of the answer, such as what was left out. */
  readonly warnings?: readonly string[];
}

/** The calls, in order; each sees what those before it did. */
export interface BatchOperation {
  /** The name of a tool; any but batch. */
  readonly tool: string;
  /** Its arguments, as for the tool alone. Default `{}`. */
  readonly args?: Readonly<Record<string, unknown>>;
}

/** The arguments of `batch`. */
export interface BatchArgs {
  /** The calls, in order; each sees what those before it did. */
  readonly operations: readonly BatchOperation[];
  /** All operations or none: after a failure nothing is changed. When false each stands for itself and the others go on. Default `true`. */
  readonly atomic?: boolean;
  /** Only tell what each operation would do; nothing is written. Default `false`. */
  readonly dry_run?: boolean;
}

/** What became of each operation, in order. */
export interface BatchOutcome {
  /** The tool. */
  readonly tool: string;
  /** Whether it succeeded. */
  readonly ok: boolean;
  /** What the tool says. */
  readonly text: string;
  /** The tool's data. */
  readonly data?: unknown;
  /** The tool's failure. */
  readonly error?: unknown;
  /** Who changed what was asked for before it was done. */
  readonly modified_by?: "hook" | "reviewer";
}

/** The data of `batch`. */
export interface BatchData {
  /** What became of each operation, in order. */
  readonly results: readonly BatchOutcome[];
  /** Whether anything was written. */
  readonly applied: boolean;
  /** Whether what had been written was taken back. */
  readonly rolled_back: boolean;
  /** What else is to be known of the answer, such as what was left out. */
  readonly warnings?: readonly string[];
}

/** The arguments of `access_info`. */
export type AccessInfoArgs = Readonly<Record<string, never>>;

/** One grant. */
export interface GrantedDirectory {
  /** The directory; everything below it is meant too. */
  readonly dir: string;
  /** What may be done there. Default `"write"`. */
  readonly access: "read" | "write";
  /** When it ends. */
  readonly expires?: string;
}

/** The data of `access_info`. */
export interface AccessInfoData {
  /** The directory that relative paths start from. */
  readonly cwd: string;
  /** What may be read; null: everything. */
  readonly read_roots: readonly string[] | null;
  /** What may be changed. */
  readonly write_roots: readonly string[];
  /** Globs of what is out of bounds all the same. */
  readonly deny: readonly string[];
  /** Directories that somebody granted. */
  readonly grants: readonly string[];
  /** What each granted directory allows. */
  readonly granted: readonly GrantedDirectory[];
  /** Whether nothing may be changed. */
  readonly read_only: boolean;
  /** What decides about a change, in its order. */
  readonly decided_by: readonly ("framework" | "hooks" | "policy" | "rules" | "grants" | "default" | "places" | "approvals" | "approver" | "guard")[];
  /** The engine in use. */
  readonly engine: {
    /** native or wasm. */
    readonly kind: string;
    /** Why it is not native. */
    readonly reason?: string;
  };
  /** native: paths are resolved and opened in one step. checked: they are checked before. */
  readonly confinement: "native" | "checked";
  /** What the operating system enforces besides. */
  readonly sandbox: {
    /** enforced, partial or none. */
    readonly fs: string;
    /** enforced, partial or none. */
    readonly net: string;
    /** What holds for commands; each enforced, partial or none. */
    readonly commands?: {
      /** The sandbox that commands run in. */
      readonly tier: string;
      /** The directories. */
      readonly files: string;
      /** The closed network. */
      readonly network: string;
      /** What is denied, protected and secret. */
      readonly policy: string;
      /** The end of everything that was started. */
      readonly processes: string;
      /** The limits. */
      readonly limits: string;
    };
  };
  /** The directory of locks and history, if it is not in its usual place. */
  readonly state?: {
    /** Its path. */
    readonly dir: string;
    /** The better places, and why each cannot be used. */
    readonly passed_over: readonly string[];
    /** Why no file can be changed: nothing can be written in the directory. */
    readonly problem?: string;
  };
}

/** The arguments of each tool. */
export interface ToolArgs {
  /**
   * Reads a text file with line numbers (number, tab, line), 2000 lines from the first unless start_line and max_lines say otherwise. A cut page ends in a line that tells the total and how to go on. A page of a file of any size is quick, so read large files in pages, and find the place with grep first.
   * The encoding is recognised, byte order marks are hidden. Images are returned as images; of PDF and Office files and notebooks the text, of archives the list of entries; other binary files are refused. symbol reads one definition by its name, json_pointer one value of a large JSON, YAML, TOML or XML file. The line numbers are not part of the file: leave them out of edits. The hash can be passed as expected_hash to write_file and edit_file.
   */
  read_file: ReadFileArgs;
  /**
   * Reads several files at once: exact paths, whole directories, and globs, one after the other in path order, each behind a line with its path. Use it to take in a small module or a set of configuration files; for one file, for line numbers or for long files use read_file.
   * A file that cannot be read never fails the call: it is listed as skipped with the reason. Binary files, ignored files and the usual build and dependency directories are left out. At most max_files files and max_total_bytes of content are given.
   */
  read_many_files: ReadManyFilesArgs;
  /**
   * Creates a file, or replaces or extends one, atomically: readers see the old content or the new, never a part.
   * Use it for new files and for rewriting a file completely. To change parts of an existing file use edit_file, which is shorter and safer.
   * Missing directories are made. Existing files are replaced unless overwrite is false; pass expected_hash from read_file to be sure that nobody changed the file meanwhile. Encoding, byte order mark, CRLF line ends, mode and owner of an existing file are kept; the answer says so.
   */
  write_file: WriteFileArgs;
  /**
   * Replaces text in an existing file: each edit gives old_text as it stands in the file and the new_text for it. An old_text that is missing, or there more than once, is refused with the line that comes nearest or the lines where it stands, and nothing is written; several edits are made all or none. Returns the diff.
   * Read the place first and copy old_text exactly, without the line numbers. Give a few lines around the change rather than one common line. Or name whole lines by the anchors that read_file gives with anchors: true (from, to, insert), one value of a JSON, YAML, TOML, XML or CSV file by json_pointer, or a definition by its name (symbol): none needs old_text. Line ends, encoding and untouched bytes of the file are kept. dry_run shows the diff only. For a new file, or to rewrite one, use write_file.
   */
  edit_file: EditFileArgs;
  /**
   * Applies a patch to any number of files: all of it or nothing. Files can be changed, made, deleted, renamed, copied and made executable.
   * Hunks are found by their lines; line numbers and counts in the headers may be wrong or left out (@@). A hunk that is not there, is there already, or fits in two places is refused with the line that differs or the lines where it fits, and nothing is written. For a small change of one file edit_file is simpler; use this for changes over several files, or for a diff you already have.
   */
  apply_patch: ApplyPatchArgs;
  /** Shows what differs between two text files, or between a file and a text given as content_b, as a unified diff (--- a/…, +++ b/…, @@ hunks). Use it to check a change or to compare versions; nothing is written. Two equal files give "Files are identical". Binary files are refused. */
  diff: DiffArgs;
  /**
   * Lists a directory: names, types, sizes and times, directories first. depth goes into subdirectories. Use it to look around; to find files by name anywhere use glob, by content grep.
   * Symbolic links are shown with their target, unless that is out of bounds, and never followed. At most limit entries are given; the total is always told, and next_cursor goes on.
   */
  list_directory: ListDirectoryArgs;
  /**
   * Finds files by name pattern, such as **\/*.ts or src/*.{js,jsx}, anywhere below a directory; one path a line. A pattern without a slash (*.ts) matches at any depth. Use it when you know something of the name; to search contents use grep, to look around list_directory.
   * Ignored files and .git are left out, symbolic links are not followed. At most limit paths are given; the total is always told.
   */
  glob: GlobArgs;
  /**
   * Finds files whose paths have the letters of query in their order, the best first, one path a line. Use it when you remember a name roughly or in part; when you know a pattern use glob, to search contents grep.
   * Matches in the file's own name count more than in its directories. Ignored files and .git are left out. At most limit paths are given; the total is always told.
   */
  find_files: FindFilesArgs;
  /**
   * Searches the contents of files for a regular expression or plain text, below a directory or in one file; gives path:line:text by path and line, or a path with line:text below it where a file has six lines or more. Use it to find where something is defined or used; to find files by name use glob. Narrow it with glob or file_types; output files or count gives an overview first.
   * Ignored files, binary files and .git are left out. Nothing found is a success. At most max_results lines are given; the last line then says that there is more, and next_cursor goes on.
   */
  grep: GrepArgs;
  /**
   * Lists what a file defines, such as functions, types, headings and keys, with their lines (`12-40  class Foo`), those inside indented. For a directory, a map: each file with its top definitions. Use it before reading a large file, then read_file with symbol or the lines.
   * About 30 languages are known, without comments and strings. The answer keeps to max_tokens: deeper levels are left out first, then files that do not fit, while later ones that do are still given. anchors: true gives lines as edit_file takes them.
   */
  outline: OutlineArgs;
  /**
   * Finds the functions, types and passages that fit a question best, best first: path:first-last #hash, then the line of the definition and the lines with words of the query. Use it when you do not know how the code names a thing; when you know the exact text use grep.
   * It compares words and names, not types: two functions with one name are not told apart. Ignored and binary files are left out. The answer has at most max_tokens tokens and says what was left out.
   */
  search_code: SearchCodeArgs;
  /**
   * Finds where a name is defined, then the lines that use it, each with the function or type around it. Use it before you change or rename something, or to follow a call.
   * It compares names, not types: two functions with one name are not told apart, and a use may be a comment or a text. Definitions of about 30 languages are known; ignored and binary files are left out. The answer keeps to max_tokens and says what was left out.
   */
  find_symbol: FindSymbolArgs;
  /** Tells type, size, permissions, times and media type of one file, directory or symbolic link, without reading it whole. With hash: true also the sha256 of a file, which expected_hash of write_file and edit_file takes. For many entries at once use list_directory. */
  stat: StatArgs;
  /** Shows what other agents and programs changed in the files that you have read, as diff hunks within max_tokens, and who did. The lines shown count as read. Use it before you go on with files that others work on, too, instead of reading them again. */
  changes_since: ChangesSinceArgs;
  /**
   * Copies a file, or a directory with everything in it, to the exact path given as destination. Contents and modes are kept; symbolic links inside it are copied as links, never followed.
   * An existing destination is ALREADY_EXISTS unless overwrite is true: then a file is replaced and directories are merged.
   */
  copy: CopyArgs;
  /**
   * Moves or renames a file or a directory to the exact path given as destination; a symbolic link itself is moved, not its target.
   * An existing destination is ALREADY_EXISTS unless overwrite is true: then a file replaces a file, and a directory an empty directory.
   */
  move: MoveArgs;
  /** Deletes a file, a symbolic link (never its target) or a directory. A directory that is not empty needs recursive: true and goes with everything in it; there is no undo by this tool, so look with list_directory first. The roots of the workspace cannot be deleted. */
  delete: DeleteArgs;
  /**
   * Makes a directory, with missing parents unless parents is false. An existing directory is fine unless exist_ok is false.
   * Not needed before write_file, copy or move: they make missing directories themselves.
   */
  mkdir: MkdirArgs;
  /**
   * Runs several tool calls in order as one: all of them succeed, or nothing is changed and the error names the operation that failed (details.index, from 0). Later operations see the results of earlier ones, so a file can be made, edited and moved in one batch. A batch that is cut off is taken back, too.
   * Use it where changes of several files belong together. Up to 100 operations; batches cannot be nested.
   */
  batch: BatchArgs;
  /** Tells which directories may be read and changed, what is out of bounds in them, and the directory that relative paths start from. Use it after an OUTSIDE_ALLOWED error, or before working with absolute paths. */
  access_info: AccessInfoArgs;
}

/** The data of each tool's result. */
export interface ToolData {
  /**
   * Reads a text file with line numbers (number, tab, line), 2000 lines from the first unless start_line and max_lines say otherwise. A cut page ends in a line that tells the total and how to go on. A page of a file of any size is quick, so read large files in pages, and find the place with grep first.
   * The encoding is recognised, byte order marks are hidden. Images are returned as images; of PDF and Office files and notebooks the text, of archives the list of entries; other binary files are refused. symbol reads one definition by its name, json_pointer one value of a large JSON, YAML, TOML or XML file. The line numbers are not part of the file: leave them out of edits. The hash can be passed as expected_hash to write_file and edit_file.
   */
  read_file: ReadFileData;
  /**
   * Reads several files at once: exact paths, whole directories, and globs, one after the other in path order, each behind a line with its path. Use it to take in a small module or a set of configuration files; for one file, for line numbers or for long files use read_file.
   * A file that cannot be read never fails the call: it is listed as skipped with the reason. Binary files, ignored files and the usual build and dependency directories are left out. At most max_files files and max_total_bytes of content are given.
   */
  read_many_files: ReadManyFilesData;
  /**
   * Creates a file, or replaces or extends one, atomically: readers see the old content or the new, never a part.
   * Use it for new files and for rewriting a file completely. To change parts of an existing file use edit_file, which is shorter and safer.
   * Missing directories are made. Existing files are replaced unless overwrite is false; pass expected_hash from read_file to be sure that nobody changed the file meanwhile. Encoding, byte order mark, CRLF line ends, mode and owner of an existing file are kept; the answer says so.
   */
  write_file: WriteFileData;
  /**
   * Replaces text in an existing file: each edit gives old_text as it stands in the file and the new_text for it. An old_text that is missing, or there more than once, is refused with the line that comes nearest or the lines where it stands, and nothing is written; several edits are made all or none. Returns the diff.
   * Read the place first and copy old_text exactly, without the line numbers. Give a few lines around the change rather than one common line. Or name whole lines by the anchors that read_file gives with anchors: true (from, to, insert), one value of a JSON, YAML, TOML, XML or CSV file by json_pointer, or a definition by its name (symbol): none needs old_text. Line ends, encoding and untouched bytes of the file are kept. dry_run shows the diff only. For a new file, or to rewrite one, use write_file.
   */
  edit_file: EditFileData;
  /**
   * Applies a patch to any number of files: all of it or nothing. Files can be changed, made, deleted, renamed, copied and made executable.
   * Hunks are found by their lines; line numbers and counts in the headers may be wrong or left out (@@). A hunk that is not there, is there already, or fits in two places is refused with the line that differs or the lines where it fits, and nothing is written. For a small change of one file edit_file is simpler; use this for changes over several files, or for a diff you already have.
   */
  apply_patch: ApplyPatchData;
  /** Shows what differs between two text files, or between a file and a text given as content_b, as a unified diff (--- a/…, +++ b/…, @@ hunks). Use it to check a change or to compare versions; nothing is written. Two equal files give "Files are identical". Binary files are refused. */
  diff: DiffData;
  /**
   * Lists a directory: names, types, sizes and times, directories first. depth goes into subdirectories. Use it to look around; to find files by name anywhere use glob, by content grep.
   * Symbolic links are shown with their target, unless that is out of bounds, and never followed. At most limit entries are given; the total is always told, and next_cursor goes on.
   */
  list_directory: ListDirectoryData;
  /**
   * Finds files by name pattern, such as **\/*.ts or src/*.{js,jsx}, anywhere below a directory; one path a line. A pattern without a slash (*.ts) matches at any depth. Use it when you know something of the name; to search contents use grep, to look around list_directory.
   * Ignored files and .git are left out, symbolic links are not followed. At most limit paths are given; the total is always told.
   */
  glob: GlobData;
  /**
   * Finds files whose paths have the letters of query in their order, the best first, one path a line. Use it when you remember a name roughly or in part; when you know a pattern use glob, to search contents grep.
   * Matches in the file's own name count more than in its directories. Ignored files and .git are left out. At most limit paths are given; the total is always told.
   */
  find_files: FindFilesData;
  /**
   * Searches the contents of files for a regular expression or plain text, below a directory or in one file; gives path:line:text by path and line, or a path with line:text below it where a file has six lines or more. Use it to find where something is defined or used; to find files by name use glob. Narrow it with glob or file_types; output files or count gives an overview first.
   * Ignored files, binary files and .git are left out. Nothing found is a success. At most max_results lines are given; the last line then says that there is more, and next_cursor goes on.
   */
  grep: GrepData;
  /**
   * Lists what a file defines, such as functions, types, headings and keys, with their lines (`12-40  class Foo`), those inside indented. For a directory, a map: each file with its top definitions. Use it before reading a large file, then read_file with symbol or the lines.
   * About 30 languages are known, without comments and strings. The answer keeps to max_tokens: deeper levels are left out first, then files that do not fit, while later ones that do are still given. anchors: true gives lines as edit_file takes them.
   */
  outline: OutlineData;
  /**
   * Finds the functions, types and passages that fit a question best, best first: path:first-last #hash, then the line of the definition and the lines with words of the query. Use it when you do not know how the code names a thing; when you know the exact text use grep.
   * It compares words and names, not types: two functions with one name are not told apart. Ignored and binary files are left out. The answer has at most max_tokens tokens and says what was left out.
   */
  search_code: SearchCodeData;
  /**
   * Finds where a name is defined, then the lines that use it, each with the function or type around it. Use it before you change or rename something, or to follow a call.
   * It compares names, not types: two functions with one name are not told apart, and a use may be a comment or a text. Definitions of about 30 languages are known; ignored and binary files are left out. The answer keeps to max_tokens and says what was left out.
   */
  find_symbol: FindSymbolData;
  /** Tells type, size, permissions, times and media type of one file, directory or symbolic link, without reading it whole. With hash: true also the sha256 of a file, which expected_hash of write_file and edit_file takes. For many entries at once use list_directory. */
  stat: StatData;
  /** Shows what other agents and programs changed in the files that you have read, as diff hunks within max_tokens, and who did. The lines shown count as read. Use it before you go on with files that others work on, too, instead of reading them again. */
  changes_since: ChangesSinceData;
  /**
   * Copies a file, or a directory with everything in it, to the exact path given as destination. Contents and modes are kept; symbolic links inside it are copied as links, never followed.
   * An existing destination is ALREADY_EXISTS unless overwrite is true: then a file is replaced and directories are merged.
   */
  copy: CopyData;
  /**
   * Moves or renames a file or a directory to the exact path given as destination; a symbolic link itself is moved, not its target.
   * An existing destination is ALREADY_EXISTS unless overwrite is true: then a file replaces a file, and a directory an empty directory.
   */
  move: MoveData;
  /** Deletes a file, a symbolic link (never its target) or a directory. A directory that is not empty needs recursive: true and goes with everything in it; there is no undo by this tool, so look with list_directory first. The roots of the workspace cannot be deleted. */
  delete: DeleteData;
  /**
   * Makes a directory, with missing parents unless parents is false. An existing directory is fine unless exist_ok is false.
   * Not needed before write_file, copy or move: they make missing directories themselves.
   */
  mkdir: MkdirData;
  /**
   * Runs several tool calls in order as one: all of them succeed, or nothing is changed and the error names the operation that failed (details.index, from 0). Later operations see the results of earlier ones, so a file can be made, edited and moved in one batch. A batch that is cut off is taken back, too.
   * Use it where changes of several files belong together. Up to 100 operations; batches cannot be nested.
   */
  batch: BatchData;
  /** Tells which directories may be read and changed, what is out of bounds in them, and the directory that relative paths start from. Use it after an OUTSIDE_ALLOWED error, or before working with absolute paths. */
  access_info: AccessInfoData;
}

/** The name of a tool. */
export type ToolName = keyof ToolArgs;
