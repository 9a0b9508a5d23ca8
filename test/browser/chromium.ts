/**
 * A real Chromium for tests of what only a browser has.
 *
 * The browser is the system's: nothing is downloaded. Where Debian's headless shell is installed, it is taken by day: the
 * tests use half of the processor time in it. `FILEWRIGHT_CHROMIUM` names another browser. Where there is none the tests
 * are skipped by name; CI must have one, and fails without.
 */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from "playwright-core";
import { afterAll, beforeAll, describe } from "vitest";
import { isNight } from "../support/share.ts";
import { type Files, type Served, serve } from "./server.ts";

const BROWSERS = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome-stable",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
];
/** The same engine without the browser's own windows, which take four fifths of the processor time of a profile. */
const SHELL = "/usr/bin/chromium-headless-shell";
/** By night the tests run in the whole browser. */
const PLACES = isNight ? [...BROWSERS, SHELL] : [SHELL, ...BROWSERS];

const given = process.env["FILEWRIGHT_CHROMIUM"];
const path = given === undefined || given === "" ? PLACES.find((place) => existsSync(place)) : given;

const module = resolve(import.meta.dirname, "../../dist/wasm/filewright_bg.wasm");
const able = path !== undefined && existsSync(module) && process.env["FILEWRIGHT_PARITY"] !== "skip";

/** A suite that needs Chromium and the WebAssembly module. */
export const describeChromium: typeof describe | typeof describe.skip =
  able || process.env["CI"] === "true" ? describe : describe.skip;

/** The browser's program. @throws where there is none: CI comes here */
export function chromiumPath(): string {
  if (path === undefined) throw new Error("no Chromium: install it, or name it in FILEWRIGHT_CHROMIUM");
  return path;
}

/** Returns the arguments of Chromium: its own sandbox needs a user that is not root. */
export function chromiumArgs(): string[] {
  return process.getuid?.() === 0 ? ["--no-sandbox"] : [];
}

/** Shared by the tests of one file: one browser, one server. */
export interface Chromium {
  readonly browser: Browser;
  readonly served: Served;
  /** Opens a page of the server, or of another by its address, in a profile of its own unless one is given; collects what its console says. */
  open(page: string, context?: BrowserContext): Promise<Opened>;
  /**
   * Makes a profile in whose pages a test may call `route` at any time. Chromium says that it intercepts before a page that
   * is already open does so: without this a request that follows at once passes by, and Playwright reports it nowhere.
   */
  interceptedContext(options?: BrowserContextOptions): Promise<BrowserContext>;
}

/** A page, and everything that went wrong on it. */
export interface Opened {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Warnings and errors of the console, uncaught errors, refused resources. */
  readonly complaints: readonly string[];
}

/**
 * Starts a browser and a server for the suite around, and ends both with it. `limitMs` is for the making of the files:
 * 90 s by default.
 */
export function withChromium(files: () => Promise<Files>, limitMs = 90_000): Chromium {
  let browser: Browser | undefined;
  let served: Served | undefined;
  beforeAll(async () => {
    // Both at once: the bundle is made while the browser starts.
    [browser, served] = await Promise.all([
      chromium.launch({ executablePath: chromiumPath(), args: chromiumArgs(), timeout: 60_000 }),
      files().then(serve),
    ]);
  }, limitMs);
  afterAll(async () => {
    await browser?.close();
    await served?.close();
  });
  const there = <T>(value: T | undefined): T => {
    if (value === undefined) throw new Error("the browser did not start");
    return value;
  };
  return {
    get browser(): Browser {
      return there(browser);
    },
    get served(): Served {
      return there(served);
    },
    async open(name, given) {
      const context = given ?? (await there(browser).newContext());
      // A busy machine is no failure: vitest's own limit ends what does not go on.
      context.setDefaultTimeout(100_000);
      const page = await context.newPage();
      const complaints: string[] = [];
      page.on("console", (message) => {
        if (["warning", "error"].includes(message.type())) complaints.push(message.text());
      });
      page.on("pageerror", (error) => complaints.push(String(error)));
      page.on("requestfailed", (request) =>
        complaints.push(`${request.url()}: ${request.failure()?.errorText}`),
      );
      await page.goto(new URL(name, `${there(served).url}/`).href);
      return { page, context, complaints };
    },
    async interceptedContext(options) {
      const context = await there(browser).newContext(options);
      await context.route("**/requested-by-no-page", (route) => route.abort());
      return context;
    },
  };
}
