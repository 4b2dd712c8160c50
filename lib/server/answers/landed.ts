// The outputs and progress so far of a job that still runs. Services list outputs only of ended jobs, and report others on their WebSocket.
// Guarantees: messages pass the same gate as those for a listener of /ws; each key of a connection has its own feed.
// Must never: hold up a request, or tell a viewer who may not see the job (the caller has checked that).

import "server-only";
import { type Outputs } from "@/lib/contract/schemas/outputs";
import { composition } from "../composition";
import { type Target } from "../composition-type";
import { isWanted, type LiveReport } from "./landed-outputs";
import { passMessages } from "./pass-messages";

type From = { connection: { id: string; baseUrl: string }; apiKey: string | undefined; fingerprint: string | undefined; target: Target };

/** Empty if nothing is known. */
export function landedOf(from: From, jobId: string): { outputs: Outputs; progress?: LiveReport["progress"] } {
  return listenForLanded(from).get(jobId) ?? { outputs: {} };
}

/** Starts listening. Call it before a job is submitted, so that nothing of the job is missed. */
export function listenForLanded(from: From): ReadonlyMap<string, LiveReport> {
  const { landed, listenTo, clientId } = composition();
  const { connection, fingerprint = "", target: service } = from;
  return landed.at([connection.id, connection.baseUrl, fingerprint].join(" "), (target) => {
    const clean = passMessages(from, target);
    return listenTo(service, clientId, { send: (message) => (isWanted(message) ? clean.send(message) : undefined), end: clean.end });
  });
}
