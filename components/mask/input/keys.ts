// The editor's key bindings, shared by the help list and the handlers. Browser shortcuts must not be bound; callers ignore keys typed into
// fields.

import { getOwn } from "@/lib/contract/json/json";

export const tools = ["brush", "eraser", "rectangle", "lasso", "fill", "hand"] as const;
export type Tool = (typeof tools)[number];

export type Command =
  | { do: "tool"; tool: Tool }
  | {
      do: "undo" | "redo" | "invert" | "clear" | "save" | "fit" | "actual" | "zoomIn" | "zoomOut" | "toggleMask" | "look" | "keys" | "swap";
    }
  | { do: "size"; by: number }
  | { do: "hardness"; by: number }
  | { do: "cursor"; dx: -1 | 0 | 1; dy: -1 | 0 | 1; pace: "pixel" | "step" | "leap" }
  | { do: "press" | "stick" | "release" };

type KeyPress = { key: string; ctrlKey: boolean; metaKey: boolean; altKey: boolean; shiftKey: boolean };

const letters: Readonly<Record<string, Command>> = {
  b: { do: "tool", tool: "brush" },
  e: { do: "tool", tool: "eraser" },
  r: { do: "tool", tool: "rectangle" },
  l: { do: "tool", tool: "lasso" },
  g: { do: "tool", tool: "fill" },
  h: { do: "tool", tool: "hand" },
  x: { do: "swap" },
  i: { do: "invert" },
  delete: { do: "clear" },
  m: { do: "toggleMask" },
  v: { do: "look" },
  "[": { do: "size", by: -1 },
  "]": { do: "size", by: 1 },
  "{": { do: "hardness", by: -0.1 },
  "}": { do: "hardness", by: 0.1 },
  "0": { do: "fit" },
  "1": { do: "actual" },
  "+": { do: "zoomIn" },
  "=": { do: "zoomIn" },
  "-": { do: "zoomOut" },
  "?": { do: "keys" },
  " ": { do: "press" },
  enter: { do: "stick" },
  escape: { do: "release" },
};
const arrows: Readonly<Record<string, readonly [-1 | 0 | 1, -1 | 0 | 1]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** Whether the command needs the focus on the drawing; on a focused button, the key belongs to the button. */
export function isForCanvas({ do: kind }: Command): boolean {
  return kind === "cursor" || kind === "press" || kind === "stick";
}

export function toCommand({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyPress): Command | undefined {
  const letter = key.toLowerCase();
  if (ctrlKey || metaKey) {
    if (altKey) return undefined;
    if (letter === "z") return { do: shiftKey ? "redo" : "undo" };
    if (letter === "y" && !shiftKey) return { do: "redo" };
    return letter === "s" && !shiftKey ? { do: "save" } : undefined;
  }
  const arrow = arrows[key];
  if (arrow) return { do: "cursor", dx: arrow[0], dy: arrow[1], pace: altKey ? "pixel" : shiftKey ? "leap" : "step" };
  return altKey ? undefined : getOwn(letters, letter);
}

/** The help list. */
export const keyList = [
  { act: "brush", shown: ["B"] },
  { act: "eraser", shown: ["E"] },
  { act: "rectangle", shown: ["R"] },
  { act: "lasso", shown: ["L"] },
  { act: "fill", shown: ["G"] },
  { act: "hand", shown: ["H"] },
  { act: "swap", shown: ["X"] },
  { act: "size", shown: ["[", "]"] },
  { act: "hardness", shown: ["{", "}"] },
  { act: "move", shown: ["←", "↑", "↓", "→"] },
  { act: "leap", shown: ["Shift", "→"] },
  { act: "pixel", shown: ["Alt", "→"] },
  { act: "press", shown: ["Space"] },
  { act: "stick", shown: ["Enter"] },
  { act: "undo", shown: ["Ctrl", "Z"] },
  { act: "redo", shown: ["Ctrl", "Y"] },
  { act: "invert", shown: ["I"] },
  { act: "clear", shown: ["Del"] },
  { act: "toggleMask", shown: ["M"] },
  { act: "look", shown: ["V"] },
  { act: "zoom", shown: ["+", "-"] },
  { act: "fit", shown: ["0"] },
  { act: "actual", shown: ["1"] },
  { act: "pan", shown: ["Space"] },
  { act: "save", shown: ["Ctrl", "S"] },
  { act: "release", shown: ["Esc"] },
] as const;
