// Runs the samples in one small process. Starting Node per sample, or programs from the large test process, takes far longer.
import { exec } from "node:child_process";
import { promisify } from "node:util";

process.on("message", async (sample) => process.send(await runSample(sample).catch(({ message }) => ({ isOk: false, text: message }))));

async function runSample({ command, script }) {
  if (command !== undefined) return runCommand(command);
  let text = "";
  console.log = (value) => void (text += JSON.stringify(value));
  await import(script);
  return { isOk: true, text };
}

async function runCommand(command) {
  const { stdout, stderr, code } = await promisify(exec)(command).catch((error) => error);
  return { isOk: code === undefined, text: stdout + stderr };
}
