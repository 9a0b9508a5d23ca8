/** `filewright grants`: lists the granted directories, and revokes grants. */
import { formatLocalTime } from "../person/style.ts";
import { resolve } from "node:path";
import { displayPath, withInnerDrive } from "../../backends/windows-paths.ts";
import { defaultGrantsFile, openGrantsFile } from "../../policy/grants-file.node.ts";
import { type Grant, isInForce } from "../../policy/index.ts";
import { escapeControls } from "../../engine/escape.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { type Command, type CommandReport, GRANTS_FILE_HELP } from "../command.ts";
import { type ParsedCommandLine, UsageError } from "../../schema/command-line.node.ts";

/** The command `grants`. */
export const GRANTS_COMMAND: Command = {
  name: "grants",
  summary: "list granted directories, or revoke grants",
  usage: "filewright grants [list | revoke DIR…] [--grants-file FILE]",
  about:
    "A grant is a person's answer to the question for a directory (--ask-dirs). It applies to every workspace with the same grants file, until it is revoked.",
  help: [GRANTS_FILE_HELP],
  examples: [
    ["filewright grants", "the granted directories, their access and expiry"],
    ["filewright grants revoke ~/src/project", "ask again for this directory"],
  ],
  sort: "machine",
  takes: [0, Number.MAX_SAFE_INTEGER],
  async report(_ws, { positionals, values }: ParsedCommandLine): Promise<CommandReport> {
    const [verb = "list", ...dirs] = positionals;
    const store = await openGrantsFile(grantsFilePath(values));
    if (verb === "list") {
      if (dirs.length > 0) throw new UsageError("list takes no directories");
      const grants = await store.list();
      return { text: formatGrantList(grants, store.file), data: { file: store.file, grants } };
    }
    if (verb !== "revoke") throw new UsageError(`grants can list and revoke, not '${verb}'`);
    if (dirs.length === 0) throw new UsageError("revoke needs a directory");
    const known = new Set((await store.list()).map(({ dir }) => dir));
    const wanted = dirs.map((dir) => withInnerDrive(resolve(dir)));
    const missing = wanted.find((dir) => !known.has(dir));
    if (missing !== undefined) {
      const message = `${shownDirectory(missing)} has no grant of its own; filewright grants lists those there are.`;
      throw new FilewrightError("NOT_FOUND", message, { complete: true });
    }
    for (const dir of wanted) await store.remove(dir);
    const text = wanted.map((dir) => `Took back ${shownDirectory(dir)}`).join("\n");
    return { text, data: { file: store.file, revoked: wanted } };
  },
};

/** Returns the path of the grants file: the one on the command line, or the default. */
export function grantsFilePath(values: ParsedCommandLine["values"]): string {
  const given = values["grants-file"];
  return typeof given === "string" ? resolve(given) : defaultGrantsFile();
}

/** Returns the directory of a grant as this system writes it. */
function shownDirectory(dir: string): string {
  return escapeControls(displayPath(dir, process.platform === "win32" ? "windows" : undefined));
}

function formatGrantList(grants: readonly Grant[], file: string): string {
  if (grants.length === 0) return `Nothing was granted (${escapeControls(file)}).`;
  return grants
    .map((grant) => {
      const { dir, access, granted_at: since, expires, by } = grant;
      const end =
        expires === undefined
          ? ""
          : isInForce(grant, Date.now())
            ? `, until ${formatLocalTime(expires, "seconds")}`
            : ", ended";
      const who = by === undefined ? "" : ` by ${escapeControls(by)}`;
      return `${shownDirectory(dir)}  ${access === "write" ? "read and write" : "read"}, since ${formatLocalTime(since, "seconds")}${who}${end}`;
    })
    .join("\n");
}
