// Moving from the MCP filesystem server. A client changes one line of its
// configuration; a program that embeds the tools keeps their names and arguments.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openWorkspace } from "filewright";

const before = { command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem", "/repo"] };
const after = { command: "npx", args: ["-y", "filewright", "mcp", "/repo"] };
console.log(`- ${before.command} ${before.args.join(" ")}`);
console.log(`+ ${after.command} ${after.args.join(" ")}`);

const dir = mkdtempSync(join(tmpdir(), "filewright-example-"));
// Latin-1 and CRLF: what the old server turns into something else when it edits.
writeFileSync(join(dir, "menu.txt"), Buffer.from("caf\xe9\r\ntea\r\n", "latin1"));
writeFileSync(join(dir, "twice.txt"), "same\nsame\n");

const ws = await openWorkspace({ root: dir, preset: "mcp" });
console.log(ws.tools.map(({ name }) => name).join(" "));

// The same arguments, camel case and all.
const edits = [{ oldText: "tea", newText: "green tea" }];
const edited = await ws.call("edit_file", { path: join(dir, "menu.txt"), edits });
const bytes = readFileSync(join(dir, "menu.txt"));
console.log(
  edited.ok && bytes.equals(Buffer.from("caf\xe9\r\ngreen tea\r\n", "latin1"))
    ? "the bytes that nobody named are as they were"
    : "something is wrong",
);

// What the old server does silently to the first of two, this one asks about.
const twice = await ws.call("edit_file", {
  path: join(dir, "twice.txt"),
  edits: [{ oldText: "same", newText: "other" }],
});
console.log(twice.text.split("\n")[0]);
await ws.close();
rmSync(dir, { recursive: true });
