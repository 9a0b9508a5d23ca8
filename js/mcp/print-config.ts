/**
 * `filewright mcp --print-config CLIENT`: the text for the configuration file of a client, and the command or link
 * with which the client writes that file itself.
 */
import { shellWord } from "../schema/shell-word.ts";
import { existsSync, realpathSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type OptionTable, UsageError } from "../schema/command-line.node.ts";
import { nearest } from "../schema/nearest.ts";
import { escapeControls } from "../engine/escape.ts";
import { expandHome } from "./directories.ts";

/** A client, and the form of its configuration. */
interface ClientConfig {
  /** The path of the configuration file as a person reads it, for example with `~`. */
  readonly file: string;
  /** Returns the text for that file. */
  render(command: string, args: readonly string[]): string;
  /** Returns commands for a terminal, and links, that do the same without editing the file. */
  shortcuts?(command: string, args: readonly string[]): readonly string[];
}

/** The name under which clients list the server. */
const SERVER_NAME = "filewright";

/** Returns the command of a client that takes the server's command line after `--`. */
const addCommand =
  (program: string): NonNullable<ClientConfig["shortcuts"]> =>
  (command, args) => [[program, "mcp", "add", SERVER_NAME, "--", command, ...args].map(shellWord).join(" ")];

/** Returns the command and the link with which VS Code installs a server. */
function vscodeShortcuts(command: string, args: readonly string[]): readonly string[] {
  const server = JSON.stringify({ name: SERVER_NAME, command, args });
  return [`code --add-mcp ${shellWord(server)}`, `vscode:mcp/install?${encodeURIComponent(server)}`];
}

/** Returns the link with which Cursor installs a server. */
function cursorShortcuts(command: string, args: readonly string[]): readonly string[] {
  const config = Buffer.from(JSON.stringify({ command, args })).toString("base64");
  const query = new URLSearchParams({ name: SERVER_NAME, config });
  return [`cursor://anysphere.cursor-deeplink/mcp/install?${query}`];
}

const indentedJson = (value: object): string => JSON.stringify(value, null, 2);

const jsonClientConfig = (
  file: string,
  more: object = {},
  shortcuts: ClientConfig["shortcuts"] = () => [],
): ClientConfig => ({
  file,
  render: (command, args) => indentedJson({ mcpServers: { [SERVER_NAME]: { ...more, command, args } } }),
  shortcuts,
});

/** The known clients, by the names that the option takes. */
export const CONFIG_BY_CLIENT: Readonly<Record<string, ClientConfig>> = {
  "claude-desktop": jsonClientConfig(
    "macOS: ~/Library/Application Support/Claude/claude_desktop_config.json; Windows: %APPDATA%\\Claude\\claude_desktop_config.json",
  ),
  "claude-code": jsonClientConfig(".mcp.json in the project", { type: "stdio" }, addCommand("claude")),
  cursor: jsonClientConfig("~/.cursor/mcp.json, or .cursor/mcp.json in the project", {}, cursorShortcuts),
  vscode: {
    file: ".vscode/mcp.json in the project",
    render: (command, args) => indentedJson({ servers: { [SERVER_NAME]: { type: "stdio", command, args } } }),
    shortcuts: vscodeShortcuts,
  },
  codex: {
    file: "~/.codex/config.toml",
    // A JSON string is also a valid TOML string.
    render: (command, args) =>
      `[mcp_servers.${SERVER_NAME}]\ncommand = ${JSON.stringify(command)}\nargs = [${args.map((arg) => JSON.stringify(arg)).join(", ")}]`,
    shortcuts: addCommand("codex"),
  },
  "gemini-cli": jsonClientConfig("~/.gemini/settings.json, or .gemini/settings.json in the project"),
  windsurf: jsonClientConfig("~/.codeium/windsurf/mcp_config.json"),
  jetbrains: jsonClientConfig(
    "Settings | Tools | AI Assistant | Model Context Protocol (MCP) | Add, as JSON",
  ),
  zed: {
    file: "~/.config/zed/settings.json",
    render: (command, args) =>
      indentedJson({ context_servers: { [SERVER_NAME]: { source: "custom", command, args } } }),
  },
};

/**
 * Options whose values are paths. They become absolute, because a client starts the server in another
 * directory.
 */
const PATH_FLAGS: ReadonlySet<string> = new Set(["config", "rules", "audit", "state-dir", "read-only-root"]);

/** Returns the checkout of the sources that a program belongs to; undefined for one from a package. */
function checkoutOf(program: string): string | undefined {
  if (!existsSync(program)) return undefined;
  let folder = dirname(realpathSync(program));
  while (!existsSync(join(folder, "package.json")) && folder !== dirname(folder)) folder = dirname(folder);
  // A package has no crates.
  return existsSync(join(folder, "crates/core/Cargo.toml")) ? folder : undefined;
}

/** The folder of packages in which pip and uv put the program. */
const PYTHON_PACKAGES = /[\\/](?:site|dist)-packages[\\/]filewright[\\/]/u;

/**
 * Returns the beginning of the command line with which a client starts this program: `uvx` if it came by
 * Python's packages, where there may be no npm; `node` with the path of the program in a checkout, which no
 * registry has; otherwise `npx`.
 */
export function launchCommand(program: string, system: NodeJS.Platform): readonly [string, ...string[]] {
  if (PYTHON_PACKAGES.test(program)) return ["uvx", "filewright"];
  const checkout = checkoutOf(program);
  if (checkout !== undefined) return [process.execPath, join(checkout, "dist/bin/filewright.js")];
  // Windows can start a script such as npx only through its shell.
  return system === "win32" ? ["cmd", "/c", "npx", "-y", "filewright"] : ["npx", "-y", "filewright"];
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** The configuration of a client, as it is printed. */
export interface PrintedConfig {
  /** Where the text belongs. */
  readonly file: string;
  readonly text: string;
  /** Commands and links that write it without editing the file. */
  readonly shortcuts: readonly string[];
}

/**
 * Returns the text for a client and the file that it belongs in.
 * @throws UsageError for an unknown client, and for a directory that is not there
 */
export function printedClientConfig(
  client: string,
  dirs: readonly string[],
  flags: Readonly<Record<string, unknown>>,
  options: OptionTable,
): PrintedConfig {
  const names = Object.keys(CONFIG_BY_CLIENT);
  const known = Object.hasOwn(CONFIG_BY_CLIENT, client) ? CONFIG_BY_CLIENT[client] : undefined;
  if (known === undefined) {
    const close = nearest(client, names);
    throw new UsageError(
      `--print-config takes one of ${names.join(", ")}${close === undefined ? "" : `; did you mean ${close}?`}`,
    );
  }
  const absolute = (path: string): string => resolve(expandHome(path));
  const missing = dirs.find((dir) => !isDirectory(absolute(dir)));
  if (missing !== undefined)
    throw new UsageError(
      `there is no directory '${escapeControls(missing)}', so a client could not start the server; make it, or name another`,
    );
  const more = Object.keys(options).flatMap((name) => {
    const given = flags[name];
    if (given === undefined || name === "print-config") return [];
    if (given === true) return [`--${name}`];
    return ([given].flat() as string[]).flatMap((one) => [
      `--${name}=${PATH_FLAGS.has(name) ? absolute(one) : one}`,
    ]);
  });
  const [command, ...before] = launchCommand(process.argv[1] ?? "", process.platform);
  const args = [...before, "mcp", ...dirs.map(absolute), ...more];
  const shortcuts = known.shortcuts?.(command, args) ?? [];
  return { file: known.file, text: known.render(command, args), shortcuts };
}
