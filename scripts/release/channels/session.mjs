// One session of a real MCP client with a server that a package of the release has installed.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { BuildError } from "../../lib/run.mjs";

/** What the scripts need that uv writes as commands of a package. */
const SHELL_PROGRAMS = ["sh", "dirname", "realpath"];

function pathOf(program) {
  const found = ["/bin", "/usr/bin"].map((folder) => join(folder, program)).find((file) => existsSync(file));
  if (found === undefined) throw new BuildError(`${program} is missing`);
  return found;
}

const textOf = ({ content }) => content.map(({ text }) => text).join("");

/**
 * What a client saw of a server.
 * @typedef {{ version: string | undefined, tools: readonly string[], read: string, written: string, access: string, errors: string }} Session
 *   `version` is what `initialize` answered, `read` the text of the file that the server was asked to read, `written` the
 *   file that it was asked to write, `access` the answer of `access_info`, `errors` the output on standard error
 */

/**
 * Starts a server in an environment without Node and cargo on PATH, lists its tools, and has it read a file
 * and write another in the directory that it serves.
 *
 * @param {(directory: string) => readonly string[]} commandFor the command line that serves a directory
 * @param {Readonly<Record<string, string>>} env added to the environment
 * @returns {Promise<Session>}
 * @throws BuildError with the output of a server that ends or refuses
 */
export async function holdSession(commandFor, env = {}) {
  const home = mkdtempSync(join(tmpdir(), "filewright-session-"));
  const [path, directory] = [join(home, "bin"), join(home, "served")];
  for (const folder of [path, directory]) mkdirSync(folder);
  for (const program of SHELL_PROGRAMS) symlinkSync(pathOf(program), join(path, program));
  writeFileSync(join(directory, "a.txt"), "served\n");
  const [command = "", ...args] = commandFor(directory);
  const transport = new StdioClientTransport({
    command,
    args,
    stderr: "pipe",
    env: { PATH: path, HOME: home, ...env },
  });
  let errors = "";
  transport.stderr?.on("data", (chunk) => {
    errors += String(chunk);
  });
  const client = new Client({ name: "trial", version: "1" });
  const call = async (name, args) => textOf(await client.callTool({ name, arguments: args }));
  try {
    await client.connect(transport);
    const { tools } = await client.listTools();
    const read = await call("read_file", { path: "a.txt" });
    const answer = await call("write_file", { path: "b.txt", content: "written\n" });
    const written = existsSync(join(directory, "b.txt"))
      ? readFileSync(join(directory, "b.txt"), "utf8")
      : `nothing: ${answer}`;
    const access = await call("access_info", {});
    const version = client.getServerVersion()?.version;
    return { version, tools: tools.map(({ name }) => name), read, written, access, errors };
  } catch (error) {
    throw new BuildError(`the server did not serve: ${error.message}\n${errors}`);
  } finally {
    await client.close();
    rmSync(home, { recursive: true, force: true });
  }
}
