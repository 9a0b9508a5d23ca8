// Opens a workspace in the directory of its first argument, as a process of its own: writes, undoes, and prints
// what happened as JSON. With a second argument that directory is the `stateDir`. With DO in the environment it
// runs this shell command after a first change.
import { execSync } from "node:child_process";
import { openWorkspace } from "../../dist/cli/library.js";

const [, , root, stateDir] = process.argv;

const shown = ({ ok, text, error }) => ({
  ok,
  text,
  ...(error === undefined ? {} : { code: error.code, path: error.path, details: error.details }),
});

try {
  const ws = await openWorkspace({ root, ...(stateDir === undefined ? {} : { stateDir }) });
  if (process.env.DO !== undefined) {
    await ws.call("write_file", { path: "before.txt", content: "one\n" });
    execSync(process.env.DO);
  }
  const read = shown(await ws.call("read_file", { path: "a.txt" }));
  const written = shown(await ws.call("write_file", { path: "x.txt", content: "one\n" }));
  // Several operations are made only if they are recorded first.
  const operations = [{ tool: "write_file", args: { path: "y.txt", content: "two\n" } }];
  const batch = written.ok ? shown(await ws.call("batch", { operations })) : undefined;
  const [last] = await ws.history();
  const undone = batch?.ok === true ? await ws.undo(last.callId) : undefined;
  const access = await ws.call("access_info", {});
  const line = access.text.split("\n").find((one) => one.startsWith("Locks and history"));
  console.log(
    JSON.stringify({
      read,
      written,
      batch,
      undone,
      access: access.data.state,
      line,
      state: ws.capabilities().state,
    }),
  );
  await ws.close();
} catch (error) {
  console.log(
    JSON.stringify({
      failed: { code: error.code, path: error.path, message: error.message, hint: error.hint },
    }),
  );
}
