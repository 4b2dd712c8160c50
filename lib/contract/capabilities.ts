// What a service may have beyond the core of the interface: each capability, and how it is known before anything is asked for. An operation
// names the one that it belongs to in its row. What a real answer taught is remembered by the server and comes before all of this.
// Free of zod: browsers load it.

type Row = {
  /** A service that has that one has this one too, until it refuses it. */
  with?: string;
  /** Present where one of these is; where none is known, the last one decides. */
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
  /** No operation's own: whether what runs can be stopped, whichever way. */
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
  features: {},
  "tasks.list": {},
  "tasks.cancel": {},
  systemStats: {},
  free: {},
  /** No operation's own: the websocket. */
  events: {},
} as const satisfies Record<string, Row>;

export type Capability = keyof typeof rows;
type KnownRow = { with?: Capability; anyOf?: readonly Capability[]; probe?: Probe };
export const capabilities: Readonly<Record<Capability, KnownRow>> = rows;

/** Null: nothing is known of it, and nothing could be learnt. */
export type Capabilities = Partial<Record<Capability, boolean | null>>;

export function isCapability(name: string): name is Capability {
  return Object.hasOwn(capabilities, name);
}
