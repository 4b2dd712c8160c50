// Finds this process's composition: on globalThis, because the bundler loads one module several times.
// Has no other imports, so that the launcher can look without loading a database, a service or a framework a second time.

import "server-only";
import { type IncomingMessage } from "node:http";
import { sleep } from "@/lib/shared/async";
import { type FeedAdmission, type VisitorRules } from "@/lib/shared/http-types";
import { type Composition } from "./composition-type";

const place = Symbol.for("lightdesk");
const failurePlace = Symbol.for("lightdesk.start-failure");
const listenersPlace = Symbol.for("lightdesk.listeners");
const reasonsPlace = Symbol.for("lightdesk.reasons");
const visitorsPlace = Symbol.for("lightdesk.visitors");
const LOOK_EVERY_MS = 10;

export function runningComposition(): Composition | undefined {
  const found: Composition | undefined = Reflect.get(globalThis, place);
  return found;
}

export function setRunningComposition(composition: Composition | undefined): void {
  Reflect.set(globalThis, place, composition);
}

/** Next swallows an error of instrumentation; the launcher needs it to say why there is no console. */
export function keepStartFailure(error: unknown): void {
  Reflect.set(globalThis, failurePlace, error);
}

type AdmitListener = (request: IncomingMessage) => Promise<FeedAdmission>;

/** The routes decide who may listen, but the launcher has the sockets. */
export function keepAdmission(admit: AdmitListener): void {
  Reflect.set(globalThis, listenersPlace, admit);
}

export function keptAdmission(): AdmitListener | undefined {
  const found: AdmitListener | undefined = Reflect.get(globalThis, listenersPlace);
  return found;
}

/** The same for clients without a session. */
export function keepVisitorRules(rules: VisitorRules): void {
  Reflect.set(globalThis, visitorsPlace, rules);
}

export function keptVisitorRules(): VisitorRules | undefined {
  const found: VisitorRules | undefined = Reflect.get(globalThis, visitorsPlace);
  return found;
}

type MaySee = (request: IncomingMessage) => Promise<boolean>;

/** Likewise for the decision who may see why the console is not ready. */
export function keepReasonsCheck(check: MaySee): void {
  Reflect.set(globalThis, reasonsPlace, check);
}

export function keptReasonsCheck(): MaySee | undefined {
  const found: MaySee | undefined = Reflect.get(globalThis, reasonsPlace);
  return found;
}

/** Next may be prepared a moment before its instrumentation has run. Throws the start's error, or that there was no start in time. */
export async function waitForComposition(patienceMs: number): Promise<Composition> {
  for (const end = Date.now() + patienceMs; Date.now() < end;) {
    const failure: unknown = Reflect.get(globalThis, failurePlace);
    if (failure !== undefined) throw failure;
    const found = runningComposition();
    if (found) return found;
    await sleep(LOOK_EVERY_MS);
  }
  throw new Error("The build is not complete: remove the folder .next and start again.");
}
