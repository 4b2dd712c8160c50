// A choice of assets as a ZIP that streams: the next file is opened when the one before has gone out.
// Guarantees: nothing is held whole; names are unique; what could not be had is listed in a text inside the file; content that breaks off
// breaks the file, so that it never looks complete; a browser that goes away ends the reading.

import "server-only";
import { makeZip } from "client-zip";
import { type ArchiveChoice } from "@/lib/contract/archive";
import { type Asset } from "@/lib/contract/schemas/asset";
import { maskText } from "@/lib/contract/secret-texts";
import { toMilliseconds } from "@/lib/contract/times";
import { type Access } from "../connections/access";
import { openAssetBytes } from "./asset-bytes";
import { chosenAssets } from "./chosen-assets";
import { createFileNames } from "./file-names";

const MISSING = "NOT INCLUDED.txt";

type Entry = { name: string; lastModified: Date; input: ReadableStream<Uint8Array> | string };

export function streamArchive(access: Access, { choice, now, signal }: { choice: ArchiveChoice; now: number; signal: AbortSignal }) {
  const gone = new AbortController();
  const zip = makeZip(entries(access, { choice, now, signal: AbortSignal.any([signal, gone.signal]) })).getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await zip.read();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        gone.abort();
        await zip.cancel();
      },
    },
    { highWaterMark: 0 },
  );
}

type EntryOptions = { choice: ArchiveChoice; now: number; signal: AbortSignal };

async function* entries(access: Access, { choice, now, signal }: EntryOptions): AsyncGenerator<Entry, void> {
  const nameOf = createFileNames();
  const missing: string[] = [];
  for await (const chosen of chosenAssets(access, choice, signal)) {
    if (signal.aborted) return;
    if (!chosen.ok) {
      missing.push(`${chosen.failure.asset ?? "the list"}: ${chosen.failure.code} ${chosen.failure.message}`);
      continue;
    }
    const asset = chosen.value;
    const opened = await openAssetBytes(access, asset, signal);
    if (opened.ok && opened.value.body) {
      yield { name: nameOf(shownName(asset)), lastModified: new Date(toMilliseconds(asset.created_at) ?? now), input: opened.value.body };
    } else if (!opened.ok) missing.push(`${shownName(asset)} (${asset.id}): ${opened.failure.code} ${opened.failure.message}`);
  }
  if (missing.length > 0) yield { name: nameOf(MISSING), lastModified: new Date(now), input: `${missing.join("\n")}\n` };
}

function shownName({ display_name: displayName, name, id }: Asset): string {
  return maskText(displayName || name || id);
}
