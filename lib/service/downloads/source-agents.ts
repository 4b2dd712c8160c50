// The connections to sources.
// Guarantees: except for origins that the configuration names, nothing inside the network is connected to, whatever name or redirect led
// there, and whatever the name resolves to at that moment.

import { lookup as systemLookup } from "node:dns";
import { Agent, buildConnector } from "undici";
import { isAddress, isInside, publicConnector, type Resolve } from "@/lib/shared/guarded-connector";
import { isPublicAddress } from "@/lib/shared/ip-address";
import { insideTheNetwork } from "./sources";

export type SourceAgents = ReturnType<typeof createSourceAgents>;

const CONNECT_TIMEOUT_MS = 10_000;
const LOOKUP_PATIENCE_MS = 2000;

export function createSourceAgents(resolve: Resolve = systemLookup) {
  const connect = publicConnector({ resolve, refusal: insideTheNetwork }, (lookup) =>
    buildConnector({ timeout: CONNECT_TIMEOUT_MS, lookup }),
  );
  const outside = new Agent({ connect });
  const anywhere = new Agent({ connect: { timeout: CONNECT_TIMEOUT_MS } });

  return {
    agentFor: (isTrusted: boolean) => (isTrusted ? anywhere : outside),

    /**
     * For an early refusal: true if the host is, or now resolves to, an address inside the network. A name that does not resolve in a
     * moment is left to the attempt itself.
     */
    leadsInside(url: URL): Promise<boolean> {
      if (isAddress(url.hostname)) return Promise.resolve(isInside(url.hostname));
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
