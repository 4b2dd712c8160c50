// One press of Run: its key makes the console start one job at most, and a note of it outlives a reload, so that its outcome can be asked for.
// Guarantees: never throws; another member's note is not read. Must never: hold what was sent.

import { writeExactJson } from "@/lib/contract/exact-json";
import { isPressKey } from "@/lib/contract/press";
import { numberOf, objectOf, parseJson, textOf } from "@/lib/contract/json";
import { forgetText, keepText, keptText, type TabStorage } from "./tab-storage";

export type Press = { key: string; memberId: string; connection?: string; workflowId: string; name: string; atMs: number };

const NOTE = "lightdesk.run.press";

export function notePress(storage: TabStorage, press: Press): void {
  // Where nothing is kept a reload in the middle tells nothing of it; the key still holds.
  keepText(storage, NOTE, writeExactJson(press));
}

export function forgetPress(storage: TabStorage): void {
  forgetText(storage, NOTE);
}

export function notedPress(storage: TabStorage, memberId: string): Press | undefined {
  const note = objectOf(parseJson(keptText(storage, NOTE)));
  const [key, workflowId, atMs] = [textOf(note?.key), textOf(note?.workflowId), numberOf(note?.atMs)];
  if (note?.memberId !== memberId || !key || !isPressKey(key) || !workflowId || atMs === undefined) return undefined;
  const connection = textOf(note.connection);
  return { key, memberId, workflowId, atMs, name: textOf(note.name) ?? "", ...(connection !== undefined && { connection }) };
}
