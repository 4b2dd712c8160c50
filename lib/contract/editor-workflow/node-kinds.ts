// What the editor does with a node by itself: its modes, and the classes that never leave it.

import { type EditorNode } from "./file";

export const MUTED = 2;
export const BYPASSED = 4;
const REROUTE = "Reroute";
const PRIMITIVE = "PrimitiveNode";
const notes = new Set(["Note", "MarkdownNote"]);

export function isNeverSent({ type }: EditorNode): boolean {
  return type === REROUTE || type === PRIMITIVE || notes.has(type);
}

export function isReroute({ type }: EditorNode): boolean {
  return type === REROUTE;
}

export function isNote({ type }: EditorNode): boolean {
  return notes.has(type);
}

export function isPrimitive({ type }: EditorNode): boolean {
  return type === PRIMITIVE;
}

export function isRunning({ mode }: EditorNode): boolean {
  return mode !== MUTED && mode !== BYPASSED;
}
