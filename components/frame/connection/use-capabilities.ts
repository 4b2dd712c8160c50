import useSWR from "swr";
import { create } from "zustand";
import { callApi, onResponse } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { withQuery } from "@/lib/browser/urls";
import { type Capabilities, type Capability, isCapability } from "@/lib/contract/capabilities";
import { isMissingOperation } from "@/lib/contract/failure";
import { asText, isObject } from "@/lib/contract/json/json";

type MissingCapabilities = Readonly<Record<string, ReadonlySet<Capability>>>;
const none: ReadonlySet<Capability> = new Set();
const useMissing = create<MissingCapabilities>(() => ({}));

/** An action that a service refused as absent is no longer offered in this tab. */
onResponse(({ path, method, failure }) => {
  if (method === "GET") return;
  const details = failure && isMissingOperation(failure) && isObject(failure.details) ? failure.details : {};
  const capability = asText(details.capability);
  const connection = new URL(path, "http://localhost").searchParams.get("connection");
  if (connection === null || capability === undefined || !isCapability(capability)) return;
  useMissing.setState((all) => ({ [connection]: new Set([...(all[connection] ?? none), capability]) }));
});

/**
 * The capabilities of a service, found by read-only requests. A capability is absent once one of its actions was refused as unsupported. Without
 * a connection nothing is requested. `dir`: a folder with a file, which some checks need.
 */
export function useCapabilities(connection: string | undefined, of: readonly Capability[], dir?: string) {
  const path = connection === undefined ? null : withQuery("/api/console/capabilities", { of: of.join(","), dir, connection });
  const { data: current, error, isLoading } = useSWR<LoadedCapabilities, ApiFailure>(path && [path, connection], readCapabilities, options);
  // Keeps earlier data while another folder is checked, for the same service only.
  const data = current?.connection === connection ? current?.capabilities : undefined;
  const refused = useMissing((all) => (connection === undefined ? none : (all[connection] ?? none)));
  return {
    /** Undefined: unknown or not loaded yet. */
    has: (capability: Capability): boolean | undefined => (refused.has(capability) ? false : (data?.[capability] ?? undefined)),
    /** Whether an action was refused as unsupported. */
    isRefused: (capability: Capability) => refused.has(capability),
    isLoading: isLoading && data === undefined,
    failure: error,
  };
}

const options = { revalidateOnFocus: false, shouldRetryOnError: false, keepPreviousData: true };

type LoadedCapabilities = { connection: string; capabilities: Capabilities };
async function readCapabilities([path, connection]: [`/${string}`, string]): Promise<LoadedCapabilities> {
  const result = await callApi<Capabilities>(path, { cache: "no-store" });
  if (!result.ok) throw result.failure;
  return { connection, capabilities: result.value };
}
