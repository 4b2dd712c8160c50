// Runs `npm run conformance` as a separate process.
import { execFile } from "node:child_process";

export type CommandResult = { code: number; output: string };

export function runConformance(...args: string[]): Promise<CommandResult> {
  const env: NodeJS.ProcessEnv = { PATH: process.env.PATH, HOME: process.env.HOME, NODE_ENV: "production" };
  return new Promise((resolve) => {
    execFile(process.execPath, ["bin/conformance.mjs", ...args], { env }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === "number" ? error.code : error ? -1 : 0, output: stdout + stderr }),
    );
  });
}
