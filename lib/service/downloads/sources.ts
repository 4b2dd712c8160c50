import { lookup as systemLookup } from "node:dns";
import { Agent, buildConnector } from "undici";
import { getOwn } from "@/lib/contract/json/json";
import { createPublicConnector, isIpAddress, isPrivateAddress, type Resolve } from "@/lib/shared/guarded-connector";
import { isPublicAddress } from "@/lib/shared/ip-address";
import { ServiceError } from "../service-error";

export const defaultDownloadHosts: readonly string[] = ["huggingface.co", "civitai.com"];

const MAX_NAMED_HOSTS = 10;

/** Storage hosts of huggingface.co (https://huggingface.co/.well-known/meta.json) and civitai.com. */
const storageHosts: Readonly<Record<string, readonly string[]>> = {
  "huggingface.co": ["xethub.hf.co", "xethub-eu.hf.co", "cdn.hf.co", "cdn-lfs.hf.co", "cdn-lfs-us-1.hf.co", "cdn-lfs-eu-1.hf.co"],
  "civitai.com": ["civitai-delivery-worker-prod.5ac0637cfd0766c97916cefa3764fbdf.r2.cloudflarestorage.com"],
};

export type SourcePolicy = {
  description: string;
  isPermitted(url: URL): boolean;
  /** True if exactly this origin is configured. It is permitted at any address. */
  isTrustedOrigin(url: URL): boolean;
  canRedirectTo(source: URL, target: URL): boolean;
};

export function createSourcePolicy(entries: readonly string[]): SourcePolicy {
  const origins = new Set(entries.filter((entry) => /^https?:\/\//i.test(entry)).map((entry) => new URL(entry).origin));
  const hosts = entries.filter((entry) => !/^https?:\/\//i.test(entry)).map((host) => host.toLowerCase());
  const isTrustedOrigin = (url: URL) => hasNoCredentials(url) && origins.has(url.origin);
  const isPermitted = (url: URL) => isTrustedOrigin(url) || (isPlainHttps(url) && hosts.some((host) => isHostOrSubdomain(url, host)));
  return {
    description: describeSources(hosts, origins.size),
    isTrustedOrigin,
    isPermitted,
    canRedirectTo: (source, target) =>
      isPermitted(target) ||
      (isPlainHttps(target) &&
        hosts.some(
          (host) =>
            isHostOrSubdomain(source, host) && (getOwn(storageHosts, host) ?? []).some((cdnHost) => isHostOrSubdomain(target, cdnHost)),
        )),
  };
}

export function requireSource(policy: SourcePolicy, text: string, field: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !policy.isPermitted(url))
    throw new ServiceError("UNSUPPORTED_SOURCE", `${field}: this service downloads ${policy.description}.`, { field });
  url.hash = "";
  return url;
}

export function createInternalAddressError(field?: string): ServiceError {
  const reason = "source resolves to an address inside the network.";
  return field === undefined
    ? new ServiceError("UNSUPPORTED_SOURCE", `The ${reason}`)
    : new ServiceError("UNSUPPORTED_SOURCE", `${field}: the ${reason}`, { field });
}

function describeSources(hosts: readonly string[], unlistedCount: number): string {
  if (hosts.length === 0) return unlistedCount === 0 ? "from no source" : "only from sources that its operator configured";
  const hiddenCount = Math.max(0, hosts.length - MAX_NAMED_HOSTS) + unlistedCount;
  return `only from ${hosts.slice(0, MAX_NAMED_HOSTS).join(", ")}${hiddenCount > 0 ? ` and ${hiddenCount} more` : ""}`;
}

function isPlainHttps(url: URL): boolean {
  return url.protocol === "https:" && url.port === "" && hasNoCredentials(url);
}

function hasNoCredentials(url: URL): boolean {
  return url.username === "" && url.password === "";
}

function isHostOrSubdomain(url: URL, host: string): boolean {
  return url.hostname === host || url.hostname.endsWith(`.${host}`);
}

export type SourceAgents = ReturnType<typeof createSourceAgents>;

const CONNECT_TIMEOUT_MS = 10_000;
const LOOKUP_TIMEOUT_MS = 2000;

export function createSourceAgents(resolve: Resolve = systemLookup) {
  const connect = createPublicConnector({ resolve, createError: createInternalAddressError }, (lookup) =>
    buildConnector({ timeout: CONNECT_TIMEOUT_MS, lookup }),
  );
  const publicAgent = new Agent({ connect });
  const trustedAgent = new Agent({ connect: { timeout: CONNECT_TIMEOUT_MS } });

  return {
    getAgent: (isTrusted: boolean) => (isTrusted ? trustedAgent : publicAgent),

    /** For an early rejection. A name that doesn't resolve in time is checked by the download. */
    resolvesToPrivateAddress(url: URL): Promise<boolean> {
      if (isIpAddress(url.hostname)) return Promise.resolve(isPrivateAddress(url.hostname));
      return new Promise((settle) => {
        const timer = setTimeout(() => settle(false), LOOKUP_TIMEOUT_MS);
        resolve(url.hostname, { all: true }, (error, addresses) => {
          clearTimeout(timer);
          settle(!error && addresses.some(({ address }) => !isPublicAddress(address)));
        });
      });
    },

    close: async () => {
      await Promise.all([publicAgent.destroy(), trustedAgent.destroy()]);
    },
  };
}
