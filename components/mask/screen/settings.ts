// The settings of the tools. Every value is clamped to its bounds.

import { createStore } from "zustand/vanilla";
import { type Size } from "../drawing/geometry";
import { type Tool } from "../input/keys";

export const colours = ["red", "green", "blue", "yellow", "white"] as const;
type OverlayColour = (typeof colours)[number];
export const looks = ["overlay", "mask", "result"] as const;
type LookKind = (typeof looks)[number];

export type Settings = {
  tool: Tool;
  /** The brush's diameter in pixels of the picture. */
  diameter: number;
  /** 0 all soft to 1 sharp. */
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

/** A quarter of the longer edge, up to 2,000 pixels, since larger strokes would lag behind the pointer. */
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
    const next = looks[(looks.indexOf(settings.look) + 1) % looks.length] ?? "overlay";
    return { ...settings, look: next, isShown: true };
  }
  if ("sizeBy" in change) {
    const difference = Math.max(1, settings.diameter * 0.15) * change.sizeBy;
    return applyChange(settings, { diameter: settings.diameter + difference }, size);
  }
  if ("hardnessBy" in change) return applyChange(settings, { hardness: settings.hardness + change.hardnessBy }, size);
  const next = { ...settings, ...change };
  return {
    ...next,
    diameter: clamp(Math.round(next.diameter), 1, getMaxDiameter(size)),
    hardness: clamp(Math.round(next.hardness * 100) / 100, 0, 1),
    opacity: clamp(next.opacity, 0.1, 1),
  };
}

/** Switches between painting and erasing, with any tool. */
function swapErasing(settings: Settings): Settings {
  if (settings.tool === "brush") return { ...settings, tool: "eraser" };
  if (settings.tool === "eraser") return { ...settings, tool: "brush" };
  return { ...settings, isErasing: !settings.isErasing };
}

function clamp(value: number, least: number, max: number): number {
  return Number.isFinite(value) ? Math.min(max, Math.max(least, value)) : least;
}

// The settings outside React, since drawing code reads them between renders.

export function createSettingsStore(size: Size) {
  const { getState, setState, subscribe } = createStore(() => createSettings(size));
  return { get: getState, subscribe, change: (by: Change) => setState((settings) => applyChange(settings, by, size), true) };
}
