// Where the composition of this process is found: on globalThis, because the bundler loads one module several times.
// Free of everything else, so that the launcher can look without loading a database, a service or a framework a second time.

import "server-only";
import { type Composition } from "./composition-type";

const place = Symbol.for("lightdesk");

export function runningComposition(): Composition | undefined {
  const found: Composition | undefined = Reflect.get(globalThis, place);
  return found;
}

export function setRunningComposition(composition: Composition | undefined): void {
  Reflect.set(globalThis, place, composition);
}
