// Starts a process of this project from its bundle and parses the URLs it prints.
import { spawn } from "node:child_process";
import { once } from "node:events";

export type StartedProcess = {
  pid: number;
  /** Waits for a line `label: text` on stdout and returns its text. Fails if the process ends first. */
  waitForOutput(label: string): Promise<string>;
  /** Returns everything it printed to both streams. */
  output(): string;
  /** Resolves with the exit code, or null after a signal that it did not handle. */
  exitCode: Promise<number | null>;
  stop(signal?: NodeJS.Signals): Promise<number | null>;
};

/** Settings of the developer's shell must not reach the process under test. */
const inheritedNames = ["PATH", "HOME", "TMPDIR", "LANG", "SystemRoot"];

/** `script` is relative to `cwd`, by default the project's folder. `descriptors` limits its open files. */
export function startProcess(
  script: string,
  settings: Record<string, string>,
  args: readonly string[] = [],
  { descriptors, ...spawnOptions }: { descriptors?: number; cwd?: string; uid?: number; gid?: number } = {},
): StartedProcess {
  const inherited = Object.fromEntries(
    inheritedNames.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
  const env: NodeJS.ProcessEnv = { ...inherited, NODE_ENV: "production", NEXT_TELEMETRY_DISABLED: "1", ...settings };
  const command = [process.execPath, script, ...args];
  const limitedCommand = descriptors === undefined ? command : ["/bin/sh", "-c", `ulimit -n ${descriptors} && exec "$@"`, "sh", ...command];
  const child = spawn(limitedCommand[0] ?? "", limitedCommand.slice(1), { env, ...spawnOptions, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  let wake = (): void => undefined;
  const collect = (chunk: Buffer): void => {
    output += chunk.toString("utf8");
    wake();
  };
  child.stdout.on("data", collect);
  child.stderr.on("data", collect);
  const exitCode = once(child, "close").then(() => {
    wake();
    return child.exitCode;
  });

  const waitForOutput = async (label: string): Promise<string> => {
    const line = new RegExp(`^${label}: (\\S+)`, "m");
    for (;;) {
      const value = line.exec(output)?.[1];
      if (value !== undefined) return value;
      if (child.exitCode !== null || child.signalCode !== null)
        throw new Error(`${script} ended (${child.exitCode}) before it printed "${label}":\n${output}`);
      await new Promise<void>((resolve) => (wake = resolve));
    }
  };
  const stop = async (signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    return exitCode;
  };
  return { pid: child.pid ?? 0, waitForOutput, output: () => output, exitCode, stop };
}

/** Runs a script to its end. */
export async function runProcess(script: string, settings: Record<string, string>, args: readonly string[] = []) {
  const { exitCode, output } = startProcess(script, settings, args);
  return { code: await exitCode, output: output() };
}

/** Starts another program, without waiting for output. */
export function startProgram(program: string, args: string[], home: string): StartedProcess {
  const settings: NodeJS.ProcessEnv = {
    NODE_ENV: "production",
    PATH: process.env.PATH,
    HOME: home,
    XDG_DATA_HOME: home,
    XDG_CONFIG_HOME: home,
  };
  const child = spawn(program, args, { env: settings, stdio: "ignore" });
  const exitCode = once(child, "close").then(() => child.exitCode);
  const stop = (signal: NodeJS.Signals = "SIGTERM") => {
    // nginx's workers survive a SIGKILL of their master, but not a SIGTERM.
    child.kill(signal === "SIGKILL" ? "SIGTERM" : signal);
    return exitCode;
  };
  return {
    pid: child.pid ?? 0,
    waitForOutput: () => Promise.reject(new Error("The output of this program is not captured.")),
    output: () => "",
    exitCode,
    stop,
  };
}
