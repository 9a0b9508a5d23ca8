/**
 * The script of every loop: a model lists, reads, edits wrongly, is refused, edits
 * rightly, deletes and is denied, deletes again and is allowed, looks at an image, and
 * begins a call that is cancelled. The files are real; the model is a
 * script; between them stands the SDK as it is published.
 */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openWorkspace, type Workspace, type WorkspaceOptions } from "filewright";
import { approvalHook, type ApprovalHookOptions } from "filewright/hooks";

/** One call that the model makes. */
export interface Turn {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
}

const edit = (old_text: string): Turn => ({
  tool: "edit_file",
  args: { path: "src/app.ts", edits: [{ old_text, new_text: "const retries = 5;" }] },
});

/** The calls by what they are for. */
export const TURNS = {
  list: { tool: "list_directory", args: { path: "." } },
  read: { tool: "read_file", args: { path: "src/app.ts" } },
  refused: edit("const retries = 4; // tries"),
  corrected: edit("const retries = 3;"),
  remove: { tool: "delete", args: { path: "old.log" } },
  image: { tool: "read_file", args: { path: "dot.png" } },
  outside: { tool: "read_file", args: { path: "../secret" } },
  held: { tool: "stat", args: { path: "held.txt" } },
} as const satisfies Record<string, Turn>;

/** The begin of every conversation: none of its calls needs an approval. */
export const OPENING: readonly Turn[] = [
  TURNS.list,
  TURNS.read,
  TURNS.refused,
  TURNS.corrected,
  TURNS.image,
  TURNS.outside,
];

/** A whole conversation: after the opening a deletion that is denied once and then approved. */
export const CONVERSATION: readonly Turn[] = [...OPENING, TURNS.remove, TURNS.remove];

/** A picture of one pixel. */
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

/** A directory with files, a workspace on it, and one file whose calls wait until they are cancelled. */
export interface Scene {
  readonly dir: string;
  readonly ws: Workspace;
  /** The content of the file that is edited. */
  app(): string;
  /** Returns true while the file exists that the model deletes. */
  log(): boolean;
  /** Resolves when the held call has begun. */
  readonly held: Promise<void>;
  /** Resolves when the held call has been told that it is cancelled. */
  readonly cancelled: Promise<void>;
}

/** Further options of the workspace. */
export interface SceneOptions {
  readonly confirm?: WorkspaceOptions["confirm"];
}

/** Sets the scene. */
export async function scene(options: SceneOptions = {}): Promise<Scene> {
  const dir = mkdtempSync(join(tmpdir(), "filewright-sdk-"));
  process.once("exit", () => rmSync(dir, { recursive: true, force: true }));
  mkdirSync(join(dir, "work/src"), { recursive: true });
  writeFileSync(join(dir, "secret"), "what is outside\n");
  writeFileSync(join(dir, "work/src/app.ts"), "// how often\nconst retries = 3;\nexport { retries };\n");
  writeFileSync(join(dir, "work/old.log"), "old\n");
  writeFileSync(join(dir, "work/dot.png"), Buffer.from(PNG, "base64"));
  const begins = signalled();
  const ends = signalled();
  const hold: ApprovalHookOptions["ask"] = ({ signal }) =>
    new Promise((_, reject) => {
      begins.resolve();
      assert.ok(signal !== undefined, "the call has no signal");
      signal.addEventListener("abort", () => {
        ends.resolve();
        reject(new Error("cancelled"));
      });
    });
  const ws = await openWorkspace({
    root: join(dir, "work"),
    stateDir: join(dir, "state"),
    hooks: [approvalHook({ when: ({ args }) => String(args["path"]).endsWith("held.txt"), ask: hold })],
    ...(options.confirm === undefined ? {} : { confirm: options.confirm }),
  });
  return {
    dir: join(dir, "work"),
    ws,
    app: () => readFileSync(join(dir, "work/src/app.ts"), "utf8"),
    log: () => existsSync(join(dir, "work/old.log")),
    held: begins.promise,
    cancelled: ends.promise,
  };
}

/** A promise and what resolves it. */
function signalled(): { readonly promise: Promise<void>; resolve(): void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve: () => resolve() };
}

/** Says that a step was seen to happen. */
export function ok(step: string, holds: unknown, seen?: unknown): void {
  if (!holds) {
    console.error(`not ok ${step}`, typeof seen === "string" ? seen : JSON.stringify(seen, null, 1));
    process.exit(1);
  }
  console.log(`ok ${step}`);
}

/** The text of a refusal that a model can act on: what is wrong, and what is there instead. */
export function teaches(text: string): boolean {
  return text.includes("src/app.ts") && text.includes("const retries = 3;");
}

/** Ends the loop: the files are as they should be, and nothing is left running. */
export async function done({ ws, app, log }: Scene): Promise<never> {
  ok("files", app().includes("const retries = 5;") && !log(), app());
  await ws.close();
  console.log("done");
  process.exit(0);
}

setTimeout(() => {
  console.error("not ok: the loop stands still");
  process.exit(1);
}, 60_000).unref();
