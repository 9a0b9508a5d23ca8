/** The arguments of `write_file`, and their schema. */
import {
  type Arguments,
  compileArgumentCheck,
  MODE_PATTERN,
  object,
  type ObjectSchema,
} from "../lib/schema.ts";
import type { CheckedArgs } from "../generated/internal.ts";
import { choice, EXPECTED_HASH_SCHEMA, flag, path, text } from "../lib/shared.ts";

type CheckedWriteArgs = CheckedArgs["write_file"];
/** The arguments of a call after their check, with the defaults. */
export interface WriteFileToolArgs extends CheckedWriteArgs {
  /** True when the call sets the line endings, so that those of the file do not matter. */
  readonly eol_given: boolean;
}

/** The schema of the arguments. */
export const writeFileInputSchema: ObjectSchema = object(
  {
    path: path("The file to write"),
    content: text(
      "The whole new content: no final newline is added or taken. Never leave lines out by a comment such as `// ... rest of the file ...`.",
    ),
    overwrite: flag("Replace an existing file. When false an existing file is ALREADY_EXISTS.", true),
    create_dirs: flag("Make missing parent directories.", true),
    append: flag("Add the content to the end of the file instead of replacing it.", false),
    encoding: text(
      "Encoding of the file, such as utf-8, utf-16le or latin1. keep: that of the file, with its byte order mark; utf-8 for a new file.",
      { default: "keep" },
    ),
    content_encoding: choice(
      "How `content` is given; base64 writes the decoded bytes.",
      ["text", "base64"],
      "text",
    ),
    eol: choice(
      "Line endings: as given, all LF, all CRLF, or keep: those of the file. A file that has CRLF alone gets CRLF for content that has LF alone.",
      ["as_is", "lf", "crlf", "keep"],
      "keep",
    ),
    mode: text(
      "Permission bits in octal, such as 0755. Default: kept, or the system's default for a new file.",
      { pattern: MODE_PATTERN },
    ),
    expected_hash: EXPECTED_HASH_SCHEMA,
    whole_file: flag(
      "The content is all that the file is to hold, although it has a comment that could stand for lines left out, or not all of the file was read.",
      false,
    ),
  },
  ["path", "content"],
);

/** Checks the arguments of a call and adds the defaults. @throws INVALID_ARGUMENT */
export const checkWriteFileArgs: (args: Arguments) => CheckedWriteArgs =
  compileArgumentCheck<CheckedWriteArgs>("write_file", writeFileInputSchema);
