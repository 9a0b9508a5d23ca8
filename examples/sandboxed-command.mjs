// A command that can change files in the workspace and nowhere else, sees no secret and
// reaches no network: bubblewrap on Linux. Without it the workspace is refused, not run unconfined.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openWorkspace } from "filewright";

const dir = mkdtempSync(join(tmpdir(), "filewright-example-"));
writeFileSync(join(dir, "numbers.txt"), "3\n1\n2\n");
writeFileSync(join(dir, ".env"), "TOKEN=secret\n");

let ws;
try {
  ws = await openWorkspace({ root: dir, commands: true });
} catch (error) {
  console.log(`no commands here: ${error.message}`);
  process.exit(0);
}
const run = async (command) => {
  const result = await ws.call("run_command", { command, shell: true });
  return result.ok ? result.data : { stderr: result.text, exit_code: null, stdout: "", tier: "" };
};

const sorted = await run("sort -n numbers.txt > sorted.txt && cat sorted.txt");
console.log(`inside (${sorted.tier}): ${sorted.stdout.trim().split("\n").join(" ")}`);

// The command may see a /tmp of its own; what counts is that nothing arrives outside.
await run("echo gotcha > ../escaped.txt");
console.log(`outside: ${existsSync(join(dir, "../escaped.txt")) ? "something is wrong" : "nothing arrived"}`);

const secret = await run("cat .env");
console.log(`secret: ${secret.stdout === "" ? "empty for commands" : "something is wrong"}`);

const reach = "fetch('http://127.0.0.1:8080').catch((error) => console.log(error.cause.message))";
const network = await run(`"${process.execPath}" -e "${reach}"`);
console.log(`network: ${network.stdout.trim() || network.stderr.trim().split("\n")[0]}`);
await ws.close();
rmSync(dir, { recursive: true });
