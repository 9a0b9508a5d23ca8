/** One session of a real MCP client with a server that some package has installed. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

/** What the client saw. */
export interface Session {
  /** The version that `initialize` answered. */
  readonly version: string | undefined;
  readonly tools: readonly string[];
  /** The text of the file that the server was asked to read. */
  readonly text: string;
  /** The server's output on standard error. */
  readonly errors: string;
}

/** What the scripts need that uv writes as commands of a package. */
const SHELL_PROGRAMS = ["sh", "dirname", "realpath"];

function whereIs(program: string): string {
  const found = ["/bin", "/usr/bin"].map((folder) => join(folder, program)).find(existsSync);
  if (found === undefined) throw new Error(`${program} is missing`);
  return found;
}

/**
 * Starts a server in an environment without Node and cargo, lists its tools, and reads a file in the
 * directory that it serves.
 * @param argvFor the command line for a directory
 * @param env added to the environment
 */
export async function session(
  argvFor: (directory: string) => readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Session> {
  const home = mkdtempSync(join(tmpdir(), "filewright-session-"));
  const [path, directory] = [join(home, "bin"), join(home, "served")];
  for (const folder of [path, directory]) mkdirSync(folder);
  for (const program of SHELL_PROGRAMS) symlinkSync(whereIs(program), join(path, program));
  writeFileSync(join(directory, "a.txt"), "served\n");
  const [command = "", ...args] = argvFor(directory);
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
  const client = new Client({ name: "test", version: "1" });
  try {
    await client.connect(transport).catch((error: unknown) => {
      throw new Error(`the server did not start: ${errors}`, { cause: error });
    });
    const { tools } = await client.listTools();
    const { content } = await client.callTool({ name: "read_file", arguments: { path: "a.txt" } });
    return {
      version: client.getServerVersion()?.version,
      tools: tools.map(({ name }) => name),
      text: (content as readonly { text?: string }[]).map(({ text }) => text).join(""),
      errors,
    };
  } finally {
    await client.close();
    rmSync(home, { recursive: true, force: true });
  }
}
