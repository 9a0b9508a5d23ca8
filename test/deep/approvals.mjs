// Races of question, change and answer: what is made is what was shown, or nothing is.
//
// Another program changes the files while a question is open. The oracle reads the tree before
// that, after it and after the call with node:fs alone, and applies what the question showed.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { createInterface } from "node:readline";
import { seededRandom } from "../../scripts/lib/deep-kind.mjs";

const ROOT = resolve(import.meta.dirname, "../..");
/** Cases that share a workspace. */
const CASES_PER_WORKSPACE = 250;
/** About one case of so many goes over MCP, where the server is killed between question and answer. */
const MCP_EVERY = 250;

/** @type {import("../../scripts/lib/deep-kind.mjs").DeepKind} */
export default {
  description: "races of question, change and answer: what is made is what was shown",
  count: 20_000,
  share: 1_500,
  async run({ seed, count, isOver }) {
    const { openWorkspace } = await import(join(ROOT, "dist/cli/library.js"));
    const base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "filewright-deep-approvals-")));
    const failures = [];
    const told = { made: 0, conflicts: 0, refused: 0, killed: 0 };
    let cases = 0;
    let opened;
    try {
      for (; cases < count && !isOver() && failures.length < 10; cases++) {
        const random = seededRandom(seed + cases);
        const isServed = random.below(MCP_EVERY) === 0;
        if (cases % CASES_PER_WORKSPACE === 0) {
          await opened?.ws.close();
          fs.rmSync(join(base, "ws"), { recursive: true, force: true });
          fs.mkdirSync(join(base, "ws"), { recursive: true });
          opened = { confirm: undefined, ws: undefined };
          const own = opened;
          opened.ws = await openWorkspace({
            root: join(base, "ws"),
            stateDir: join(base, "state"),
            confirm: (details) => own.confirm(details),
          });
        }
        const directory = join(base, "ws", `case-${cases}`);
        makeTree(directory, random);
        const problem = isServed
          ? await servedRace(directory, random, join(base, `state-${cases}`), told)
          : await race(opened, directory, random, told);
        if (problem !== undefined)
          failures.push(
            `case ${cases}: ${problem}; repeat: npm run deep -- approvals --seed ${seed + cases} --count 1`,
          );
        fs.rmSync(directory, { recursive: true, force: true });
      }
    } finally {
      await opened?.ws.close();
      fs.rmSync(base, { recursive: true, force: true });
    }
    console.log(
      `made ${told.made}, conflicts ${told.conflicts}, refused ${told.refused}, killed ${told.killed}`,
    );
    // A check whose calls are never made, or never refused, shows nothing.
    if (cases >= 200 && (told.made < cases / 20 || told.conflicts < cases / 20))
      failures.push("hardly any call was made, or hardly any was a conflict");
    return { cases, failures };
  },
};

/** Everything below a directory: `dir`, `link TARGET`, or `file` and the hash of its content. */
function snapshot(directory) {
  const found = new Map();
  // Directories are walked by hand: a recursive listing follows links.
  const pending = [directory];
  for (let top = pending.pop(); top !== undefined; top = pending.pop()) {
    for (const entry of fs.readdirSync(top, { withFileTypes: true })) {
      const path = join(top, entry.name);
      if (entry.isSymbolicLink()) found.set(path, `link ${fs.readlinkSync(path)}`);
      else if (entry.isDirectory()) {
        found.set(path, "dir");
        pending.push(path);
      } else
        found.set(path, `file sha256:${createHash("sha256").update(fs.readFileSync(path)).digest("hex")}`);
    }
  }
  return found;
}

const FILES = ["a.txt", "b.txt", "d/f.txt", "d/sub/g.txt", "d/sub/h.txt", "z/f.txt", "over/f.txt"];

function makeTree(directory, random) {
  for (const name of FILES) {
    const path = join(directory, name);
    fs.mkdirSync(dirname(path), { recursive: true });
    fs.writeFileSync(path, `${name} ${random.below(1000)}\nvalue = ${random.below(10)}\nend\n`);
  }
  fs.symlinkSync(random.pick(["a.txt", "b.txt"]), join(directory, "link"));
  fs.symlinkSync("d", join(directory, "dirlink"));
}

/** An operation of one tool, with paths below `prefix`. */
function operation(random, prefix) {
  const at = (name) => `${prefix}${name}`;
  const file = random.pick([...FILES, "link", "dirlink/f.txt"]);
  const fresh = random.pick(["n.txt", "z/n.txt", "p/n.txt", "p/q/n.txt", "d/n.txt", "dirlink/n.txt"]);
  const content = `new ${random.below(1e6)}\n`;
  const kinds = {
    write: () => ["write_file", { path: at(random.pick([file, fresh])), content }],
    edit: () => ["edit_file", { path: at(file), old_text: "end", new_text: `end ${random.below(100)}` }],
    patch: () => {
      const [one, two] = random.shuffle(FILES);
      const hunk = (name) => `*** Update File: ${at(name)}\n@@\n-end\n+END ${random.below(100)}\n`;
      const more = random.pick([
        hunk(two),
        `*** Delete File: ${at(two)}\n`,
        `*** Add File: ${at("p/x.txt")}\n+${content}`,
      ]);
      return ["apply_patch", { patch: `*** Begin Patch\n${hunk(one)}${more}*** End Patch\n` }];
    },
    move: () => [
      "move",
      { source: at(random.pick([file, "d", "d/sub"])), destination: at(random.pick(["e", "z/e", "p/e"])) },
    ],
    moveOver: () => ["move", { source: at("a.txt"), destination: at("b.txt"), overwrite: true }],
    copy: () => [
      "copy",
      { source: at(random.pick([file, "d"])), destination: at(random.pick(["e", "z/e", "p/e"])) },
    ],
    copyOver: () => ["copy", { source: at("d"), destination: at("over"), overwrite: true }],
    delete: () => ["delete", { path: at(file) }],
    deleteTree: () => ["delete", { path: at(random.pick(["d", "d/sub", "z"])), recursive: true }],
    mkdir: () => ["mkdir", { path: at(random.pick(["p", "p/q", "z/q"])) }],
  };
  return kinds[random.pick(Object.keys(kinds))]();
}

/** Makes the change of another program while the question is open. */
function disturb(directory, random) {
  const at = (name) => join(directory, name);
  const content = () => `foreign ${random.below(1e6)}\nvalue = 1\nend\n`;
  const replaceByLink = (name, target) => {
    if (!fs.existsSync(at(name))) return;
    fs.renameSync(at(name), at(`was-${name}`));
    fs.symlinkSync(target, at(name));
  };
  const acts = [
    () => {},
    () => {},
    () => fs.writeFileSync(at(random.pick(FILES)), content()),
    () => fs.writeFileSync(at(random.pick(FILES)), content()),
    () => fs.appendFileSync(at(random.pick(FILES)), "more\n"),
    () =>
      fs.writeFileSync(
        at(random.pick(["d/unseen.txt", "d/sub/unseen.txt", "over/g.txt", "z/unseen.txt"])),
        content(),
      ),
    () => fs.rmSync(at(random.pick(FILES))),
    () => fs.renameSync(at("d/f.txt"), at("d/renamed.txt")),
    () => fs.renameSync(at("d/sub"), at("sub-elsewhere")),
    () => replaceByLink("z", "d"),
    () => replaceByLink("d", "z"),
    () => replaceByLink("a.txt", "b.txt"),
    () => replaceByLink("over", "d"),
    () => fs.symlinkSync("d", at("p")),
    () => {
      // A new link with the same target is another entry, which a snapshot cannot show; so the target always changes.
      const targets = ["a.txt", "b.txt", "d/f.txt"].filter(
        (target) => target !== fs.readlinkSync(at("link")),
      );
      fs.rmSync(at("link"));
      fs.symlinkSync(random.pick(targets), at("link"));
    },
    () => {
      fs.rmSync(at("dirlink"));
      fs.symlinkSync("z", at("dirlink"));
    },
    () => {
      fs.renameSync(at("a.txt"), at("swap"));
      fs.renameSync(at("b.txt"), at("a.txt"));
      fs.renameSync(at("swap"), at("b.txt"));
    },
    () => fs.mkdirSync(at("e")),
    () => fs.writeFileSync(at("n.txt"), content()),
  ];
  random.pick(acts)();
}

/** One race in this process; a sentence where what was made was not what was shown. */
async function race(opened, directory, random, told) {
  const prefix = `${relative(dirname(directory), directory)}/`;
  const operations = Array.from({ length: random.chance(0.3) ? 1 + random.below(3) : 1 }, () =>
    operation(random, prefix),
  );
  const isBatch = operations.length > 1 || random.chance(0.2);
  const questions = [];
  let before;
  let disturbed;
  opened.confirm = async (details) => {
    before ??= snapshot(directory);
    questions.push(details);
    disturb(directory, random);
    disturbed = snapshot(directory);
    return { outcome: "proceed_once" };
  };
  const untouched = snapshot(directory);
  const [tool, args] = isBatch
    ? ["batch", { operations: operations.map(([name, given]) => ({ tool: name, args: given })) }]
    : operations[0];
  const result = await opened.ws.call(tool, args);
  const after = snapshot(directory);
  const there = disturbed ?? untouched;
  const what = `${JSON.stringify([tool, args])} (${result.error?.code ?? "made"})`;
  if (!result.ok) {
    if (result.error.code === "CONFLICT") told.conflicts += 1;
    else told.refused += 1;
    const left = difference(there, after);
    return left === undefined ? undefined : `${what} was refused, and ${left}`;
  }
  told.made += 1;
  if (before === undefined) return undefined; // The call changed nothing, so no question was asked.
  if (questions.length > 1) return `${what} asked ${questions.length} times`;
  const expected = shownOn(questions[0].changes, before, there);
  if (typeof expected === "string") return `${what}: ${expected}`;
  const left = difference(expected, after);
  return left === undefined ? undefined : `${what}: ${left}`;
}

/** Describes the first difference between two trees. */
function difference(expected, found) {
  for (const [path, value] of expected)
    if (found.get(path) !== value) return `${path} is ${found.get(path)}, not ${value}`;
  for (const [path, value] of found) if (!expected.has(path)) return `${path} is ${value}, not absent`;
  return undefined;
}

const below = (path, top) => path === top || path.startsWith(`${top}/`);

/**
 * The tree that the question showed, made on what stood there when the other program had acted.
 * A sentence where it covers what had become something else by then.
 */
function shownOn(changes, before, there) {
  const [seen, now] = [new Map(before), new Map(there)];
  /** Checks that a deleted or moved entry is the one that was shown. */
  const wrong = (path) =>
    seen.get(path) === now.get(path)
      ? undefined
      : `${path} was ${seen.get(path)} when it was shown and ${now.get(path)} when it was made`;
  for (const { path, kind, from, hash, type: entry } of changes) {
    const problem = wrong(path) ?? (from === undefined ? undefined : wrong(from));
    if (problem !== undefined) return problem;
    for (const tree of [seen, now]) {
      const value = from === undefined ? (entry === "dir" ? "dir" : `file ${hash}`) : tree.get(from);
      if (kind === "delete") tree.delete(path);
      else {
        for (let at = dirname(path); !tree.has(at) && at.length > 1 && isBelowCase(at); at = dirname(at))
          tree.set(at, "dir");
        if (!(entry === "dir" && tree.get(path) === "dir")) tree.set(path, value);
      }
      if (kind === "move") tree.delete(from);
    }
  }
  for (const { kind, path, from } of changes) {
    const gone = kind === "delete" ? path : kind === "move" ? from : undefined;
    if (gone === undefined) continue;
    // What lies below something that went was named by the question, as an entry that goes or one that comes there
    // later, or it went unseen.
    const unseen = [...now.keys()].find(
      (other) =>
        other !== gone &&
        below(other, gone) &&
        !changes.some((one) => one.path === other || one.from === other),
    );
    if (unseen !== undefined) return `${unseen} was not shown, and lay below ${gone}`;
  }
  return now;
}

const isBelowCase = (path) => /\/case-\d+\//u.test(`${path}/`) && !/\/case-\d+$/u.test(path);

/** A race over MCP whose server is killed between the question and the answer, with another one in its place. */
async function servedRace(directory, random, stateDir, told) {
  const [tool, args] = operation(random, "");
  const before = snapshot(directory);
  const first = serve(directory, stateDir);
  let said;
  try {
    said = await first.call(tool, args);
  } finally {
    first.kill();
  }
  if (said.requestState === undefined) return difference(before, snapshot(directory));
  told.killed += 1;
  const unanswered = difference(before, snapshot(directory));
  if (unanswered !== undefined) return `${tool} was not answered, and ${unanswered}`;
  disturb(directory, random);
  const there = snapshot(directory);
  const second = serve(directory, stateDir);
  try {
    const made = await second.call(tool, args, said.requestState);
    const after = snapshot(directory);
    const isSame = difference(before, there) === undefined;
    if (made.isError === true || made.requestState !== undefined) {
      told.conflicts += 1;
      if (isSame)
        return `${tool} ${JSON.stringify(args)} was approved and refused: ${JSON.stringify(made.content)}`;
      return difference(there, after);
    }
    told.made += 1;
    // The same answer again makes nothing. A directory that is there already is no refusal.
    const again = await second.call(tool, args, said.requestState);
    if (again.isError !== true && tool !== "mkdir") return `${tool} was allowed twice by one answer`;
    return difference(after, snapshot(directory));
  } finally {
    second.kill();
  }
}

const META = "io.modelcontextprotocol";

function serve(directory, stateDir) {
  const child = spawn(
    process.execPath,
    [join(ROOT, "dist/bin/filewright.js"), "mcp", directory, "--ask", "--preset", "canonical"],
    { stdio: ["pipe", "pipe", "ignore"], env: { ...process.env, XDG_STATE_HOME: stateDir } },
  );
  const waiting = new Map();
  createInterface({ input: child.stdout }).on("line", (line) => {
    const { id, result, error } = JSON.parse(line);
    waiting.get(id)?.(result ?? { isError: true, content: error });
  });
  let id = 0;
  return {
    call(name, args, requestState) {
      id += 1;
      const params = {
        name,
        arguments: args,
        _meta: {
          [`${META}/protocolVersion`]: "2026-07-28",
          [`${META}/clientInfo`]: { name: "deep", version: "1" },
          [`${META}/clientCapabilities`]: { elicitation: { form: {} } },
        },
        ...(requestState === undefined
          ? {}
          : {
              requestState,
              inputResponses: { approval: { action: "accept", content: { decision: "proceed_once" } } },
            }),
      };
      const answered = new Promise((done, failed) => {
        waiting.set(id, done);
        child.once("exit", () => failed(new Error("the server ended")));
      });
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params })}\n`);
      return answered;
    },
    kill: () => child.kill("SIGKILL"),
  };
}
