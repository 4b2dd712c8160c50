import { z } from "zod";
import { runnerAddressSchema } from "@/lib/contract/runners/runners";
import { consoleBodyRoute } from "@/lib/server/bff/routes";
import { createJsonResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

const schema = z.object({ address: runnerAddressSchema });

/** Requires the same rights as adding a runner, because it connects to the address. */
export const POST = consoleBodyRoute(
  "checkRunner",
  { role: "admin", needsRecentSignIn: true },
  schema,
  async ({ composition, annotateAudit }, { address }) => {
    const check = await composition.serviceRunners().check(address);
    annotateAudit({ target: address, outcome: check.ok ? "fine" : check.code });
    return ok(createJsonResponse({ check }));
  },
);
