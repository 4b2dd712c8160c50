import { startProcess } from "@/tests/support/start-process";
import { listFiles, startDesk } from "./support/desk";
import { startStalledUpload } from "./support/stalled-upload";
import { expect, test } from "./support/test";

test("reports an invalid setting and its valid values when startup fails", async () => {
  for (const command of [["bin/start.mjs"], ["bin/start.mjs", "service"]] as const) {
    const [script, ...args] = command;
    const child = startProcess(script, { PORT: "abc" }, args);
    expect(await child.exitCode, script).toBe(1);
    expect(child.output()).toContain("PORT must be a port number from 0 to 65535");
  }
});

test("starts with npm start, drains requests on Ctrl-C and exits with 0", async ({ context, request }) => {
  const desk = await startDesk({}, "bin/start.mjs");
  expect((await request.get(`${desk.url}/api/health`)).status()).toBe(200);
  // The start output contains no framework messages.
  expect(desk.output()).not.toContain("next.config");
  const secondProcess = startProcess("bin/start.mjs", { PORT: "0", LIGHTDESK_DATA_DIR: desk.dataDir });
  expect(await secondProcess.exitCode).toBe(1);
  expect(secondProcess.output()).toContain(`another Lightdesk uses ${desk.dataDir}. Stop it first.`);
  await desk.setUp(request);
  await desk.signIn(context);
  const fileCount = listFiles(desk).length;
  const upload = await startStalledUpload(context, desk);
  await expect.poll(() => listFiles(desk).length).toBe(fileCount + 1);

  const pendingExitCode = desk.stop("SIGINT");
  await expect.poll(() => acceptsConnections(desk.url)).toBe(false);
  expect(await upload.finish()).toBe(201);
  expect(await pendingExitCode, desk.output()).toBe(0);
});

/** Returns true while the process accepts connections. */
async function acceptsConnections(url: string): Promise<boolean> {
  return fetch(`${url}/api/health`).then(
    () => true,
    () => false,
  );
}
