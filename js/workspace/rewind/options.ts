/** The options and results of `ws.rewind` and `ws.mark`. */
import type { LeftReason } from "../../log/index.ts";
import { BY } from "../../pipeline/past/keep-options.ts";
import {
  dateOption,
  either,
  flag,
  list,
  type OptionalOption,
  type Options,
  options,
  type RequiredOption,
  required,
  signalOption,
  text,
} from "../../schema/option.ts";

/** The options of `ws.rewind`. */
export interface RewindOptions {
  /**
   * Only these files, and what is below these directories. A file that is named here is rewound even if a person or
   * another program has changed it since. Default: every path that the undone calls changed.
   */
  readonly paths?: readonly string[] | undefined;
  /** Only the calls of this agent. Default: the calls of all. */
  readonly agent?: string | undefined;
  /** True to return what the rewind would do, without doing it. Default false. */
  readonly dryRun?: boolean | undefined;
  /**
   * The `digest` of a dry run: the rewind does exactly what that one showed, or fails with CONFLICT. Default: the rewind
   * does what is right when it begins.
   */
  readonly digest?: string | undefined;
  /** The person who wants it, for observers and the audit log. Default: not told. */
  readonly by?: string | undefined;
  /** Ends the wait for locks and for an approval, with CANCELLED. What has begun to write finishes. */
  readonly signal?: AbortSignal | undefined;
}

/** The options of `ws.rewind`. */
export const REWIND_OPTIONS: Options<RewindOptions> = options("RewindOptions", {
  paths: list(text()),
  agent: text(),
  dryRun: flag(),
  digest: text({ pattern: "^sha256:[0-9a-f]{64}$" }),
  by: BY,
  signal: signalOption,
});

/** The place to which `ws.rewind` goes. */
export const REWIND_PLACE: RequiredOption<string | Date> = required(either(text(), dateOption));

/** The longest name of a mark, in characters. */
const MAX_MARK_NAME_CHARACTERS = 64;

/** The name of a mark: letters, digits, spaces and `.`, `_`, `-`, and nothing that is a call id or an age. */
export const MARK_NAME: OptionalOption<string> = text({
  test(name) {
    if (name.length > MAX_MARK_NAME_CHARACTERS) return `has more than ${MAX_MARK_NAME_CHARACTERS} characters`;
    if (!/^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N} ._-]*[\p{L}\p{M}\p{N}._-])?$/u.test(name))
      return "must begin with a letter or digit, and have only letters, digits, spaces and . _ -";
    if (/^[0-9a-z]{9}-[0-9a-f]{12}$/u.test(name)) return "has the form of the id of a call";
    if (/^\d+[smhdw]?$/u.test(name) || /^\d{4}-\d\d/u.test(name)) return "has the form of a time";
    return undefined;
  },
});

/** A path that a rewind left as it is. */
export interface LeftByRewind {
  /** The path, relative to the working directory if it is inside. */
  readonly path: string;
  /** The reason, for programs. */
  readonly reason: LeftReason;
  /** The reason in words. */
  readonly why: string;
  /** The call that stands in the way, if one does. */
  readonly callId?: string;
}

/** A call that cannot be undone. */
export interface UnrecordedCall {
  /** The id of the call. */
  readonly callId: string;
  /** The name of its tool. */
  readonly tool: string;
  /** ISO 8601, UTC. */
  readonly time: string;
  /** The agent that made it, if it has a name. */
  readonly agent?: string;
  /** The paths that it named, relative to the working directory if they are inside. */
  readonly paths: readonly string[];
}
