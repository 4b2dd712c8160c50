// Requests from below the address of an embedded session, as the routes know them: the place in a header, files and /api at their own address.
// Guarantees: the header says what the address says, whatever a client sent; while a request is answered, `place()` is its place.
// Must never: decide anything: the session is judged where every other credential is.
import { AsyncLocalStorage } from "node:async_hooks";
import { type IncomingMessage } from "node:http";
import { keepPlaces, PLACE_HEADER, placeOf } from "@/lib/shared/place";

/** Makes `place()` answer on this server. */
export function createPlaces(): { answerAt<T>(request: IncomingMessage, answer: () => T): T } {
  const places = new AsyncLocalStorage<string>();
  keepPlaces(places);
  return {
    answerAt(request, answer) {
      delete request.headers[PLACE_HEADER];
      const found = placeAt(request.url ?? "");
      if (!found) return answer();
      request.headers[PLACE_HEADER] = found.path;
      // Not by Next's own proxy, which cuts the body of an upload. Pages are led to theirs by it (proxy.ts).
      if (/^\/(api|samples)(?=[/?]|$)/.test(found.rest)) request.url = found.rest;
      return places.run(found.path, answer);
    },
  };
}

/** What is answered as data, never as a page. */
export function isApi(path: string): boolean {
  return /^\/api(\/|$)/.test(placeAt(path)?.rest ?? path);
}

/** The base path is already removed: later in an address these may be names of files. */
export function placeAt(address: string): ReturnType<typeof placeOf> {
  const found = placeOf(address);
  return found && address.startsWith(found.path) ? found : undefined;
}
