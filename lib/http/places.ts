// Rewrites requests below the address of an embedded session for the routes: the place goes into a header; files and /api get their usual
// address.
// Guarantees: the header comes from the address, whatever a client sent; while a request is answered, `place()` is its place.
// Must never: decide anything: the session is checked together with every other credential.
import { AsyncLocalStorage } from "node:async_hooks";
import { type IncomingMessage } from "node:http";
import { keepPlaces, PLACE_HEADER, placeOf } from "@/lib/shared/place";

/** Makes `place()` work on this server. */
export function createPlaces(): { answerAt<T>(request: IncomingMessage, answer: () => T): T } {
  const places = new AsyncLocalStorage<string>();
  keepPlaces(places);
  return {
    answerAt(request, answer) {
      delete request.headers[PLACE_HEADER];
      const found = placeAt(request.url ?? "");
      if (!found) return answer();
      request.headers[PLACE_HEADER] = found.path;
      // Not left to Next's own proxy, which cuts off the body of an upload. For pages it rewrites the address (proxy.ts).
      if (/^\/(api|samples)(?=[/?]|$)/.test(found.rest)) request.url = found.rest;
      return places.run(found.path, answer);
    },
  };
}

/** True for addresses that are answered as data, never as a page. */
export function isApi(path: string): boolean {
  return /^\/api(\/|$)/.test(placeAt(path)?.rest ?? path);
}

/** The base path is removed already: later in an address, the same text may be the name of a file. */
export function placeAt(address: string): ReturnType<typeof placeOf> {
  const found = placeOf(address);
  return found && address.startsWith(found.path) ? found : undefined;
}
