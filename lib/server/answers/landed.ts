// What a job that still runs has put out so far, and how far it is: services list outputs only of jobs that have ended, and tell of others on their WebSocket.
// Guarantees: it came through the same gate as what a listener of /ws hears; another key of the same connection has a feed of its own.
// Must never: hold up a request, or be told to whoever may not see the job, which the caller has judged.

import "server-only";
import { type Outputs } from "@/lib/contract/schemas/outputs";
import { composition } from "../composition";
import { type Target } from "../composition-type";
import { isWanted, type Told } from "./landed-outputs";
import { passMessages } from "./pass-messages";

type From = { connection: { id: string; baseUrl: string }; apiKey: string | undefined; fingerprint: string | undefined; target: Target };

/** Empty where nothing is known. */
export function landedOf(from: From, jobId: string): { outputs: Outputs; progress?: Told["progress"] } {
  return hearLanded(from).get(jobId) ?? { outputs: {} };
}

/** From now on: before a job is submitted, so that nothing of it is missed. */
export function hearLanded(from: From): ReadonlyMap<string, Told> {
  const { landed, listenTo, clientId } = composition();
  const { connection, fingerprint = "", target: service } = from;
  return landed.at([connection.id, connection.baseUrl, fingerprint].join(" "), (target) => {
    const clean = passMessages(from, target);
    return listenTo(service, clientId, { send: (message) => (isWanted(message) ? clean.send(message) : undefined), end: clean.end });
  });
}
