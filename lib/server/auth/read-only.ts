// The console's read-only switch, stored for all processes.

import "server-only";
import { z } from "zod";
import { type ReadOnlyView } from "@/lib/contract/console";
import { createFailure, type Failure } from "@/lib/contract/failure";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { type Composition, type Dependencies } from "../composition-type";

const storedStateSchema = z.object({ since: z.number(), by: z.string(), note: z.string().optional() });

export async function getReadOnlyState({ store }: Dependencies<"store">): Promise<ReadOnlyView | undefined> {
  const value = await store.settings.get("readOnly");
  return value === undefined ? undefined : storedStateSchema.parse(JSON.parse(value));
}

export async function enableReadOnly({ store, now }: Dependencies<"store" | "now">, by: string, note: string | undefined): Promise<void> {
  await store.settings.add("readOnly", writeExactJson({ since: now(), by, ...(note && { note }) }));
}

export async function disableReadOnly({ store }: Dependencies<"store">): Promise<void> {
  await store.settings.remove("readOnly");
}

/** Allowed while read-only: changes to one's own account, access revocation, reads that use POST, and the switch itself. */
export const readOnlyActions: ReadonlySet<string> = new Set([
  ...["beginReadOnly", "endReadOnly"],
  ...["changeAccount", "confirmSession", "endSession", "endSessions", "embedLook", "endEmbedSession", "useConnection"],
  ...["revokeToken", "checkConnection", "checkRunner", "chooseArchive", "exportJobs"],
]);

/** `action` is the route's action. Without one, all changes are rejected. */
export async function checkReadOnly(composition: Composition, action?: string): Promise<Failure | undefined> {
  const readOnlyState = action !== undefined && readOnlyActions.has(action) ? undefined : await getReadOnlyState(composition);
  if (!readOnlyState) return undefined;
  const message = `Lightdesk is read-only: ${readOnlyState.by} turned it on. An admin can turn it off under Settings, Members.`;
  return createFailure("READ_ONLY", message);
}
