import useSWR from "swr";
import { create } from "zustand";
import { callApi, onResponse } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/api-failure";
import { withQuery } from "@/lib/browser/urls";
import { type Capabilities, type Capability, isCapability } from "@/lib/contract/capabilities";
import { isMissingOperation } from "@/lib/contract/failure";
import { asText, isObject } from "@/lib/contract/json/json";

type MissingCapabilities = Readonly<Record<string, ReadonlySet<Capability>>>;
const noCapabilities: ReadonlySet<Capability> = new Set();
const useMissingCapabilities = create<MissingCapabilities>(() => ({}));

/** Hides an action in this tab once the service has rejected it as unsupported. */
onResponse(({ path, method, failure }) => {
  if (method === "GET") return;
  const details = failure && isMissingOperation(failure) && isObject(failure.details) ? failure.details : {};
  const capability = asText(details.capability);
  const connection = new URL(path, "http://localhost").searchParams.get("connection");
  if (connection === null || capability === undefined || !isCapability(capability)) return;
  useMissingCapabilities.setState((current) => ({ [connection]: new Set([...(current[connection] ?? noCapabilities), capability]) }));
});

/**
 * Detects the capabilities of a service with read-only requests. A capability counts as missing once the service has rejected one of its actions
 * as unsupported. Sends no request without a connection. `dir`: a folder that contains a file, which some checks need.
 */
export function useCapabilities(connection: string | undefined, capabilities: readonly Capability[], dir?: string) {
  const path = connection === undefined ? null : withQuery("/api/console/capabilities", { of: capabilities.join(","), dir, connection });
  const {
    data: response,
    error,
    isLoading,
  } = useSWR<LoadedCapabilities, ApiFailure>(path && [path, connection], fetchCapabilities, options);
  // Keeps earlier data while another folder is checked, for the same service only.
  const data = response?.connection === connection ? response?.capabilities : undefined;
  const refusedCapabilities = useMissingCapabilities((current) =>
    connection === undefined ? noCapabilities : (current[connection] ?? noCapabilities),
  );
  return {
    /** Undefined if unknown or not loaded yet. */
    has: (capability: Capability): boolean | undefined => (refusedCapabilities.has(capability) ? false : (data?.[capability] ?? undefined)),
    /** Whether an action was refused as unsupported. */
    isRefused: (capability: Capability) => refusedCapabilities.has(capability),
    isLoading: isLoading && data === undefined,
    failure: error,
  };
}

const options = { revalidateOnFocus: false, shouldRetryOnError: false, keepPreviousData: true };

type LoadedCapabilities = { connection: string; capabilities: Capabilities };
async function fetchCapabilities([path, connection]: [`/${string}`, string]): Promise<LoadedCapabilities> {
  const result = await callApi<Capabilities>(path, { cache: "no-store" });
  if (!result.ok) throw result.failure;
  return { connection, capabilities: result.value };
}
