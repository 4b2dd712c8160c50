import { request as httpRequest } from "node:http";
import { type BrowserContext } from "@playwright/test";
import { startProcess } from "@/tests/support/start-process";
import { type Desk, listFiles, startDesk } from "./support/desk";
import { expect, test } from "./support/test";

test("starts with npm start, drains requests on Ctrl-C and exits with 0", async ({ context, request }) => {
  const desk = await startDesk({}, "bin/start.mjs");
  expect((await request.get(`${desk.url}/api/health`)).status()).toBe(200);
  // The start output contains no framework messages.
  expect(desk.output()).not.toContain("next.config");
  const secondProcess = startProcess("bin/start.mjs", { PORT: "0", LIGHTDESK_DATA_DIR: desk.dataDir });
  expect(await secondProcess.exitCode).toBe(1);
  expect(secondProcess.output()).toContain(`another Lightdesk uses ${desk.dataDir}. Stop it first.`);
  const invalidProcess = startProcess("bin/start.mjs", { PORT: "abc" });
  expect(await invalidProcess.exitCode).toBe(1);
  expect(invalidProcess.output()).toContain("PORT must be a port number from 0 to 65535");
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

/** An upload that stalls halfway: `finish` sends the second half and resolves with the response status. */
type StalledUpload = { finish(): Promise<number> };

const halfBody = Buffer.alloc(500_000, "x");
const part = (name: string, extra: string) => `--edge\r\nContent-Disposition: form-data; name="${name}"${extra}\r\n\r\n`;
const head = part("tags", "") + '["input"]\r\n' + part("file", '; filename="half.bin"\r\nContent-Type: application/octet-stream');
const tail = "\r\n--edge--\r\n";

async function startStalledUpload(context: BrowserContext, desk: Desk): Promise<StalledUpload> {
  const cookies = await context.cookies(desk.url);
  const request = httpRequest(`${desk.url}/api/assets`, {
    method: "POST",
    headers: {
      origin: desk.url,
      cookie: cookies.map(({ name, value }) => `${name}=${value}`).join("; "),
      "content-type": "multipart/form-data; boundary=edge",
      "content-length": Buffer.byteLength(head) + 2 * halfBody.length + Buffer.byteLength(tail),
    },
  });
  const pendingStatus = new Promise<number>((resolve, reject) => {
    request.once("error", reject);
    request.once("response", (response) => resolve(response.resume().statusCode ?? 0));
  });
  request.write(head);
  await new Promise<void>((resolve) => request.write(halfBody, () => resolve()));
  return {
    finish() {
      request.write(halfBody);
      request.end(tail);
      return pendingStatus;
    },
  };
}
