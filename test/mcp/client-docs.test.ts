/** The snippets and links of docs/mcp.md: they parse, start the server, and are what `--print-config` prints. */
import { readFileSync } from "node:fs";
import { parse as parseToml } from "smol-toml";
import { describe, expect, test } from "vitest";
import { MCP_OPTIONS } from "../../js/mcp/command.ts";
import { CONFIG_BY_CLIENT, launchCommand } from "../../js/mcp/print-config.ts";
import { parseCommandLine } from "../../js/schema/command-line.node.ts";
import { imageName } from "../../scripts/release/channels/server-json.mjs";

const page = readFileSync(new URL("../../docs/mcp.md", import.meta.url), "utf8");
const [, install = ""] = /^## Install in a client\n(.*?)^## /msu.exec(`${page}\n## `) ?? [];
const SECTIONS = install.split(/^### /mu).map((text) => ({ title: text.slice(0, text.indexOf("\n")), text }));
const blocksOf = (text: string, language: string): readonly string[] =>
  [...text.matchAll(/^```(\w*)\n(.*?)^```$/gmsu)].flatMap(([, name, block = ""]) =>
    name === language ? [block] : [],
  );
const configsOf = (text: string): readonly object[] => [
  ...blocksOf(text, "json").map((block) => JSON.parse(block) as object),
  ...blocksOf(text, "toml").map((block) => parseToml(block)),
];

/** A server as clients start it. */
interface Server {
  readonly command: string;
  readonly args: readonly string[];
}

/** Returns the only server of a configuration. */
function serverOf(config: object): Server {
  const [servers] = Object.values(config) as Record<string, Server>[];
  expect(Object.keys(servers ?? {})).toEqual(["filewright"]);
  return servers?.["filewright"] as Server;
}

const DOCKER = ["docker", "run", "-i", "--rm", "--network", "none", "-v", "/home/you/project:/repo"];
const PREFIXES: readonly (readonly string[])[] = [
  ["npx", "-y", "filewright", "mcp"],
  ["cmd", "/c", "npx", "-y", "filewright", "mcp"],
  ["uvx", "filewright", "mcp"],
  // The image's own command is `mcp /repo`.
  [...DOCKER, imageName("").slice(0, -1)],
];

describe("docs/mcp.md, install in a client", () => {
  const configs = SECTIONS.flatMap(({ title, text }) => configsOf(text).map((config) => ({ title, config })));

  test.each(configs)("$title: a command that exists, with options that exist", ({ config }) => {
    const { command, args } = serverOf(config);
    const line = [command, ...args];
    const prefix = PREFIXES.find((one) => one.every((word, index) => line[index] === word));
    expect(prefix, line.join(" ")).toBeDefined();
    const { positionals } = parseCommandLine(line.slice(prefix?.length), MCP_OPTIONS);
    expect(positionals).toHaveLength(command === "docker" ? 0 : 1);
  });

  test("each way to start the server has a snippet", () => {
    expect(new Set(configs.map(({ config }) => serverOf(config).command))).toEqual(
      new Set(PREFIXES.map(([command]) => command)),
    );
  });

  test.each(Object.entries(CONFIG_BY_CLIENT))(
    "%s: what --print-config prints",
    (client, { file, render, shortcuts }) => {
      const section = SECTIONS.find(({ text }) => text.includes(`\`--print-config ${client}\``));
      const args = ["-y", "filewright", "mcp", "/home/you/project"];
      const printed = render("npx", args);
      expect(configsOf(section?.text ?? "")).toEqual([
        client === "codex" ? parseToml(printed) : JSON.parse(printed),
      ]);
      const commands = (shortcuts?.("npx", args) ?? []).filter((line) => !/^[a-z]+:/u.test(line));
      expect(blocksOf(section?.text ?? "", "sh")).toEqual(commands.map((line) => `${line}\n`));
      // The page has the same places, in sentences.
      for (const place of file.match(/[~.]?[\w.]*\/[\w./-]+\.\w+/gu) ?? []) {
        const name = place.slice(place.lastIndexOf("/") + 1);
        expect(section?.text).toContain(name);
      }
    },
  );
});

describe("links that install the server", () => {
  const links = [
    ...install.matchAll(/^(?:vscode|cursor):.*$|(?<=\]\()https:[^)]*(?:redirect|install)[^)]*(?=\))/gmu),
  ].map(([link]) => link);

  /** Returns what a client reads from a link. */
  function decoded(link: string): object {
    const redirected = /^https:\/\/insiders\.vscode\.dev\/redirect\?url=(.*)$/u.exec(link)?.[1];
    if (redirected !== undefined) return decoded(decodeURIComponent(redirected));
    if (link.startsWith("vscode:")) {
      expect(link).toMatch(/^vscode:mcp\/install\?/u);
      return JSON.parse(decodeURIComponent(link.slice(link.indexOf("?") + 1))) as object;
    }
    expect(link).toMatch(
      /^(?:cursor:\/\/anysphere\.cursor-deeplink\/mcp\/install|https:\/\/cursor\.com\/en\/install-mcp)\?/u,
    );
    const query = new URL(link).searchParams;
    const config = Buffer.from(query.get("config") ?? "", "base64").toString();
    return { name: query.get("name"), ...(JSON.parse(config) as object) };
  }

  test("all four start the server for the directories that the client sends", () => {
    expect(links).toHaveLength(4);
    for (const link of links)
      expect(decoded(link)).toEqual({
        name: "filewright",
        command: "npx",
        args: ["-y", "filewright", "mcp"],
      });
  });

  test.each(["vscode", "cursor"])("%s: those that --print-config prints are of the same form", (client) => {
    const args = ["-y", "filewright", "mcp", "/home/you/my project", "--deny=*.pem"];
    const link = CONFIG_BY_CLIENT[client]?.shortcuts?.("npx", args).at(-1) ?? "";
    expect(decoded(link)).toEqual({ name: "filewright", command: "npx", args });
  });
});

test.each([
  ["npm", "/usr/lib/node_modules/filewright/dist/bin/filewright.js", "linux", "npx -y filewright"],
  [
    "npm on Windows",
    String.raw`C:\npm\node_modules\filewright\dist\bin\filewright.js`,
    "win32",
    "cmd /c npx -y filewright",
  ],
  [
    "uv",
    "/cache/lib/python3.13/site-packages/filewright/node_modules/filewright/dist/bin/filewright.js",
    "linux",
    "uvx filewright",
  ],
  [
    "pip on Windows",
    String.raw`C:\venv\Lib\site-packages\filewright\node_modules\filewright\dist\bin\filewright.js`,
    "win32",
    "uvx filewright",
  ],
] as const)(
  "installed by %s, the printed command is of the same installer",
  (_by, program, system, command) => {
    expect(launchCommand(program, system).join(" ")).toBe(command);
  },
);
