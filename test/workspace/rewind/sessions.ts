/** Random sessions of an agent, for rewinds: calls of every changing tool on few paths, so that they meet often. */
import type { HistoryChange, Workspace } from "../../../js/index.node.ts";
import type { Fixture } from "../../tools/harness.ts";

/** A generator of numbers that gives the same ones for the same seed. */
export function randomFrom(seed: number): (below: number) => number {
  let state = seed >>> 0 || 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state % below;
  };
}

const NAMES = ["a", "b", "d", "d/a", "d/b", "d/e", "d/e/a", "f", "f/a"];

/** Makes one random call. It may fail, since half of the paths do not exist. */
export async function randomCall(ws: Workspace, random: (below: number) => number): Promise<void> {
  const name = (): string => NAMES[random(NAMES.length)] as string;
  const content = (): string =>
    ["", "x\n", "one\r\ntwo\r\n", "\ufeffmark\n", `${random(1000)}`][random(5)] as string;
  const one = (): { readonly tool: string; readonly args: Record<string, unknown> } => {
    switch (random(8)) {
      case 0:
      case 1:
        return { tool: "write_file", args: { path: name(), content: content() } };
      case 2:
        return { tool: "write_file", args: { path: name(), content: "more\n", append: true } };
      case 3:
        return { tool: "move", args: { source: name(), destination: name(), overwrite: random(2) === 0 } };
      case 4:
        return { tool: "copy", args: { source: name(), destination: name(), overwrite: random(2) === 0 } };
      case 5:
        return { tool: "delete", args: { path: name(), recursive: true } };
      case 6:
        return { tool: "mkdir", args: { path: name() } };
      default:
        return { tool: "edit_file", args: { path: name(), old_text: "x", new_text: "y" } };
    }
  };
  const several = random(5) === 0;
  if (several) await ws.call("batch", { operations: [one(), one(), one()] });
  else {
    const { tool, args } = one();
    await ws.call(tool, args);
  }
}

/** An entry below the root of a place. */
type TreeEntry = readonly [path: string, type: string, mode: number | undefined, content: string];

/** Returns everything below the root of a place: type, permission bits and content of each path. */
export async function treeOf({ ws, root }: Pick<Fixture, "ws" | "root">): Promise<readonly TreeEntry[]> {
  const found: TreeEntry[] = [];
  const visit = async (directory: string): Promise<void> => {
    for (const { path, type } of await ws.fs.listDir(directory)) {
      const stat = await (ws.fs.lstat ?? ws.fs.stat).call(ws.fs, path);
      const bytes = type === "file" ? await ws.fs.readBytes(path) : undefined;
      const content = bytes === undefined ? (stat.target ?? "") : Buffer.from(bytes).toString("latin1");
      found.push([path.slice(root.length), type, stat.mode, content]);
      if (type === "dir") await visit(path);
    }
  };
  await visit(root);
  return found.sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Returns the changes that a rewind names although it did not make them. */
export function falseChanges(
  before: readonly TreeEntry[],
  after: readonly TreeEntry[],
  changes: readonly HistoryChange[],
): readonly unknown[] {
  const entryOf = (tree: readonly TreeEntry[], path: string): string =>
    JSON.stringify(tree.find(([at]) => at === `/${path}`)) ?? "nothing";
  const moved = new Set(changes.flatMap(({ from }) => (from === undefined ? [] : [from])));
  return changes
    .map(({ display, kind, from }) => ({ display, kind, from, now: entryOf(after, display) }))
    .filter(({ display, kind, from, now }) => {
      if ((kind === "delete") !== (now === "nothing")) return true;
      // An entry may be moved away while an equal one is restored in its place.
      return from === undefined && moved.size === 0 && now === entryOf(before, display);
    });
}
