import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { type ConnectionSaved } from "@/lib/contract/console";
import { type Result } from "@/lib/shared/result";
import { type ConnectionFields } from "./read-connection-form";

/** The console checks the key with the service, and saves what the service accepts; with `keep` it saves in any case. */
export async function saveConnection(
  id: string | undefined,
  fields: ConnectionFields & { keep?: true },
): Promise<Result<ConnectionSaved, ApiFailure>> {
  if (id === undefined) return callApi<ConnectionSaved>("/api/console/connections", { method: "POST", json: fields });
  const { shared: _shared, ...change } = fields;
  return callApi<ConnectionSaved>(connectionPath(id), { method: "PUT", json: change });
}

export function connectionPath(id: string, act?: "check" | "use"): `/${string}` {
  return `/api/console/connections/${encodeURIComponent(id)}${act ? `/${act}` : ""}`;
}
