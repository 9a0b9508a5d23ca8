/** The same races against the server of the Model Context Protocol: a client calls, another process exchanges names. */
import process from "node:process";
import { expect, test } from "vitest";
import { COMMAND, connectToProcess } from "../mcp/harness.ts";
import { arena, type Call, type Caller, controlEscapes, RACE_MS, race, restore, told } from "./race.ts";
import { ARMS } from "./world.ts";

/** The server's tools, through the name that is being exchanged. */
const SERVED: readonly Call[] = [
  ["read_file", () => ({ path: "d/s" })],
  ["read_text_file", () => ({ path: "d/s" })],
  ["read_multiple_files", () => ({ paths: ["d/s", "f"] })],
  ["read_media_file", () => ({ path: "d/s" })],
  ["list_directory", () => ({ path: "d" })],
  ["list_directory_with_sizes", () => ({ path: "d" })],
  ["directory_tree", () => ({ path: "." })],
  ["search_files", () => ({ path: "d", pattern: "**" })],
  ["get_file_info", () => ({ path: "d/s" })],
  ["write_file", (n) => ({ path: n % 2 === 0 ? "d/s" : `d/new${n % 40}`, content: "fine" })],
  ["edit_file", () => ({ path: "d/s", edits: [{ oldText: "fin", newText: "fin!" }] })],
  ["create_directory", (n) => ({ path: `d/m${n % 40}/a` })],
  [
    "move_file",
    (n) => (n % 2 === 0 ? { source: "f", destination: "d/f" } : { source: "d/f", destination: "f" }),
  ],
];

test.skipIf(process.platform !== "linux")("the server stays inside too", { timeout: RACE_MS }, async () => {
  const at = await arena(ARMS[0]!);
  await controlEscapes(at);
  await using server = await connectToProcess([COMMAND, "mcp", "--preset", "mcp", at.root]);
  const offered = (await server.client.listTools()).tools.map(({ name }) => name);
  const attacked = SERVED.map(([tool]) => tool);
  expect([...attacked, "list_allowed_directories"].sort(), "no tool is left out").toEqual(offered.sort());
  const served: Caller = async (tool, args) => {
    const answer = await server.call(tool, args);
    return { ok: !answer.isError, told: JSON.stringify(answer) };
  };
  const lines: string[] = [];
  for (const call of SERVED) {
    const [title] = call;
    lines.push(told(title, await race(at, ["d", "evil"], served, [call], title)));
    restore(at, title);
  }
  expect(at.tree(".")).not.toContain("SECRET");
  console.log(`the server: 0 escapes\n  ${lines.join("\n  ")}`);
});
