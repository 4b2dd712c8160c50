// The layer that a mask is drawn on again. A picture without one is the usual case and no failure: it is said as null, so that a browser
// does not log each of them as an error. Guarantees: an outage stays one.

import "server-only";
import { type Failure } from "@/lib/contract/failure";
import { operations } from "@/lib/contract/operations";
import { ok, type Result } from "@/lib/shared/result";
import { type Viewer } from "../auth/viewer";
import { readThrough } from "../connections/access";

export type MaskLayer = { mask: string | null };

/** Without layers of this picture, or without layers at all. */
const hasNone: readonly number[] = [404, 405, 501];

export async function getMaskLayer(viewer: Viewer, filename: string, connection?: string): Promise<Result<MaskLayer, Failure>> {
  const layers = await readThrough(viewer, connection, operations.getMaskLayers, { query: { filename } });
  if (layers.ok) return ok({ mask: layers.value.mask ?? null });
  return hasNone.includes(layers.failure.status) ? ok({ mask: null }) : layers;
}
