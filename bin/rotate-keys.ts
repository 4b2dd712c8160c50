// Seals everything that is stored sealed with the first key of the ring. Ends with code 1 unless that key alone opens all of it.
import { sealedHosts } from "@/lib/server/embed/hosts";
import { findReusedId, openKeyRing, rotateRows, type Rotation, sealedKeys, sealedSecret } from "@/lib/server/keys/key-ring";
import { sealedRequests } from "@/lib/server/tasks/sealed-request";
import { fail, onStore } from "./command";

type Things = readonly [one: string, many: string];
const keys: Things = ["key", "keys"];
const hostKeys: Things = ["key of a host page", "keys of host pages"];
const secrets: Things = ["shared secret", "shared secrets"];
const addresses: Things = ["address of a download", "addresses of downloads"];

onStore(async (store, { dataDir, encryptionKeys }) => {
  const ring = openKeyRing(dataDir, encryptionKeys);
  const [apiKeys, requests, hosts] = [sealedKeys(store.keys), sealedRequests(store.downloadTasks), sealedHosts(store.embedHosts)];
  const reused = (await findReusedId(apiKeys, ring)) ?? (await findReusedId(requests, ring)) ?? (await findReusedId(hosts, ring));
  if (reused !== undefined)
    return fail(`The id ${reused} was another key's, which sealed what is stored. Give the new key an id of its own. Nothing was changed.`);
  report(keys, await rotateRows(apiKeys, ring), ring.writing.id);
  report(addresses, await rotateRows(requests, ring), ring.writing.id);
  report(hostKeys, await rotateRows(hosts, ring), ring.writing.id);
  const secret = sealedSecret(store.settings);
  if ((await secret.list()).length > 0) report(secrets, await rotateRows(secret, ring), ring.writing.id);
});

function report(things: Things, { resealed, sealedBy }: Rotation, ringKeyId: string): void {
  process.stdout.write(`${countOf(resealed, things)} sealed anew with ${ringKeyId}.\n`);
  for (const [id, { count, unreadable }] of sealedBy) {
    process.stdout.write(`${countOf(count, things)} sealed by ${id}${unreadable > 0 ? `, ${unreadable} of them unreadable` : ""}.\n`);
    if (unreadable > 0)
      fail(
        `${countOf(unreadable, things)} sealed by ${id} could not be opened: the ring lacks the key, or gives its id to another one. Left as found; remove no key.`,
      );
    else if (id !== ringKeyId)
      fail(`${countOf(count, things)} sealed by ${id} meanwhile: restart the console with the new key first, then run this again.`);
  }
}

function countOf(count: number, [one, many]: Things): string {
  return `${count} ${count === 1 ? one : many}`;
}
