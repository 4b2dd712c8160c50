// Optional capabilities of a service beyond the core interface, and how to detect each before use. Each operation names its capability.
// Responses to real requests take precedence over probes. Doesn't import zod, to keep it out of browser bundles.

type Row = {
  /** A service with the named capability is assumed to have this one too, until it rejects a request. */
  with?: string;
  /** Present if one of these is present. If none is known, the last one decides. */
  anyOf?: readonly string[];
  /** A read without side effects: the list of tags, the length of the queue, or the first byte of a listed file. */
  probe?: Probe;
};
export type Probe = "tags" | "queue" | "file";

const capabilityRows = {
  view: {},
  "tags.list": { probe: "tags" },
  "tags.remove": { with: "tags.list" },
  "assets.edit": { with: "tags.list" },
  "assets.delete": { with: "tags.list" },
  "assets.content": {},
  "assets.hash": {},
  "assets.remoteMetadata": {},
  "queue.list": { probe: "queue" },
  interrupt: { with: "queue.list" },
  "jobs.cancel": {},
  "job.cancel": {},
  /** Not tied to an operation: whether running jobs can be stopped at all. */
  "jobs.stop": { anyOf: ["jobs.cancel", "interrupt"] },
  "jobs.assets": {},
  "history.detail": {},
  "history.older": {},
  "userdata.read": { probe: "file" },
  "userdata.delete": { with: "userdata.read" },
  "userdata.move": { with: "userdata.read" },
  maskLayers: {},
  objectInfo: {},
  "objectInfo.class": {},
  models: {},
  features: {},
  "tasks.list": {},
  "tasks.cancel": {},
  systemStats: {},
  free: {},
  /** Not tied to an operation: the WebSocket. */
  events: {},
} as const satisfies Record<string, Row>;

export type Capability = keyof typeof capabilityRows;
type CapabilityRow = { with?: Capability; anyOf?: readonly Capability[]; probe?: Probe };
export const capabilities: Readonly<Record<Capability, CapabilityRow>> = capabilityRows;

/** Null: unknown, because the probe was inconclusive. */
export type Capabilities = Partial<Record<Capability, boolean | null>>;

export function isCapability(name: string): name is Capability {
  return Object.hasOwn(capabilities, name);
}
