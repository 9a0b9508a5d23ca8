/** Opens the contents of a question in the person's editor. */
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import type { ReadStream, WriteStream } from "node:tty";
import type { ConfirmedContent } from "../confirm.ts";

/** The terminal in which an editor runs, and the environment that names it. */
export interface EditorHost {
  readonly input: ReadStream;
  readonly output: WriteStream;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A content that is edited; `after` is null where a change writes no text. */
export interface EditedChange {
  /** The `path` of the change in the question. */
  readonly path: string;
  readonly after: string | null;
}

/** Returns the contents that the person has changed in an editor, which opens all of them; none if it failed. */
export async function editContents(
  changes: readonly EditedChange[],
  { input, output, env }: EditorHost,
): Promise<readonly ConfirmedContent[]> {
  const [command = "vi", ...more] = (env["VISUAL"] || env["EDITOR"] || "vi").split(/\s+/u).filter(Boolean);
  const directory = await mkdtemp(join(tmpdir(), "filewright-"));
  try {
    const files: { readonly path: string; readonly planned: string; readonly file: string }[] = [];
    for (const { path, after } of changes) {
      if (after === null) continue;
      const extension = extname(path);
      // Only the extension is used, which tells the editor the language.
      const name = `content${files.length === 0 ? "" : files.length + 1}`;
      const file = join(directory, `${name}${/^\.\w{1,16}$/u.test(extension) ? extension : ""}`);
      await writeFile(file, after, { mode: 0o600 });
      files.push({ path, planned: after, file });
    }
    const code = await new Promise<number | null>((resolve) => {
      const args = [...more, ...files.map(({ file }) => file)];
      const child = spawn(command, args, { stdio: [input, output, output] });
      child.once("error", () => resolve(null));
      child.once("close", resolve);
    });
    if (code !== 0) {
      output.write(`The editor ${command} failed.\n`);
      return [];
    }
    const contents: ConfirmedContent[] = [];
    for (const { path, planned, file } of files) {
      const content = await readFile(file, "utf8");
      if (content !== planned) contents.push({ path, content });
    }
    return contents;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
