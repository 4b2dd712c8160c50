// What a service may have beyond the core of the interface: each capability, and how to detect it before use. An operation names its
// capability in its row. What a real response showed takes precedence. Free of zod: browsers load it.

type Row = {
  /** A service that has the named capability has this one too, until it refuses it. */
  with?: string;
  /** Present if one of these is; if none is known to be, the last one decides. */
  anyOf?: readonly string[];
  /** A read that changes nothing: the list of tags, the depth of the queue, the first byte of a file that is listed. */
  probe?: Probe;
};
export type Probe = "tags" | "queue" | "file";

const rows = {
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
  /** Belongs to no operation: whether running jobs can be stopped in any way. */
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
  /** Belongs to no operation: the WebSocket. */
  events: {},
} as const satisfies Record<string, Row>;

export type Capability = keyof typeof rows;
type CapabilityRow = { with?: Capability; anyOf?: readonly Capability[]; probe?: Probe };
export const capabilities: Readonly<Record<Capability, CapabilityRow>> = rows;

/** Null: unknown, and the probe was inconclusive. */
export type Capabilities = Partial<Record<Capability, boolean | null>>;

export function isCapability(name: string): name is Capability {
  return Object.hasOwn(capabilities, name);
}
