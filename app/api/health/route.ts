import { jsonAnswer } from "@/lib/server/bff/answers";
import { unguarded } from "@/lib/server/bff/guard";
import { ok } from "@/lib/shared/result";

/** The guard waits until store and service are up: 200 means ready. */
export const GET = unguarded("health", () => Promise.resolve(ok(jsonAnswer({ status: "ok" }))));
