// Content cannot run on the review page: hostile names, contents, reasons, agents and a hostile workspace directory are
// shown on every screen of the page in Chromium, and none of their elements or handlers may exist there.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { chromium } from "playwright-core";
import { COMMAND, homeIn } from "./lib.mjs";
import { login, startServer } from "./server.mjs";

const FREE_PORT_FROM = 20_000;
const CHROMIUMS = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"].map(
  (name) => `/usr/bin/${name}`,
);
const HOSTILE = '<img src=x onerror="window.zqx=1"><script>window.zqx=1</script>';
const HOSTILE_NAME = "<b onmouseover=window.zqx=1>old.txt";
const CALLS = [
  [
    "write_file",
    {
      path: "n<img src=x onerror=window.zqx=1>.html",
      content: `${HOSTILE}\njavascript:alert(1)\n<a href=javascript:window.zqx=1>x</a>\n`,
    },
  ],
  ["edit_file", { path: HOSTILE_NAME, edits: [{ old_text: "old", new_text: HOSTILE }] }],
  ["mkdir", { path: "d<iframe srcdoc='<script>top.zqx=1<\u002fscript>'>" }],
  ["move", { source: "p.svg", destination: "q<x>.svg" }],
  ["read_file", { path: `missing${HOSTILE.replaceAll("/", "")}` }],
  ["grep", { pattern: HOSTILE }],
];
/** The keys that lead to the screens: timeline, policy, activity, search, waiting. */
const SCREEN_KEYS = ["t", "p", "a", "s", "w"];
/** Elements and attributes that only hostile content would bring. */
const INJECTED =
  "script:not([src]),iframe,svg[onload],b[onmouseover],[onerror],[onload],a[href^=javascript],img[src=x]";

/** Shows the calls of an agent on all screens. */
export default async function attackPageByContent(attack) {
  const { server, link, secondLink } = await startSite(attack);
  const page = await openPage(attack, link);
  const running = CALLS.map(([name, args]) => server.call(name, args));
  await page.getByText("old.txt").first().waitFor();
  await look(attack, page, "waiting");
  for (const key of ["j", "j", "j", "e"]) await page.keyboard.press(key);
  await look(attack, page, "waiting, with the editor");
  await page.keyboard.press("Escape");
  const me = await login(secondLink);
  for (const question of await me.waiting()) {
    const isRefused = question.tool === "mkdir";
    await me.answer(question, isRefused ? "refuse" : "allow", isRefused ? { reason: HOSTILE } : {});
  }
  await Promise.race([Promise.all(running), sleep(4000)]);
  for (const key of SCREEN_KEYS) {
    await page.keyboard.press("g");
    await page.keyboard.press(key);
    // The stream of events stays open, so the network is never idle.
    await sleep(1000);
    await look(attack, page, `screen of the keys g ${key}`);
  }
  const policy = (await me.get("")).headers.get("content-security-policy") ?? "none";
  attack.check(
    `content policy: ${policy}`,
    !policy.includes("default-src 'none'") || policy.includes("unsafe"),
  );
  const table = await (await me.get("activity.csv")).text();
  attack.check("the exported table contains no formula", /(?:^|\n|,)"?[=+@-]/u.test(table));
}

async function startSite(attack) {
  const env = homeIn(attack);
  const root = join(attack.temporary(), "w<svg onload=window.zqx=1>");
  mkdirSync(root);
  writeFileSync(join(root, HOSTILE_NAME), `old ${HOSTILE}\n`);
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" onload="window.zqx=1"></svg>';
  writeFileSync(join(root, "p.svg"), svg);
  const port = FREE_PORT_FROM + attack.random.below(20_000);
  const agent = `a${HOSTILE.slice(0, 40)}`;
  const args = [root, `--review=${port}`, "--preset", "canonical", "--guard", "off", "--agent", agent];
  const server = startServer(attack, args, { env });
  await server.initialize();
  const [, link] = await server.line(/wait at (http:\S+)/u);
  const made = spawnSync(process.execPath, [COMMAND, "review", "--url", new URL(link).origin], { env });
  return { server, link, secondLink: String(made.stdout).trim() };
}

async function openPage(attack, link) {
  const executablePath = process.env.FILEWRIGHT_CHROMIUM || CHROMIUMS.find((path) => existsSync(path));
  const args = process.getuid() === 0 ? ["--no-sandbox"] : [];
  const browser = await chromium.launch({ executablePath, args });
  attack.atEnd(() => browser.close());
  const page = await browser.newPage();
  await page.goto(link);
  await page.getByText("live", { exact: true }).first().waitFor();
  return page;
}

/** Records whether hostile content has become elements, also in shadow roots. */
async function look(attack, page, where) {
  const found = await page.evaluate((selector) => {
    const all = [...document.querySelectorAll("*")];
    const roots = [document, ...all.flatMap(({ shadowRoot }) => (shadowRoot === null ? [] : [shadowRoot]))];
    const injected = roots.flatMap((one) => [...one.querySelectorAll(selector)]);
    return { ran: "zqx" in window, injected: injected.map((element) => element.outerHTML.slice(0, 80)) };
  }, INJECTED);
  attack.check(`${where}: ${JSON.stringify(found)}`, found.ran || found.injected.length > 0);
}
