// Finds a browser for the browser tests: an installed one, Debian's package, or Playwright's download.
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { run } from "./run.mjs";

const headlessShell = "chromium-headless-shell";
const fullBrowsers = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];
const macBrowsers = ["/Applications/Google Chrome.app/Contents/MacOS/Google Chrome", "/Applications/Chromium.app/Contents/MacOS/Chromium"];

/** Required in containers. Also disables the browser's background requests. */
export const browserFlags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** LIGHTDESK_BROWSER overrides the search. If undefined, Playwright uses its own browser. */
export function findBrowser(env = process.env) {
  return env.LIGHTDESK_BROWSER || findProgram([...fullBrowsers, headlessShell], env);
}

export function findTestBrowser(env = process.env) {
  return env.LIGHTDESK_BROWSER || findProgram([headlessShell, ...fullBrowsers], env);
}

function findProgram(names, env = process.env) {
  const folders = (env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  return [...names.flatMap((name) => folders.map((folder) => join(folder, name))), ...macBrowsers].find((file) => existsSync(file));
}

export async function ensureBrowser() {
  const { LIGHTDESK_BROWSER: overridePath } = process.env;
  if (overridePath) {
    if (await canStart(overridePath)) return;
    throw new Error(`LIGHTDESK_BROWSER must be the path of a Chromium that starts; ${overridePath} does not.`);
  }
  if (findProgram([headlessShell]) === undefined) await installWithApt(headlessShell);
  if (await canStart(findTestBrowser())) return;
  await installWithApt("chromium");
  if (await canStart(findTestBrowser())) return;
  const { chromium } = await import("@playwright/test");
  const downloadedBrowser = chromium.executablePath();
  if (!existsSync(downloadedBrowser)) {
    const { code, output } = await run("npx", ["playwright", "install", "chromium"]);
    if (code !== 0)
      throw new Error(`No browser could be installed; set LIGHTDESK_BROWSER to the path of a Chromium. Playwright printed:\n${output}`);
  }
  process.env.LIGHTDESK_BROWSER = downloadedBrowser;
}

export async function findOrInstall(name, packageName) {
  const env = { ...process.env, PATH: `${process.env.PATH}${delimiter}/usr/sbin` };
  if (findProgram([name], env) === undefined) await installWithApt(packageName);
  return findProgram([name], env);
}

async function installWithApt(name) {
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) return;
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const aptOptions = ["Acquire::http::Timeout=20", "Acquire::Retries=1", "DPkg::Lock::Timeout=120"].flatMap((option) => ["-o", option]);
  const apt = (...args) => run("apt-get", [...aptOptions, ...args], { env });
  const install = () => apt("install", "-y", "--no-install-recommends", name);
  if ((await install()).code === 0) return;
  await apt("update");
  await install();
}

async function canStart(browser) {
  return browser !== undefined && (await run(browser, ["--version"])).code === 0;
}
