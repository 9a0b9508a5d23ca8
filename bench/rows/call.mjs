// Measures a whole tool call against one of the MCP reference server over stdio.
import { dirname } from "node:path";
import { makeSmallFiles } from "../lib/corpora.mjs";
import { startAndConnect, referenceServerScript } from "../lib/mcp-client.mjs";
import { compareShortCalls, assertSameResult } from "../lib/measure.mjs";

export const title = "call: a whole tool call, against the MCP filesystem server over stdio";

export async function* rows({ load }) {
  const { openWorkspace } = await load("index.node.js");
  const paths = makeSmallFiles(50, 4096);
  const folder = dirname(dirname(paths[0]));
  const ws = await openWorkspace({ roots: [{ path: folder, access: "read" }] });
  const server = await startAndConnect([referenceServerScript(), folder]);
  try {
    const [path] = paths;
    const ours = async (one) => (await ws.call("read_file", { path: one, line_numbers: "none" })).text;
    const theirs = async (one) => (await server.call("read_text_file", { path: one })).content[0].text;
    assertSameResult("texts", (await ours(path)).trimEnd(), (await theirs(path)).trimEnd());
    yield {
      name: "read_file, one by one",
      peer: "read_text_file",
      goal: 1,
      ...(await compareShortCalls(
        () => ours(path),
        () => theirs(path),
      )),
    };
    const together = (read) => () => Promise.all(paths.map((one) => read(one)));
    yield {
      name: "read_file, 50 at once",
      peer: "read_text_file",
      goal: 1,
      ...(await compareShortCalls(together(ours), together(theirs))),
    };
  } finally {
    server.close();
    await ws.close();
  }
}
