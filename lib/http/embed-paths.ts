// Rewrites requests below the address of an embedded session for the routes: the path of the session goes into a header; files and /api get their usual
// address.
// Guarantees: the header comes from the address, whatever a client sent; while a request is answered, `embedPath()` is its session's path.
// Must never: decide anything: the session is checked together with every other credential.
import { AsyncLocalStorage } from "node:async_hooks";
import { type IncomingMessage } from "node:http";
import { EMBED_PATH_HEADER, embedAddressOf, keepEmbedPaths } from "@/lib/shared/embed-path";

/** Makes `embedPath()` work on this server. */
export function createEmbedPaths(): { answerAt<T>(request: IncomingMessage, answer: () => T): T } {
  const paths = new AsyncLocalStorage<string>();
  keepEmbedPaths(paths);
  return {
    answerAt(request, answer) {
      delete request.headers[EMBED_PATH_HEADER];
      const found = embedAddressAt(request.url ?? "");
      if (!found) return answer();
      request.headers[EMBED_PATH_HEADER] = found.path;
      // Not left to Next's own proxy, which cuts off the body of an upload. For pages it rewrites the address (proxy.ts).
      if (/^\/(api|samples)(?=[/?]|$)/.test(found.rest)) request.url = found.rest;
      return paths.run(found.path, answer);
    },
  };
}

/** True for addresses that are answered as data, never as a page. */
export function isApi(path: string): boolean {
  return /^\/api(\/|$)/.test(embedAddressAt(path)?.rest ?? path);
}

/** The base path is removed already: later in an address, the same text may be the name of a file. */
export function embedAddressAt(address: string): ReturnType<typeof embedAddressOf> {
  const found = embedAddressOf(address);
  return found && address.startsWith(found.path) ? found : undefined;
}
