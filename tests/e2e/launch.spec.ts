import { startProcess } from "@/tests/support/start-process";
import { listFiles, startDesk } from "./support/desk";
import { beginUpload } from "./support/half-upload";
import { expect, test } from "./support/test";

test("names a bad setting and its valid values when starting fails", async () => {
  for (const command of [["bin/start.mjs"], ["bin/start.mjs", "service"]] as const) {
    const [script, ...words] = command;
    const started = startProcess(script, { PORT: "abc" }, words);
    expect(await started.ended, script).toBe(1);
    expect(started.output()).toContain("PORT must be a port number from 0 to 65535");
  }
});

test("starts with npm start and drains requests on Ctrl-C before exiting with 0", async ({ context, request }) => {
  const desk = await startDesk({}, "bin/start.mjs");
  expect((await request.get(`${desk.url}/api/health`)).status()).toBe(200);
  // The start output lists the console's URLs and no framework messages.
  expect(desk.output()).not.toContain("next.config");
  const second = startProcess("bin/start.mjs", { PORT: "0", LIGHTDESK_DATA_DIR: desk.dataDir });
  expect(await second.ended).toBe(1);
  expect(second.output()).toContain(`another Lightdesk uses ${desk.dataDir}. Stop it first.`);
  await desk.setUp(request);
  await desk.signIn(context);
  const before = listFiles(desk).length;
  const upload = await beginUpload(context, desk);
  await expect.poll(() => listFiles(desk).length).toBe(before + 1);

  const stopped = desk.stop("SIGINT");
  await expect.poll(() => accepts(desk.url)).toBe(false);
  expect(await upload.finish()).toBe(201);
  expect(await stopped, desk.output()).toBe(0);
});

/** Whether the process still accepts connections. */
async function accepts(url: string): Promise<boolean> {
  return fetch(`${url}/api/health`).then(
    () => true,
    () => false,
  );
}
