import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { type ConnectionCheck, type ConnectionView } from "@/lib/contract/console";
import { type Result } from "@/lib/shared/result";
import { type ConnectionFields } from "./read-connection-form";

export type Saved = { connection: ConnectionView; check: ConnectionCheck };

/** Saves, then the console asks the service whose key it is: both answers come back together. */
export async function saveConnection(id: string | undefined, fields: ConnectionFields): Promise<Result<Saved, ApiFailure>> {
  if (id === undefined) return callApi<Saved>("/api/console/connections", { method: "POST", json: fields });
  const { shared: _shared, ...change } = fields;
  return callApi<Saved>(connectionPath(id), { method: "PUT", json: change });
}

export function connectionPath(id: string, act?: "check" | "use"): `/${string}` {
  return `/api/console/connections/${encodeURIComponent(id)}${act ? `/${act}` : ""}`;
}

/** The key is good, if perhaps not for running yet. */
export function isAccepted({ outcome }: ConnectionCheck): boolean {
  return outcome === "active" || outcome === "waitlisted";
}
