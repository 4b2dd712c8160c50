// Files that are given to an app's run, on this machine until they are at its service.
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { startComposition } from "@/lib/server/composition";
import { type AppWorld, createAppWorld } from "./app-world";

let world: AppWorld;
afterEach(() => world.dispose());

test("a form that stops coming is not waited for, and nothing of it stays", async () => {
  world = await createAppWorld({ settings: { LIGHTDESK_REQUEST_TIMEOUT_SECONDS: "1" } });
  const app = await world.make();
  const head = '--b\r\nContent-Disposition: form-data; name="picture"; filename="a.png"\r\n\r\nthe beginning';
  const body = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(new TextEncoder().encode(head)) });
  const headers = { "content-type": "multipart/form-data; boundary=b" };
  const answer = await world.ask(`/api/apps/${app.id}/runs`, { as: "runner", method: "POST", body, headers });
  expect(answer).toMatchObject({ status: 408, body: { code: "REQUEST_TIMEOUT" } });
  expect(await readdir(join(world.harness.folder, "forms"))).toEqual([]);
});

test("what a console that was killed left of forms is gone when it starts again", async () => {
  world = await createAppWorld();
  const { folder, console } = world.harness;
  await mkdir(join(folder, "forms", "form-left"), { recursive: true });
  await writeFile(join(folder, "forms", "form-left", "a"), "x");
  await console.stop();
  const again = startComposition({ env: console.env });
  await again.ready;
  expect(await readdir(folder)).not.toContain("forms");
  await again.stop();
});
