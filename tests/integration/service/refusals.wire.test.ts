// What is settled before a route's own code, on a real connection.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { serviceCommand, type ServiceProcess, startServiceProcess } from "@/tests/support/service-process";

let service: ServiceProcess;
let key: string;
let dataDir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "lightdesk-refusals-"));
  key = await serviceCommand(dataDir, "keys", "create", "--user", "ada");
  service = await startServiceProcess(dataDir, { LIGHTDESK_REQUEST_TIMEOUT_SECONDS: "1" });
});
afterAll(async () => {
  expect(await service.stop()).toBe(0);
  await rm(dataDir, { recursive: true, force: true });
});

it("a packed body is refused by its header's name, one that is called identity is read", async () => {
  const send = (encoding: string) =>
    fetch(`${service.url}/api/userdata/packed.txt`, {
      method: "POST",
      headers: { "x-api-key": key, "content-encoding": encoding },
      body: "x",
    });
  const refused = await send("gzip");
  expect(refused.status).toBe(415);
  expect(await refused.text()).toContain("Content-Encoding");
  expect((await send("identity")).status).toBe(200);
});
