// Runs a child process, and stops it together with this process.
import { spawn } from "node:child_process";
import { constants, setPriority } from "node:os";

/**
 * Resolves with the exit code (128 + n after signal n) and the output. `isLowPriority`: runs at low priority.
 * @type {(command: string, args: readonly string[], options?: { cwd?: string, env?: NodeJS.ProcessEnv, inherit?: boolean, isLowPriority?: boolean }) => Promise<{ code: number, output: string }>}
 */
export function run(command, args, { cwd, env = process.env, inherit = false, isLowPriority = false } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, env, stdio: inherit ? ["ignore", "inherit", "inherit"] : ["ignore", "pipe", "pipe"] });
    if (isLowPriority && child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
    const chunks = [];
    child.stdout?.on("data", (chunk) => chunks.push(chunk));
    child.stderr?.on("data", (chunk) => chunks.push(chunk));

    const stop = (signal) => {
      child.kill(signal);
      process.exitCode = 128 + constants.signals[signal];
    };
    process.on("SIGINT", stop).on("SIGTERM", stop);

    const finish = (code, errorText = "") => {
      process.off("SIGINT", stop).off("SIGTERM", stop);
      resolve({ code, output: Buffer.concat(chunks).toString("utf8") + errorText });
    };
    child.on("error", (error) => finish(127, `${command}: ${error.message}\n`));
    child.on("close", (code, signal) => finish(code ?? 128 + constants.signals[signal ?? "SIGTERM"]));
  });
}
