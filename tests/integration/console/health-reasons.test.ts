// Which clients may see readiness reasons, also during startup.
import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { expect, it } from "vitest";
import { canSeeReasons } from "@/lib/server/bff/authorize-subscription";
import { startComposition } from "@/lib/server/composition";
import { readEnv } from "@/lib/server/env";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";

it("responds to a load balancer immediately during a long start", async () => {
  const folder = createTemporaryFolder();
  const composition = startComposition({ env: readEnv({ LIGHTDESK_DATA_DIR: folder }), logDestination: { write: () => undefined } });
  let isReady = false;
  const ready = composition.ready.then(() => void (isReady = true));
  expect([await canSeeReasons(new IncomingMessage(new Socket())), isReady]).toEqual([false, false]);
  await ready;
  await composition.stop();
});
