/** A row of the undo table: a call, what happens after it, and the outcome of each way back. */
import type { WorldName } from "./world.ts";

/** The kinds of changes. `reuse` puts a content that is there already: the copy of a file. */
export const KINDS = ["put", "edit", "reuse", "mkdir", "symlink", "chmod", "remove", "move", "copy"] as const;
/** A kind of change. */
type Kind = (typeof KINDS)[number];

/** The state of the target before the call, or its change after it. */
export const SITUATIONS = ["fresh", "existed", "inside", "edited", "overwritten", "moved"] as const;
/** A situation. */
type Situation = (typeof SITUATIONS)[number];

/** The ways back that need no other process. */
export const WAYS = ["undo", "part", "rewind", "rollback"] as const;
/** A way back. */
export type Way = (typeof WAYS)[number];

/** A call: its tool and arguments. */
export type Call = readonly [tool: string, args: Readonly<Record<string, unknown>>];

/**
 * An outcome: what the answer says, and after `→` the tree, if it is another than before the way back. `before` is the
 * tree as it was before the call. In one world it may be another one.
 */
export type Outcome = string | Readonly<Record<WorldName, string>>;

/** A row. Trees and acts are written in the notation of `notation.ts` and `world.ts`. */
export interface Row {
  readonly kind: Kind;
  readonly when: Situation;
  /** Tells rows of one kind and situation apart. */
  readonly note?: string;
  readonly seed: string;
  readonly call: Call;
  /** A later call of the same workspace. */
  readonly ours?: Call;
  /** A later change by another process. */
  readonly theirs?: string;
  /** The path of what the other process wrote, after a way back that moves its directory back. */
  readonly carried?: string;
  /** The path whose first hunk the undo of a part takes back. */
  readonly part: string;
  readonly outcome: Readonly<Record<Way, Outcome>>;
  /** The outcome of the recovery after kill -9, on the disk; absent where it is that of the rollback. */
  readonly recovery?: string;
}

/** A cell that makes no sense, with its reason. */
export interface Gap {
  readonly kind: Kind;
  readonly when: Situation;
  readonly why: string;
}

/** Returns the name of a row. */
export function nameOfRow({ kind, when, note }: Pick<Row, "kind" | "when" | "note">): string {
  return `${kind}, ${when}${note === undefined ? "" : `: ${note}`}`;
}

/** Returns an outcome in one world. */
export function inWorld(outcome: Outcome, name: WorldName): string {
  return typeof outcome === "string" ? outcome : outcome[name];
}

/** Returns a call that writes a file of these lines. */
export function write(path: string, lines: string): Call {
  return ["write_file", { path, content: `${lines.replaceAll(",", "\n")}\n` }];
}

/** Returns a call that replaces lines of a file. */
export function edit(path: string, lines: Readonly<Record<string, string>>): Call {
  const edits = Object.entries(lines).map(([old, now]) => ({ old_text: `${old}\n`, new_text: `${now}\n` }));
  return ["edit_file", { path, edits }];
}

/** Returns a call that copies, over what is there. */
export function copy(source: string, destination: string): Call {
  return ["copy", { source, destination, overwrite: true }];
}

/** Returns a call that moves, over what is there. */
export function move(source: string, destination: string): Call {
  return ["move", { source, destination, overwrite: true }];
}

/** Returns a call that makes a directory. */
export function mkdir(path: string): Call {
  return ["mkdir", { path }];
}

/** Returns a call that deletes, with everything below. */
export function remove(path: string): Call {
  return ["delete", { path, recursive: true }];
}

/** Returns a call that makes a file executable, by a patch. */
export function chmod(path: string): Call {
  const patch = `diff --git a/${path} b/${path}\nold mode 100644\nnew mode 100755\n`;
  return ["apply_patch", { patch }];
}
