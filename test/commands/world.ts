/** A repository to run commands in, in both tiers, for the tests of this folder. */
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { CommandOptions, Workspace } from "../../js/index.node.ts";
import { openWorkspace } from "../../js/index.node.ts";

/** The options of each tier of Linux; the fast one takes less than the default policy asks for. */
export const TIERS: readonly (readonly [name: string, options: CommandOptions])[] = [
  ["strict", { tier: "strict" }],
  ["fast", { tier: "fast", degrade: "allow" }],
];

/** The data of `run_command`. */
export interface Ran {
  readonly exit_code: number | null;
  readonly signal: number | null;
  readonly timed_out: boolean;
  readonly truncated: boolean;
  readonly stdout: string;
  readonly stderr: string;
  readonly tier: string;
  readonly exceeded?: string;
  readonly removed?: readonly string[];
  readonly repositories?: readonly string[];
}

/** A directory with a repository `ws` of one commit, and what is opened in it. */
export class World {
  readonly base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "filewright-commands-")));
  readonly root = join(this.base, "ws");
  readonly #open: Workspace[] = [];

  constructor() {
    fs.mkdirSync(this.root);
    this.git("init", "-q", "--template=");
    this.put("a", "a\n");
    this.git("add", "a");
    this.git("commit", "-qm", "one");
  }

  /** Runs git as a person would, outside any sandbox. */
  git(...args: readonly string[]): string {
    const who = ["-c", "user.name=A", "-c", "user.email=a@b"];
    return execFileSync("git", ["-C", this.root, ...who, ...args], { encoding: "utf8" });
  }

  /** Writes a file of the root. */
  put(path: string, text: string): void {
    const file = join(this.root, path);
    fs.mkdirSync(dirname(file), { recursive: true });
    fs.writeFileSync(file, text);
  }

  /** The text of a file of the root. */
  read(path: string): string {
    return fs.readFileSync(join(this.root, path), "utf8");
  }

  has(path: string): boolean {
    return fs.existsSync(join(this.root, path));
  }

  async open(options: Partial<Parameters<typeof openWorkspace>[0] & object> = {}): Promise<Workspace> {
    const ws = await openWorkspace({ root: this.root, stateDir: join(this.base, "state"), ...options });
    this.#open.push(ws);
    return ws;
  }

  async close(): Promise<void> {
    for (const ws of this.#open.splice(0)) await ws.close();
    fs.rmSync(this.base, { recursive: true, force: true });
  }
}

/** Runs a shell script. @throws where the call failed */
export async function run(ws: Workspace, script: string, more: object = {}): Promise<Ran> {
  const result = await ws.call("run_command", { command: script, shell: true, ...more });
  if (!result.ok) throw new Error(`${result.error.code}: ${result.error.message}`);
  return result.data as Ran;
}
