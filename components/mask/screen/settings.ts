// The settings of the tools. All numbers are clamped to their limits.

import { createStore } from "zustand/vanilla";
import { getOwn } from "@/lib/contract/json/json";
import { type Size } from "../drawing/coverage";

export const colours = ["red", "green", "blue", "yellow", "white"] as const;
type OverlayColour = (typeof colours)[number];
export const looks = ["overlay", "mask", "result"] as const;
type LookKind = (typeof looks)[number];

export type Settings = {
  tool: Tool;
  /** The brush's diameter in pixels of the image. */
  diameter: number;
  /** From 0 (soft) to 1 (sharp). */
  hardness: number;
  /** Whether pen pressure scales the line width. */
  followsPressure: boolean;
  /** Rectangle, lasso and fill erase instead of painting. */
  isErasing: boolean;
  look: LookKind;
  colour: OverlayColour;
  opacity: number;
  isShown: boolean;
};

export const overlayRgb: Readonly<Record<OverlayColour, readonly [number, number, number]>> = {
  red: [239, 68, 68],
  green: [34, 197, 94],
  blue: [59, 130, 246],
  yellow: [250, 204, 21],
  white: [255, 255, 255],
};

/** A quarter of the longer side, up to 2,000 pixels, since larger strokes would lag behind the pointer. */
export function getMaxDiameter({ width, height }: Size): number {
  return Math.min(2_000, Math.max(64, Math.round(Math.max(width, height) / 4)));
}

function createSettings(size: Size): Settings {
  return {
    tool: "brush",
    diameter: Math.min(getMaxDiameter(size), Math.max(4, Math.round(Math.max(size.width, size.height) / 24))),
    hardness: 0.8,
    followsPressure: true,
    isErasing: false,
    look: "overlay",
    colour: "red",
    opacity: 0.5,
    isShown: true,
  };
}

export type Change = Partial<Settings> | { sizeBy: number } | { hardnessBy: number } | "swap" | "nextLook";

function applyChange(settings: Settings, change: Change, size: Size): Settings {
  if (change === "swap") return swapErasing(settings);
  if (change === "nextLook") {
    const nextLook = looks[(looks.indexOf(settings.look) + 1) % looks.length] ?? "overlay";
    return { ...settings, look: nextLook, isShown: true };
  }
  if ("sizeBy" in change) {
    const difference = Math.max(1, settings.diameter * 0.15) * change.sizeBy;
    return applyChange(settings, { diameter: settings.diameter + difference }, size);
  }
  if ("hardnessBy" in change) return applyChange(settings, { hardness: settings.hardness + change.hardnessBy }, size);
  const nextSettings = { ...settings, ...change };
  return {
    ...nextSettings,
    diameter: clamp(Math.round(nextSettings.diameter), 1, getMaxDiameter(size)),
    hardness: clamp(Math.round(nextSettings.hardness * 100) / 100, 0, 1),
    opacity: clamp(nextSettings.opacity, 0.1, 1),
  };
}

/** Switches between painting and erasing, with any tool. */
function swapErasing(settings: Settings): Settings {
  if (settings.tool === "brush") return { ...settings, tool: "eraser" };
  if (settings.tool === "eraser") return { ...settings, tool: "brush" };
  return { ...settings, isErasing: !settings.isErasing };
}

function clamp(value: number, min: number, max: number): number {
  return Number.isFinite(value) ? Math.min(max, Math.max(min, value)) : min;
}

// Stores the settings outside React, because drawing code reads them between renders.

export function createSettingsStore(size: Size) {
  const { getState, setState, subscribe } = createStore(() => createSettings(size));
  return { get: getState, subscribe, change: (change: Change) => setState((settings) => applyChange(settings, change, size), true) };
}

// The editor's key bindings, shared by the help list and the handlers. Browser shortcuts must not be bound. Callers ignore keys typed into
// fields.

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

/** The help list, with the commands of keys that need no modifier. */
export const shortcuts = [
  { action: "brush", labels: ["B"], keys: { b: { do: "tool", tool: "brush" } } },
  { action: "eraser", labels: ["E"], keys: { e: { do: "tool", tool: "eraser" } } },
  { action: "rectangle", labels: ["R"], keys: { r: { do: "tool", tool: "rectangle" } } },
  { action: "lasso", labels: ["L"], keys: { l: { do: "tool", tool: "lasso" } } },
  { action: "fill", labels: ["G"], keys: { g: { do: "tool", tool: "fill" } } },
  { action: "hand", labels: ["H"], keys: { h: { do: "tool", tool: "hand" } } },
  { action: "swap", labels: ["X"], keys: { x: { do: "swap" } } },
  { action: "size", labels: ["[", "]"], keys: { "[": { do: "size", by: -1 }, "]": { do: "size", by: 1 } } },
  { action: "hardness", labels: ["{", "}"], keys: { "{": { do: "hardness", by: -0.1 }, "}": { do: "hardness", by: 0.1 } } },
  { action: "move", labels: ["←", "↑", "↓", "→"] },
  { action: "leap", labels: ["Shift", "→"] },
  { action: "pixel", labels: ["Alt", "→"] },
  { action: "press", labels: ["Space"], keys: { " ": { do: "press" } } },
  { action: "stick", labels: ["Enter"], keys: { enter: { do: "stick" } } },
  { action: "undo", labels: ["Ctrl", "Z"] },
  { action: "redo", labels: ["Ctrl", "Y"] },
  { action: "invert", labels: ["I"], keys: { i: { do: "invert" } } },
  { action: "clear", labels: ["Del"], keys: { delete: { do: "clear" } } },
  { action: "toggleMask", labels: ["M"], keys: { m: { do: "toggleMask" } } },
  { action: "look", labels: ["V"], keys: { v: { do: "look" } } },
  { action: "zoom", labels: ["+", "-"], keys: { "+": { do: "zoomIn" }, "=": { do: "zoomIn" }, "-": { do: "zoomOut" } } },
  { action: "fit", labels: ["0"], keys: { "0": { do: "fit" } } },
  { action: "actual", labels: ["1"], keys: { "1": { do: "actual" } } },
  { action: "pan", labels: ["Space"] },
  { action: "save", labels: ["Ctrl", "S"] },
  { action: "release", labels: ["Esc"], keys: { escape: { do: "release" }, "?": { do: "keys" } } },
] as const satisfies readonly { action: string; labels: readonly string[]; keys?: Readonly<Record<string, Command>> }[];

const commands: Readonly<Record<string, Command>> = Object.fromEntries(
  shortcuts.flatMap((entry) => ("keys" in entry ? Object.entries<Command>(entry.keys) : [])),
);

const arrows: Readonly<Record<string, readonly [-1 | 0 | 1, -1 | 0 | 1]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** Whether the command requires focus on the drawing. Otherwise a focused button handles the key. */
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
  return altKey ? undefined : getOwn(commands, letter);
}
