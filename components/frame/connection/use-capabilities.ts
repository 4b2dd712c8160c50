import useSWR from "swr";
import { create } from "zustand";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { withQuery } from "@/lib/browser/urls";
import { type Capabilities, type Capability } from "@/lib/contract/capabilities";
import { lacksOperation } from "@/lib/contract/failure";

type Lost = Readonly<Record<string, ReadonlySet<Capability>>>;
const nothing: ReadonlySet<Capability> = new Set();
const useLost = create<Lost>(() => ({}));

/** True where a refusal says that the service does not have it: then it is offered no more in this tab. */
export function learnAbsence(failure: ApiFailure, connection: string | undefined, capability: Capability): boolean {
  if (!lacksOperation(failure)) return false;
  if (connection !== undefined) useLost.setState((all) => ({ [connection]: new Set([...(all[connection] ?? nothing), capability]) }));
  return true;
}

/**
 * Which of these a service has. It is known or learnt by a read, never by an act that changes anything; what an act was refused as absent is
 * gone from then on. Without a connection nothing is asked. `dir`: a folder that holds a file, where that is what it is learnt from.
 */
export function useCapabilities(connection: string | undefined, of: readonly Capability[], dir?: string) {
  const path = connection === undefined ? null : withQuery("/api/console/capabilities", { of: of.join(","), dir, connection });
  const { data: read, error, isLoading } = useSWR<Read, ApiFailure>(path && [path, connection], readCapabilities, options);
  // What is kept while another folder is asked about is not another service's.
  const data = read?.connection === connection ? read?.told : undefined;
  const refused = useLost((all) => (connection === undefined ? nothing : (all[connection] ?? nothing)));
  return {
    /** Undefined: not known, or not yet. */
    has: (capability: Capability): boolean | undefined => (refused.has(capability) ? false : (data?.[capability] ?? undefined)),
    /** An act was refused as absent. */
    isRefused: (capability: Capability) => refused.has(capability),
    isAsking: isLoading && data === undefined,
    failure: error,
  };
}

const options = { revalidateOnFocus: false, shouldRetryOnError: false, keepPreviousData: true };

type Read = { connection: string; told: Capabilities };
async function readCapabilities([path, connection]: [`/${string}`, string]): Promise<Read> {
  const result = await callApi<Capabilities>(path, { cache: "no-store" });
  if (!result.ok) throw result.failure;
  return { connection, told: result.value };
}
