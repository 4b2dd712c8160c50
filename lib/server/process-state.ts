// Stores this process's composition on globalThis, because the bundler loads modules several times.
// Has few imports, so that the launcher doesn't load a database, a service or a framework twice.

import "server-only";
import { type IncomingMessage, type ServerResponse } from "node:http";
import { sleep } from "@/lib/shared/async";
import { type FeedAdmission, type VisitorRules } from "@/lib/shared/http-types";
import { type Composition } from "./composition-type";

const STATE_KEY = Symbol.for("lightdesk");
const POLL_MS = 10;

/** Passed from instrumentation to the launcher, which reports a failed startup, because Next swallows that error. */
type ProcessState = {
  composition?: Composition;
  startFailure?: unknown;
  authorizeSubscription?: (request: IncomingMessage) => Promise<FeedAdmission>;
  canSeeReasons?: (request: IncomingMessage) => Promise<boolean>;
  /** For clients without a session. */
  visitorRules?: VisitorRules;
  /** Lists that the launcher serves without Next, by path. */
  directReads?: Map<string, (request: IncomingMessage, response: ServerResponse) => Promise<void>>;
};

export function getProcessState(): ProcessState {
  const existingState: ProcessState | undefined = Reflect.get(globalThis, STATE_KEY);
  const state = existingState ?? {};
  Reflect.set(globalThis, STATE_KEY, state);
  return state;
}

/** Next may be ready shortly before its instrumentation has run. Throws the startup error, or an error after `timeoutMs`. */
export async function waitForComposition(timeoutMs: number): Promise<Composition> {
  for (const deadlineMs = Date.now() + timeoutMs; Date.now() < deadlineMs;) {
    const { startFailure, composition } = getProcessState();
    if (startFailure !== undefined) throw startFailure;
    if (composition) return composition;
    await sleep(POLL_MS);
  }
  throw new Error("The build is incomplete. Remove the folder .next and start again.");
}
