/** The program of `crates/sandbox/examples/attacker.rs`, built where it is missing or stale. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { sharedProfileArguments, sharedProfileFolder } from "../../scripts/lib/cargo-profile.mjs";

const ROOT = resolve(import.meta.dirname, "../..");

let built: string | undefined;

/** The path of the program. */
export function attacker(): string {
  if (built === undefined) {
    const made = ["build", "--quiet", ...sharedProfileArguments(), "-p", "filewright-sandbox"];
    const example = ["--example", "attacker"];
    execFileSync("cargo", [...made, ...example], { cwd: ROOT, stdio: ["ignore", "inherit", "inherit"] });
    built = resolve(ROOT, sharedProfileFolder(), "examples/attacker");
  }
  return built;
}

/** An attack that is under way. */
export interface Attack {
  /** Returns true when the names have been exchanged `rounds` times. */
  enough(): boolean;
}

/** The counts that an attack prints at its end. */
export interface Swaps {
  readonly done: number;
  /** Times the names were not both there. */
  readonly missed: number;
}

/** Exchanges two names for as long as `run` takes; `rounds` is when that was often enough. */
export async function exchanging<T>(
  a: string,
  b: string,
  rounds: number,
  run: (attack: Attack) => Promise<T>,
): Promise<[T, Swaps]> {
  const child = spawn(attacker(), ["exchange", a, b, String(rounds)], { stdio: ["pipe", "pipe", "inherit"] });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const ended = once(child, "close");
  await once(child.stdout, "data");
  try {
    const result = await run({ enough: () => said.includes("enough") });
    child.stdin.end();
    await ended;
    const [done = 0, missed = 0] = (said.trim().split("\n").at(-1) ?? "").split(" ").map(Number);
    return [result, { done, missed }];
  } finally {
    child.stdin.end();
  }
}
