// Opens the review page in Chromium and keeps it open until standard input ends. It is a process of its own, because
// Chromium reports each event of a page to the process that drives it, whose time is not the agent's.
//
//   node bench/lib/open-page.mjs LINK CHROMIUM
import process from "node:process";
import { chromium } from "playwright-core";

const [link, executablePath] = process.argv.slice(2);
const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
const browser = await chromium.launch({ executablePath, args });
const page = await browser.newPage();
await page.goto(link);
await page.getByText("live", { exact: true }).first().waitFor();
process.stdout.write("open\n");
for await (const _ of process.stdin);
await browser.close();
