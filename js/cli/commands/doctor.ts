/** `filewright doctor`: reports which features work on this machine, which are missing, and what to do. */
import type { Command } from "../command.ts";

/** The command `doctor`. */
export const DOCTOR_COMMAND: Command = {
  name: "doctor",
  summary: "report what works here, what does not, and what to do about it",
  usage: "filewright doctor [--root DIR] [--config FILE] [--json]",
  about:
    "Checks Node, the engines, the state directory, the root, the config file, the confinement by the kernel and the optional packages, each by itself. It needs no engine. The status is 1 when something prevents work.",
  help: [],
  examples: [["filewright doctor --json", "for programs, and for reports of defects"]],
  sort: "machine",
  takes: [0, 0],
  run: async (parsed, shell) => (await import("../doctor/run.ts")).runDoctor(parsed, shell),
};
