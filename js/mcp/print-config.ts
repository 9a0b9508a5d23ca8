/** `filewright mcp --print-config CLIENT`: prints the text for the configuration file of a client. */
import process from "node:process";
import { resolve } from "node:path";
import { type OptionTable, UsageError } from "../schema/command-line.node.ts";
import { nearest } from "../schema/nearest.ts";
import { expandHome } from "./directories.ts";

/** A client, and the form of its configuration. */
interface ClientConfig {
  /** The path of the configuration file as a person reads it, for example with `~`. */
  readonly file: string;
  /** Returns the text for that file. */
  render(command: string, args: readonly string[]): string;
}

const indentedJson = (value: object): string => JSON.stringify(value, null, 2);

const jsonClientConfig = (file: string, more: object = {}): ClientConfig => ({
  file,
  render: (command, args) => indentedJson({ mcpServers: { filewright: { ...more, command, args } } }),
});

/** The known clients, by the names that the option takes. */
export const CONFIG_BY_CLIENT: Readonly<Record<string, ClientConfig>> = {
  "claude-desktop": jsonClientConfig(
    "macOS: ~/Library/Application Support/Claude/claude_desktop_config.json; Windows: %APPDATA%\\Claude\\claude_desktop_config.json",
  ),
  "claude-code": jsonClientConfig(".mcp.json in the project", { type: "stdio" }),
  cursor: jsonClientConfig("~/.cursor/mcp.json, or .cursor/mcp.json in the project"),
  vscode: {
    file: ".vscode/mcp.json in the project",
    render: (command, args) => indentedJson({ servers: { filewright: { type: "stdio", command, args } } }),
  },
  codex: {
    file: "~/.codex/config.toml",
    // A JSON string is also a valid TOML string.
    render: (command, args) =>
      `[mcp_servers.filewright]\ncommand = ${JSON.stringify(command)}\nargs = [${args.map((arg) => JSON.stringify(arg)).join(", ")}]`,
  },
  "gemini-cli": jsonClientConfig("~/.gemini/settings.json, or .gemini/settings.json in the project"),
  windsurf: jsonClientConfig("~/.codeium/windsurf/mcp_config.json"),
  zed: {
    file: "~/.config/zed/settings.json",
    render: (command, args) =>
      indentedJson({ context_servers: { filewright: { source: "custom", command, args } } }),
  },
};

/**
 * Options whose values are paths. They become absolute, because a client starts the server in another
 * directory.
 */
const PATH_FLAGS: ReadonlySet<string> = new Set(["config", "rules", "audit", "state-dir", "read-only-root"]);

/**
 * Returns the text for a client and the file that it belongs in.
 * @throws UsageError for an unknown client
 */
export function printedClientConfig(
  client: string,
  dirs: readonly string[],
  flags: Readonly<Record<string, unknown>>,
  options: OptionTable,
): { readonly file: string; readonly text: string } {
  const names = Object.keys(CONFIG_BY_CLIENT);
  const known = Object.hasOwn(CONFIG_BY_CLIENT, client) ? CONFIG_BY_CLIENT[client] : undefined;
  if (known === undefined) {
    const close = nearest(client, names);
    throw new UsageError(
      `--print-config takes one of ${names.join(", ")}${close === undefined ? "" : `; did you mean ${close}?`}`,
    );
  }
  const absolute = (path: string): string => resolve(expandHome(path));
  const more = Object.keys(options).flatMap((name) => {
    const given = flags[name];
    if (given === undefined || name === "print-config") return [];
    if (given === true) return [`--${name}`];
    return ([given].flat() as string[]).flatMap((one) => [
      `--${name}=${PATH_FLAGS.has(name) ? absolute(one) : one}`,
    ]);
  });
  const args = ["-y", "filewright", "mcp", ...dirs.map(absolute), ...more];
  // Windows can start a script such as npx only through its shell.
  const [command, before] = process.platform === "win32" ? ["cmd", ["/c", "npx"]] : ["npx", []];
  return { file: known.file, text: known.render(command, [...before, ...args]) };
}
