// Optional programs. Tests without their program are skipped, and `npm test` lists them at the end.
import { type TestContext } from "vitest";
import { findOrInstall } from "@/bin/browser.mjs";

declare module "vitest" {
  interface TaskMeta {
    /** Read by bin/checks/test-results.mjs. */
    missing?: string;
  }
}

/** The Debian package of the program. */
const packages = {
  nginx: "nginx-light",
  caddy: "caddy",
  "systemd-analyze": "systemd",
  php: "php-cli",
  ruby: "ruby",
  python3: "python3",
  jq: "jq",
};
export type ProgramName = keyof typeof packages;

/** Returns the program's path, or undefined if it couldn't be found or installed. */
export const findProgram = (name: ProgramName): Promise<string | undefined> => findOrInstall(name, packages[name]);

/** Skips the test and records the missing program. */
export function skipWithout(name: ProgramName, { task, skip }: TestContext): never {
  task.meta.missing = name;
  return skip(`${name} is missing and could not be installed`);
}

export async function requireProgram(name: ProgramName, context: TestContext): Promise<string> {
  return (await findProgram(name)) ?? skipWithout(name, context);
}
