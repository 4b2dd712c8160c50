// The connections to sources. Guarantees: outside the origins that the configuration names, nothing inside the network is connected to,
// whatever name or redirect led there. The addresses that a name resolves to are judged in the very look-up whose result is connected
// to, and the connected socket's own address is judged again: a name that changes its mind in between gains nothing.

import { lookup as systemLookup, type LookupAddress, type LookupOptions } from "node:dns";
import { isIP } from "node:net";
import { Agent, buildConnector } from "undici";
import { isPublicAddress } from "@/lib/shared/ip-address";
import { insideTheNetwork } from "./sources";

type All = LookupOptions & { all: true };
export type Resolve = (host: string, options: All, done: (error: Error | null, addresses: LookupAddress[]) => void) => void;
type LookupCallback = (error: Error | null, address: string | LookupAddress[], family?: number) => void;

export type SourceAgents = ReturnType<typeof createSourceAgents>;

const CONNECT_TIMEOUT_MS = 10_000;
const LOOKUP_PATIENCE_MS = 2000;

export function createSourceAgents(resolve: Resolve = systemLookup) {
  const guarded = buildConnector({ timeout: CONNECT_TIMEOUT_MS, lookup: publicOnly });
  const connect: buildConnector.connector = (target, done) => {
    if (isInside(target.hostname)) return done(insideTheNetwork(), null);
    guarded(target, (...outcome) => {
      const [error, socket] = outcome;
      if (error !== null || isPublicAddress(socket.remoteAddress ?? "")) return done(...outcome);
      socket.destroy();
      done(insideTheNetwork(), null);
    });
  };
  const outside = new Agent({ connect });
  const anywhere = new Agent({ connect: { timeout: CONNECT_TIMEOUT_MS } });

  function publicOnly(host: string, options: LookupOptions, done: LookupCallback): void {
    resolve(host, { ...options, all: true }, (error, addresses) => {
      const [first] = error ? [] : addresses;
      if (!first) return done(error ?? new Error(`no address for ${host}`), []);
      if (!addresses.every(({ address }) => isPublicAddress(address))) return done(insideTheNetwork(), []);
      return options.all ? done(null, addresses) : done(null, first.address, first.family);
    });
  }

  return {
    agentFor: (isTrusted: boolean) => (isTrusted ? anywhere : outside),

    /**
     * For an early refusal: true where the host is, or now resolves to, an address inside. A name that does not resolve in a moment is
     * left to the attempt itself.
     */
    leadsInside(url: URL): Promise<boolean> {
      if (isIP(bare(url.hostname)) !== 0) return Promise.resolve(isInside(url.hostname));
      return new Promise((settle) => {
        const timer = setTimeout(() => settle(false), LOOKUP_PATIENCE_MS);
        resolve(url.hostname, { all: true }, (error, addresses) => {
          clearTimeout(timer);
          settle(!error && addresses.some(({ address }) => !isPublicAddress(address)));
        });
      });
    },

    close: async () => {
      await Promise.all([outside.destroy(), anywhere.destroy()]);
    },
  };
}

/** A literal address is never looked up. */
function isInside(hostname: string): boolean {
  return isIP(bare(hostname)) !== 0 && !isPublicAddress(bare(hostname));
}

function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, "");
}
