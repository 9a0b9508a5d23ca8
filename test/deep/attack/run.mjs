// Runs one attack script in this process: `node run.mjs NAME SEED SECONDS`. Prints notes, and a line of JSON for each
// check, `{ check, isBroken }`, and at the end `{ ended: true }`.
import { makeAttack } from "./lib.mjs";

const [name, seed, seconds] = process.argv.slice(2);
const { default: script } = await import(`./${name}.mjs`);
const { attack, end } = makeAttack(Number(seed), Number(seconds));
try {
  await script(attack);
} catch (error) {
  attack.check(`the script ended with ${String(error?.stack ?? error)}`, true);
}
await end();
process.stdout.write(`${JSON.stringify({ ended: true })}\n`, () => process.exit(0));
