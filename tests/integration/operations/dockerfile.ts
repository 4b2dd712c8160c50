// Runs the Dockerfile's steps unchanged in folders, without a container engine.
import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "vitest";
import { computeFingerprint } from "@/bin/build/fingerprint.mjs";

const execute = promisify(execFile);

export type Step = { instruction: string; argument: string };

/** Returns the Dockerfile's instructions with continued lines joined and without comments. */
export function readSteps(): Step[] {
  const content = readFileSync("Dockerfile", "utf8")
    .replace(/^#.*\n/gm, "")
    .replace(/\\\n\s*/g, "");
  return [...content.matchAll(/^([A-Z]+) +(.+)$/gm)].map(([, word = "", rest = ""]) => ({ instruction: word, argument: rest }));
}

/** Runs the COPY, RUN and ENV steps below `folder`, with the packages and the build of this project linked in. Returns the image's ENV. */
export async function buildImage(steps: readonly Step[], folder: string, image: string): Promise<Record<string, string>> {
  const env: Record<string, string> = {};
  const build = join(folder, "build");
  mkdirSync(build);
  let directory = build;
  for (const { instruction, argument } of steps) {
    const settings = [...argument.matchAll(/(\w+)=("[^"]*"|\S+)/g)].map(([, name = "", value = ""]) => [name, value] as const);
    if (instruction === "FROM" && !argument.includes(" AS ")) directory = image;
    else if (instruction === "ENV" && directory === image)
      for (const [name, value] of settings) env[name] = value.startsWith("$") ? "" : value;
    else if (instruction === "COPY" && argument === ". .") copyContext(build);
    else if (instruction === "COPY" && argument === "--from=build /out ./") renameSync(join(folder, "out"), image);
    else if (instruction === "COPY") for (const file of argument.split(" ").slice(0, -1)) cpSync(file, join(build, file));
    else if (instruction === "RUN" && argument.startsWith("npm ci"))
      symlinkSync(join(process.cwd(), "node_modules"), join(build, "node_modules"));
    else if (instruction === "RUN" && directory === build)
      await execute("sh", ["-c", argument.replace("/out", join(folder, "out"))], { cwd: build });
    else if (instruction === "RUN") expect(argument).toBe("mkdir /data /blobs && chown node:node /data /blobs");
  }
  return env;
}

function copyContext(build: string): void {
  const ignorePatterns = readFileSync(".dockerignore", "utf8")
    .split("\n")
    .filter((line) => line !== "");
  const isIgnored = (name: string) =>
    ignorePatterns.some((line) => new RegExp(`^${line.replace("**/", "").replaceAll(".", "\\.").replaceAll("*", ".*")}$`).test(name));
  const names = readdirSync(".").filter((name) => !isIgnored(name));
  expect(names).not.toContain("tests");
  for (const name of names) cpSync(name, join(build, name), { recursive: true });
  for (const buildFolder of [".next", "dist"]) symlinkSync(join(process.cwd(), buildFolder), join(build, buildFolder));
  requireBuilt(build);
}

/** Throws if the linked build is outdated, because `npm run build` would write through the links. */
export function requireBuilt(folder: string): void {
  const sources = computeFingerprint(folder);
  for (const buildFolder of ["dist", ".next"]) {
    const stamp = join(folder, buildFolder, ".lightdesk-built");
    if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== sources)
      throw new Error(`${buildFolder} was not built from the current sources. Run "npm run build" first.`);
  }
}
