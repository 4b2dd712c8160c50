// Sample runners, in the format of the service.
import { type Runner } from "@/lib/contract/runners/runners";

export const builtInRunner: Runner = {
  id: "built-in",
  label: "Built-in",
  address: null,
  tags: [],
  slots: 2,
  state: "ready",
  reason: null,
  version: null,
  devices: [],
  classes: 31,
  running: 0,
  queue: null,
  done: 0,
  failed: 0,
  meanRunMs: null,
  lastSeenMs: Date.parse("2026-03-01T12:00:00Z"),
};

export const studioRunner: Runner = {
  ...builtInRunner,
  id: "studio",
  label: "Studio GPU",
  address: "http://10.0.0.12:8188",
  tags: ["fast"],
  slots: 1,
  version: "0.27.0",
  devices: [{ name: "cuda:0 RTX", type: "cuda", vramTotal: 24_000_000_000, vramFree: 6_000_000_000 }],
  classes: 812,
  running: 1,
  queue: { running: 1, pending: 3 },
  done: 120,
  failed: 3,
  meanRunMs: 4200,
};
