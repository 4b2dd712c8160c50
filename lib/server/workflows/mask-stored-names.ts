// Names of workflows that were stored before there was a gate for keys pass it once, at the start.
// Guarantees: no name stays that holds the key of its connection, or what has the looks of a key; where the key cannot be opened,
// the names are masked by looks, and looked at again when it can. Must never: keep a console from starting that has no room to write.

import "server-only";
import { maskText } from "@/lib/contract/secrets/secret-texts";
import { isFullDisk } from "@/lib/shared/database/disk-reserve";
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
