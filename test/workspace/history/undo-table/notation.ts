/**
 * The notation of trees in the undo table: `a=one n/f:755=1,2 l->a e/` is a file `a` of the line "one", an executable
 * file of two lines, a link and an empty directory. Every line of a file ends with LF. Directories that hold something
 * and ordinary permission bits are left out.
 */

/** One entry of a tree. `mode` is absent where the permission bits are ordinary. */
export interface Entry {
  readonly path: string;
  readonly type: "file" | "dir" | "symlink";
  readonly mode?: number;
  /** The content of a file, or the target of a link. */
  readonly text: string;
}

const TOKEN = /^(?<path>[^:=>]*?)(?::(?<mode>[0-7]{3}))?(?:(?<dir>\/)|(?<sign>=|->)(?<text>.*))$/u;

/** Reads a tree. Entries are separated by spaces. @throws Error for a text that is no tree */
export function parseTree(tree: string): readonly Entry[] {
  return tree
    .split(" ")
    .filter((token) => token !== "")
    .map((token) => {
      const { path = "", mode, dir, sign, text = "" } = TOKEN.exec(token)?.groups ?? {};
      if (path === "") throw new Error(`no entry of a tree: ${token}`);
      const type = dir !== undefined ? "dir" : sign === "->" ? "symlink" : "file";
      const bits = mode === undefined ? {} : { mode: Number.parseInt(mode, 8) };
      return { path, type, ...bits, text: type === "file" ? toContent(text) : text };
    });
}

/** Prints a tree, sorted by path. */
export function printTree(entries: readonly Entry[]): string {
  const isShown = ({ path, type, mode }: Entry): boolean =>
    type !== "dir" || mode !== undefined || !entries.some((one) => one.path.startsWith(`${path}/`));
  return entries
    .filter(isShown)
    .map(printEntry)
    .sort((a, b) => (a < b ? -1 : 1))
    .join(" ");
}

function printEntry({ path, type, mode, text }: Entry): string {
  const name = mode === undefined ? path : `${path}:${mode.toString(8).padStart(3, "0")}`;
  if (type === "dir") return `${name}/`;
  return type === "symlink" ? `${name}->${text}` : `${name}=${fromContent(text)}`;
}

/** Returns the content of a file that the notation writes as lines between commas. */
function toContent(lines: string): string {
  return lines === "" ? "" : `${lines.replaceAll(",", "\n")}\n`;
}

function fromContent(content: string): string {
  const lines = content.slice(0, -1).replaceAll("\n", ",");
  return toContent(lines) === content ? lines : JSON.stringify(content);
}
