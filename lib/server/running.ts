// Where the composition of this process is found: on globalThis, because the bundler loads one module several times.
// Free of everything else, so that the launcher can look without loading a database, a service or a framework a second time.

import "server-only";
import { type Composition } from "./composition-type";

const place = Symbol.for("lightdesk");
const failurePlace = Symbol.for("lightdesk.start-failure");

export function runningComposition(): Composition | undefined {
  const found: Composition | undefined = Reflect.get(globalThis, place);
  return found;
}

export function setRunningComposition(composition: Composition | undefined): void {
  Reflect.set(globalThis, place, composition);
}

/** Next keeps an error of instrumentation to itself; the launcher wants to say why there is no console. */
export function keepStartFailure(error: unknown): void {
  Reflect.set(globalThis, failurePlace, error);
}

export function startFailure(): unknown {
  return Reflect.get(globalThis, failurePlace);
}
