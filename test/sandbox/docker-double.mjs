#!/usr/bin/env node
// A protocol double of the program docker, for machines without a daemon: it takes the calls that the container driver
// makes, keeps its containers as files beside itself, and runs their commands on this machine without any container.
// The file `mode` beside it says how it departs from the protocol.
import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync, appendFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const mode = existsSync(join(here, "mode")) ? readFileSync(join(here, "mode"), "utf8") : "";
const args = process.argv.slice(2);
appendFileSync(join(here, "calls"), `${JSON.stringify(args)}\n`);
const fail = (text, status = 1) => {
  process.stderr.write(`${text}\n`);
  process.exit(status);
};
const fileOf = (name) => join(here, `${name}.json`);
const load = (name) => JSON.parse(readFileSync(fileOf(name), "utf8"));
const after = (list, flag) => list[list.indexOf(flag) + 1];

switch (args[0]) {
  case "info":
    if (mode === "no daemon") fail("Cannot connect to the Docker daemon at unix:///var/run/docker.sock.");
    if (mode === "no engine") console.log("hello");
    else
      console.log(JSON.stringify({ OSType: mode === "windows" ? "windows" : "linux", SecurityOptions: [] }));
    break;
  case "create": {
    const image = args.indexOf("the-image");
    if (image < 0) fail("Error response from daemon: No such image: other", 125);
    const state = { Status: "created", ExitCode: 0, OOMKilled: false, Error: "" };
    const container = { cwd: after(args, "--workdir"), argv: args.slice(image + 1), state };
    writeFileSync(fileOf(after(args, "--name")), JSON.stringify(container));
    break;
  }
  case "start": {
    const name = args.at(-1);
    const container = load(name);
    const isTrial = container.argv.at(-1)?.includes("trial");
    const write = (state) => writeFileSync(fileOf(name), JSON.stringify({ ...container, state }));
    write({ ...container.state, Status: "running" });
    if (mode === "other files" && isTrial) {
      write({ ...container.state, Status: "exited", ExitCode: 1 });
      fail("/bin/sh: can't open trial", 1);
    }
    const [program, ...rest] = container.argv;
    const child = spawn(program, rest, { cwd: container.cwd, stdio: ["ignore", "inherit", "inherit"] });
    child.once("error", () => {
      const error = `exec: "${program}": executable file not found in $PATH`;
      write({ ...container.state, ExitCode: 127, Error: error });
      fail(`Error response from daemon: ${error}`, 127);
    });
    child.once("exit", (code) => {
      if (mode === "lost daemon" && !isTrial) fail("error during connect: EOF", 1);
      write({
        ...container.state,
        Status: "exited",
        ExitCode: code ?? 137,
        OOMKilled: mode === "out of memory",
      });
      // The state counts: the status of the program also says how the program itself fared.
      process.exit(mode === "wrong status" ? 0 : (code ?? 137));
    });
    break;
  }
  case "container":
    if (mode === "garbage" && !load(args.at(-1)).argv.at(-1).includes("trial")) console.log('"running"');
    else console.log(JSON.stringify(load(args.at(-1)).state));
    break;
  case "kill":
    if (mode === "no removal") fail("error during connect: EOF");
    break;
  case "rm":
    if (mode === "no removal") fail("error during connect: EOF");
    if (!existsSync(fileOf(args.at(-1)))) fail(`Error: No such container: ${args.at(-1)}`);
    rmSync(fileOf(args.at(-1)));
    break;
  default:
    fail(`docker: '${args[0]}' is not a docker command.`);
}
