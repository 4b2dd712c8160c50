// Reseals all secrets with the first key of the ring. Exit code 1 if other keys are still needed.
import { listSealedSecret, openKeyRing, rotateRows, type Rotation } from "@/lib/server/keys/key-ring";
import { formatCount } from "@/lib/shared/text";
import { fail, runOnStore } from "./command";

type SecretLabel = readonly [singular: string, plural: string];

runOnStore(async ({ sealed, settings }, { dataDir, encryptionKeys }) => {
  const { keyRing } = openKeyRing(dataDir, encryptionKeys);
  const secretGroups = [
    [sealed.apiKeys, ["key", "keys"]],
    [sealed.downloads, ["address of a download", "addresses of downloads"]],
    [sealed.embedHosts, ["key of a host page", "keys of host pages"]],
    [sealed.webhooks, ["webhook", "webhooks"]],
  ] as const;
  for (const [list, label] of secretGroups) report(label, await rotateRows(list, keyRing), keyRing.encryptionKey.id);
  const listSharedSecret = listSealedSecret(settings);
  if ((await listSharedSecret()).length > 0)
    report(["shared secret", "shared secrets"], await rotateRows(listSharedSecret, keyRing), keyRing.encryptionKey.id);
});

function report(label: SecretLabel, { resealed, sealedBy }: Rotation, ringKeyId: string): void {
  process.stdout.write(`${formatCount(resealed, ...label)} resealed with ${ringKeyId}.\n`);
  for (const [id, { count, unreadable }] of sealedBy) {
    process.stdout.write(`${formatCount(count, ...label)} sealed by ${id}${unreadable > 0 ? `, ${unreadable} of them unreadable` : ""}.\n`);
    if (unreadable > 0)
      fail(
        `${formatCount(unreadable, ...label)} sealed by ${id} can't be opened: the key ring lacks the key, or another key has its id. They were left unchanged. Don't remove any key.`,
      );
    else if (id !== ringKeyId)
      fail(`${formatCount(count, ...label)} sealed by ${id} in the meantime. Restart the console with the new key, then run this again.`);
  }
}
