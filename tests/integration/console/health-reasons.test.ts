// Who sees why the console is not ready, asked while the console is still starting.
import { mkdtemp, rm } from "node:fs/promises";
import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { maySeeReasons } from "@/lib/server/bff/admit-listener";
import { startComposition } from "@/lib/server/composition";
import { readEnv } from "@/lib/server/env";

it("a balancer is answered at once, however long the start takes", async () => {
  const folder = await mkdtemp(join(tmpdir(), "lightdesk-health-"));
  const desk = startComposition({ env: readEnv({ LIGHTDESK_DATA_DIR: folder }), logDestination: { write: () => undefined } });
  let isUp = false;
  const up = desk.ready.then(() => void (isUp = true));
  expect([await maySeeReasons(new IncomingMessage(new Socket())), isUp]).toEqual([false, false]);
  await up;
  await desk.stop();
  await rm(folder, { recursive: true });
});
