// The browser of the browser tests: one that is here already, else Debian's package, else Playwright's own download.
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { run } from "./run.mjs";

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];
const elsewhere = ["/Applications/Google Chrome.app/Contents/MacOS/Google Chrome", "/Applications/Chromium.app/Contents/MacOS/Chromium"];

/** Needed in containers, and keeps the browser from calling home. */
export const browserFlags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** The path of a browser on this machine, or undefined: then Playwright looks for its own. LIGHTDESK_BROWSER names one. */
export function findBrowser(env = process.env) {
  if (env.LIGHTDESK_BROWSER) return env.LIGHTDESK_BROWSER;
  const folders = (env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  return [...names.flatMap((name) => folders.map((folder) => join(folder, name))), ...elsewhere].find((file) => existsSync(file));
}

/** Makes sure that there is a browser that starts, and names it to the processes that follow. Throws with what the last attempt said. */
export async function ensureBrowser() {
  if (await starts(findBrowser())) return;
  const { LIGHTDESK_BROWSER: named } = process.env;
  if (named) throw new Error(`LIGHTDESK_BROWSER must be the path of a Chromium that starts; ${named} does not.`);
  const { chromium } = await import("@playwright/test");
  const own = chromium.executablePath();
  if (!existsSync(own)) {
    process.stderr.write("Installing a browser for the browser tests.\n");
    if (await installedByApt()) return;
    const { code, output } = await run("npx", ["playwright", "install", "chromium"]);
    if (code !== 0)
      throw new Error(`No browser could be installed; set LIGHTDESK_BROWSER to the path of a Chromium. Playwright said:\n${output}`);
  }
  process.env.LIGHTDESK_BROWSER = own;
}

async function installedByApt() {
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) return false;
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  await run("apt-get", ["update"], { env });
  await run("apt-get", ["install", "-y", "--no-install-recommends", "chromium"], { env });
  return starts(findBrowser());
}

/** Some systems ship a `chromium` that only points at a shop. */
async function starts(browser) {
  return browser !== undefined && (await run(browser, ["--version"])).code === 0;
}
