// Passes names of workflows that were stored before the key gate existed through it, once, at the start.
// Guarantees: no stored name keeps its connection's key, or a text that looks like a key; if the key cannot be opened, names are masked by
// looks, and checked again when it can. Must never: prevent a console without disk space from starting.

import "server-only";
import { maskText } from "@/lib/contract/secrets/secret-texts";
import { isFullDisk } from "@/lib/shared/error-codes";
import { openApiKey } from "../keys/api-keys";
import { type KeyRing } from "../keys/key-ring";
import { type Log } from "../log";
import { type Store } from "../store/store";
import { keyGate } from "../upstream/key-gate";

export async function maskStoredNames(store: Store, ring: KeyRing, log: Log): Promise<void> {
  try {
    const stored = await store.keys.list();
    for (const { connectionId, workflowId, name } of await store.workflowNames.unmasked()) {
      const key = stored.find((one) => one.connectionId === connectionId);
      const apiKey = key && openApiKey(ring, key);
      const isFinal = key === undefined || apiKey !== undefined;
      const masked = maskText(await keyGate(apiKey).text(name));
      if (masked !== name || isFinal) await store.workflowNames.mask(connectionId, workflowId, masked, isFinal);
    }
  } catch (err) {
    if (!isFullDisk(err)) throw err;
    log.error({ err }, "names of workflows that were stored in plain wait for room on the disk");
  }
}
