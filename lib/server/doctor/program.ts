// Checks the program itself: Node, packages, the build, and ffmpeg.

import "server-only";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Env } from "../env";
import { attempt, type Finding, noted, passed, wrong } from "./findings";

const execute = promisify(execFile);

/** `build`: the folder of the built pages for the configured base path. */
export async function checkProgram({ root, service }: Env, { version, build }: { version: string; build: string }): Promise<Finding[]> {
  const missing = ["dist/console.mjs", "dist/node-worker.mjs", "dist/answer-thread.mjs"].find((file) => !existsSync(join(root, file)));
  return [
    passed("version", `Lightdesk ${version} on Node ${process.versions.node}, ${process.platform} ${process.arch}.`),
    missing
      ? wrong("program", `${missing} is missing.`, "Run npm start, which builds it.")
      : passed("program", "The console, its worker and its threads are built."),
    existsSync(join(root, build, ".lightdesk-built"))
      ? passed("pages", `They are built in ${build}.`)
      : noted("pages", "They are not built for these settings.", "npm start builds them, in about a minute."),
    await attempt("ffmpeg", () => checkFfmpeg(service.ffmpeg), "Set LIGHTDESK_FFMPEG to the path of ffmpeg, or to none."),
  ];
}

async function checkFfmpeg(path: string | undefined): Promise<Finding> {
  if (!path)
    return noted("ffmpeg", "There is none: films and sounds have a placeholder for a thumbnail.", "Install ffmpeg, or leave it so.");
  const { stdout } = await execute(path, ["-version"], { timeout: 10_000 });
  return passed("ffmpeg", stdout.split("\n")[0] ?? path);
}
