// The program whose system calls fail. It reads one command a line and answers each with one line:
//
//   {"open": {...}}    opens a workspace, makes the changes before the one that is looked at, and notes their calls
//   {"change": {...}}  makes the change and answers with what was told
//   {"close": true}    closes the workspace
//
// A change is a call of a tool, or `undo` or `rewind` of what was made before it.
import { createInterface } from "node:readline";
import { openCase } from "./case-directory.mjs";

/** Makes a change. Returns the answer of a tool, or that of the other methods in the same form. */
export async function make(ws, { tool, args }, before) {
  if (tool !== "undo" && tool !== "rewind") return ws.call(tool, args);
  try {
    const { callId } = tool === "undo" ? await ws.undo(before.at(-1)) : await ws.rewind("before");
    return { ok: true, meta: { call_id: callId } };
  } catch (error) {
    const { code, message, details } = error;
    return { ok: false, error: { code: code ?? "THROWN", message, details } };
  }
}

/** Opens a workspace and makes the changes before the one that is looked at. Returns both. */
async function prepare(options, { first, mark, settled }) {
  const ws = await openCase(options);
  const before = [];
  for (const call of settled ?? []) await ws.call(call.tool, call.args);
  if (mark) await ws.mark("before");
  for (const call of first ?? []) {
    const { ok, text, meta } = await ws.call(call.tool, call.args);
    if (!ok) throw new Error(text);
    before.push(meta.call_id);
  }
  return { ws, before };
}

if (import.meta.filename === process.argv[1]) {
  let open;
  const answer = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
  for await (const line of createInterface({ input: process.stdin })) {
    const command = JSON.parse(line);
    try {
      if ("open" in command) {
        open = await prepare(command.open.options, command.open.change);
        answer({ opened: true });
      } else if ("change" in command) answer(await make(open.ws, command.change, open.before));
      else {
        await open.ws.close();
        answer({ closed: true });
      }
    } catch (error) {
      answer({ thrown: `${error.code ?? error.name}: ${error.message}` });
    }
  }
}
