// Which clients may see readiness reasons, also during startup.
import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { expect, it } from "vitest";
import { canSeeReasons } from "@/lib/server/bff/admit-listener";
import { startComposition } from "@/lib/server/composition";
import { readEnv } from "@/lib/server/env";
import { temporaryFolder } from "@/tests/support/temporary-folder";

it("responds to a load balancer immediately during a long start", async () => {
  const folder = temporaryFolder();
  const desk = startComposition({ env: readEnv({ LIGHTDESK_DATA_DIR: folder }), logDestination: { write: () => undefined } });
  let isUp = false;
  const up = desk.ready.then(() => void (isUp = true));
  expect([await canSeeReasons(new IncomingMessage(new Socket())), isUp]).toEqual([false, false]);
  await up;
  await desk.stop();
});
