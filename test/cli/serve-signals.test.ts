/** A signal that comes with the address of `filewright serve` ends it as a later one does. */
import { expect, test } from "vitest";
import { startInProcess } from "../support/in-process.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

test.each(["SIGINT", "SIGTERM"] as const)(
  "serve ends in order when %s comes while its address is printed",
  async (signal) => {
    const [root, state] = [temporaryDirectory(), temporaryDirectory()];
    const env = { ...process.env, FILEWRIGHT_TOKEN: "t".repeat(40), XDG_STATE_HOME: state };
    const { program, ended } = await startInProcess(
      ["serve", root, "--port", "0"],
      env,
      /at http:\S+\s/u,
      (running) => running.emit(signal),
    );
    expect([await ended, program.out]).toEqual([0, ""]);
    expect(program.listenerCount(signal)).toBe(0);
  },
  20_000,
);
