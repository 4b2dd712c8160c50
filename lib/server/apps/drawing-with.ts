// The editor's file of an app with the values of a run, as the editor itself would send it beside the graph.

import "server-only";
import { readDrawingOf } from "@/lib/contract/editor-workflow/drawing";
import { writable } from "@/lib/contract/editor-workflow/write-file";
import { type JsonObject } from "@/lib/contract/json/json";
import { operations } from "@/lib/contract/operations";
import { type Graph } from "@/lib/contract/schemas/graph";
import { type ObjectInfo } from "@/lib/contract/schemas/object-info";
import { composition } from "../composition";
import { type Access } from "../connections/access";

const CATALOGUE_KEPT_MS = 60_000;

/** Undefined if it is of another graph or cannot take the values. */
export async function drawingWith(access: Access, editor: JsonObject, graph: Graph): Promise<JsonObject | undefined> {
  if (!readDrawingOf(editor, graph)) return undefined;
  const info = await catalogueOf(access);
  return info && writable(editor, info).withValues(graph).file;
}

/** Megabytes, and the same for each run of an app; therefore cached. */
async function catalogueOf({ connection, upstream }: Access): Promise<ObjectInfo | undefined> {
  const { catalogues, now } = composition();
  const key = `${connection.id} ${connection.baseUrl}`;
  const kept = catalogues.get(key);
  if (kept && now() - kept.atMs < CATALOGUE_KEPT_MS) return kept.info;
  const read = await upstream.call(operations.getObjectInfo);
  if (!read.ok) return undefined;
  catalogues.set(key, { info: read.value, atMs: now() });
  return read.value;
}
