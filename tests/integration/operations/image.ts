// Runs the Dockerfile's steps unchanged in folders, without a container engine.
import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "vitest";
import { fingerprint } from "@/bin/build/fingerprint.mjs";

const execute = promisify(execFile);

export type Step = { word: string; rest: string };

/** The instructions with continued lines joined and comments left out. */
export function readSteps(): Step[] {
  const whole = readFileSync("Dockerfile", "utf8")
    .replace(/^#.*\n/gm, "")
    .replace(/\\\n\s*/g, "");
  return [...whole.matchAll(/^([A-Z]+) +(.+)$/gm)].map(([, word = "", rest = ""]) => ({ word, rest }));
}

/** Runs the COPY, RUN and ENV steps below `folder`, with the packages and the build of this project linked in. Returns the image's ENV. */
export async function buildImage(steps: readonly Step[], folder: string, image: string): Promise<Record<string, string>> {
  const env: Record<string, string> = {};
  const build = join(folder, "build");
  mkdirSync(build);
  let at = build;
  for (const { word, rest } of steps) {
    const settings = [...rest.matchAll(/(\w+)=("[^"]*"|\S+)/g)].map(([, name = "", value = ""]) => [name, value] as const);
    if (word === "FROM" && !rest.includes(" AS ")) at = image;
    else if (word === "ENV" && at === image) for (const [name, value] of settings) env[name] = value.startsWith("$") ? "" : value;
    else if (word === "COPY" && rest === ". .") copyContext(build);
    else if (word === "COPY" && rest === "--from=build /out ./") renameSync(join(folder, "out"), image);
    else if (word === "COPY") for (const file of rest.split(" ").slice(0, -1)) cpSync(file, join(build, file));
    else if (word === "RUN" && rest.startsWith("npm ci")) symlinkSync(join(process.cwd(), "node_modules"), join(build, "node_modules"));
    else if (word === "RUN" && at === build) await execute("sh", ["-c", rest.replace("/out", join(folder, "out"))], { cwd: build });
    else if (word === "RUN") expect(rest).toBe("mkdir /data /blobs && chown node:node /data /blobs");
  }
  return env;
}

function copyContext(build: string): void {
  const ignored = readFileSync(".dockerignore", "utf8")
    .split("\n")
    .filter((line) => line !== "");
  const isLeft = (name: string) =>
    ignored.some((line) => new RegExp(`^${line.replace("**/", "").replaceAll(".", "\\.").replaceAll("*", ".*")}$`).test(name));
  const names = readdirSync(".").filter((name) => !isLeft(name));
  expect(names).not.toContain("tests");
  for (const name of names) cpSync(name, join(build, name), { recursive: true });
  for (const image of [".next", "dist"]) symlinkSync(join(process.cwd(), image), join(build, image));
  requireBuilt(build);
}

/** Throws if `npm run build` would rebuild what is linked in, since it would write through the links. */
export function requireBuilt(folder: string): void {
  const sources = fingerprint(folder);
  for (const image of ["dist", ".next"]) {
    const stamp = join(folder, image, ".lightdesk-built");
    if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== sources)
      throw new Error(`What is in ${image} was not built from the sources that the image gets: run "npm run build" first.`);
  }
}
