// Counts the tokens of what a model gets from our MCP server and from the reference server `server-filesystem`, for
// the same information: the list of tools, and answers. The tokenizer is o200k, whose vocabulary is public.
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { referenceServerScript, startAndConnect } from "../lib/mcp-client.mjs";
import { assertSameResult } from "../lib/measure.mjs";

export const title = "tokens (o200k): filewright mcp beside the MCP filesystem server";

/** The share of the reference server's tokens that reading may take: its pages have line numbers. */
const MOST_OF_READING = 1.15;
/** The tokens that the list of tools may take. */
const MOST_OF_LIST = 2300;

const countTokens = (text) => encode(text).length;
const textOf = ({ isError, content }) => {
  const text = content.map((block) => block.text ?? "").join("\n");
  if (isError) throw new Error(text);
  return text;
};

/** Returns what a client hands to a model: name, description and schema of each tool. */
const listForModel = (tools) =>
  JSON.stringify(tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })));

/** Returns the calls of both servers with the same information. Paths of the reference server are absolute. */
function callsIn(root) {
  const at = (path) => join(root, path);
  const file = "js/tools/apply_patch.ts";
  const oldText = 'name: "apply_patch",';
  const newText = 'name: "apply_patches",';
  const reading = { isReading: true };
  return [
    [`read ${file}`, ["read_file", { path: file }], ["read_text_file", { path: at(file) }], reading],
    [
      "its first 40 lines",
      ["read_file", { path: file, max_lines: 40 }],
      ["read_text_file", { path: at(file), head: 40 }],
      reading,
    ],
    [
      "its last 20 lines",
      ["read_file", { path: file, start_line: -19 }],
      ["read_text_file", { path: at(file), tail: 20 }],
      reading,
    ],
    ["list one folder", ["list_directory", { path: "js/mcp" }], ["list_directory", { path: at("js/mcp") }]],
    [
      "list it with sizes",
      ["list_directory", { path: "js/mcp", sort: "size" }],
      ["list_directory_with_sizes", { path: at("js/mcp"), sortBy: "size" }],
    ],
    [
      "the tree of js/pipeline",
      ["list_directory", { path: "js/pipeline", depth: 32 }],
      ["directory_tree", { path: at("js/pipeline") }],
    ],
    [
      "names *.node.ts",
      ["glob", { pattern: "*.node.ts" }],
      ["search_files", { path: root, pattern: "**/*.node.ts" }],
    ],
    [
      "edit one line",
      ["edit_file", { path: file, old_text: oldText, new_text: newText }],
      ["edit_file", { path: at(file), edits: [{ oldText, newText }] }],
    ],
    [
      "write a file",
      ["write_file", { path: "new.txt", content: "a line\n" }],
      ["write_file", { path: at("new.txt"), content: "a line\n" }],
    ],
    [
      "move it",
      ["move", { source: "new.txt", destination: "moved.txt" }],
      ["move_file", { source: at("new.txt"), destination: at("moved.txt") }],
    ],
  ];
}

export async function* rows({ root }) {
  const scratch = mkdtempSync(join(tmpdir(), "filewright-bench-tokens-"));
  const servers = [];
  try {
    for (const [side, argv] of [
      ["ours", [join(root, "dist/bin/filewright.js"), "mcp"]],
      ["peer", [referenceServerScript()]],
    ]) {
      cpSync(join(root, "js"), join(scratch, side, "js"), { recursive: true });
      servers.push(await startAndConnect([...argv, join(scratch, side)]));
    }
    const [ours, theirs] = servers;
    const peer = "server-filesystem";
    yield {
      name: "list of tools: names, descriptions, schemas",
      peer,
      most_count: MOST_OF_LIST,
      ours_count: countTokens(listForModel(await ours.tools())),
      peer_count: countTokens(listForModel(await theirs.tools())),
    };
    const read = { ours: 0, peer: 0 };
    for (const [name, our, their, { isReading = false } = {}] of callsIn(join(scratch, "peer"))) {
      const [mine, other] = [textOf(await ours.call(...our)), textOf(await theirs.call(...their))];
      const [ours_count, peer_count] = [countTokens(mine), countTokens(other)];
      if (isReading) {
        assertSameReading(name, mine, other);
        read.ours += ours_count;
        read.peer += peer_count;
      }
      yield { name, peer, ours_count, peer_count, ...(isReading ? {} : { most: 1 }) };
    }
    const [ours_count, peer_count] = [read.ours, read.peer];
    yield { name: "all three reads", peer, ours_count, peer_count, most: MOST_OF_READING };
    const path = join(scratch, "ours/js/tools/apply_patch.ts");
    assertSameResult("the edit", readFileSync(path, "utf8").includes('"apply_patches"'), true);
  } finally {
    for (const server of servers) server.close();
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Fails if a page shows other lines than the reference server, apart from their numbers and the line that goes on. */
function assertSameReading(name, ours, theirs) {
  const lines = ours.replace(/\n\[lines \d.*\]$/u, "").replace(/^\d+\t/gmu, "");
  assertSameResult(name, lines.trimEnd(), theirs.trimEnd());
}
