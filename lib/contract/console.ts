// The console's own resources, beside the interface: connections, members, and the queue as one view of two sources.
// Guarantees: no type here has a place for a key. Schemas are for the server; components import the types only.
import { isCapability } from "./capabilities";
import { type CheckOutcome } from "./check-outcomes";
import { LONGEST_PASSWORD, SHORTEST_PASSWORD } from "./people/passwords";
import { toPlainLine } from "./plain-line";

import { z } from "zod";
import { type MemberMethods } from "./people/oidc";
import { roles } from "./people/roles";
import { type JobListItem } from "./schemas/job";
import { commaList } from "./schemas/lenient";
import { userdataQuerySchema } from "./schemas/userdata";

/** The parameter of an address that says which connection is meant. */
export const CONNECTION_PARAMETER = "connection";

export type ConnectionStatus = CheckOutcome | "unknown";

/** `local`: a plain local server, which has one user and no key. */
export const dialects = ["interface", "local"] as const;
export type Dialect = (typeof dialects)[number];

export type ConnectionView = {
  id: string;
  name: string;
  baseUrl: string;
  accountUrl?: string;
  /** The service inside this console. */
  embedded: boolean;
  /** All members work with it, through one key. */
  shared: boolean;
  dialect: Dialect;
  /** False: a local server that was started without its asset library, or is older than it. */
  hasAssets: boolean;
  hasKey: boolean;
  /** A short hash of the key, to tell two keys apart; the key itself never comes back. */
  fingerprint?: string;
  /** The one the page or the member works with now. */
  current: boolean;
  status?: ConnectionStatus;
  /** The member whose own it is: its jobs are seen here, and nothing else of it. Such a view has no address and no fingerprint. */
  seenOf?: string;
  /** Of one's own: who sees its jobs. */
  seenBy?: JobViewerView[];
};

/** A member who sees the jobs of another member's own connection. `givenBy`: absent where that one has been removed. */
export type JobViewerView = { memberId: string; name: string; givenBy?: string; givenAt: number };
/** Another member's own connection, as admins know it: whose, since when, and who sees its jobs. */
export type PersonalConnectionView = { id: string; ownerId: string; ownerName: string; createdAt: number; seenBy: JobViewerView[] };

export type ConnectionCheck = {
  outcome: CheckOutcome;
  message: string;
  dialect: Dialect;
  hasAssets?: boolean;
  /** How long a failing service asks to wait, where it said so. */
  retryAfterMs?: number;
};
/** Without a connection nothing was saved: the service did not accept it, and it was not asked to be kept anyway. */
export type ConnectionSaved = { connection?: ConnectionView; check: ConnectionCheck };

/** The key is good, if perhaps not for running yet. */
export function isAccepted({ outcome }: ConnectionCheck): boolean {
  return outcome === "active" || outcome === "waitlisted";
}

/** What became of running jobs that were named; every id is in one of the lists. */
export type StopReceipt = {
  stopped: string[];
  /** Asked to stop; the service does not say whether they did. */
  stopping: string[];
  /** Ran no longer. */
  over: string[];
  /** Still run: the service cannot stop them, or not alone. */
  unable: string[];
  /** Asked to stop, and no clear answer came. */
  unsure?: string[];
  /** How many would stop together, where the service can stop them only so; 0 elsewhere. */
  together: number;
};

export type QueueRow = JobListItem & { position?: number };
/** `source`: who told the order of the waiting. `canStop`: what runs can be stopped. `total` counts what runs and waits, and may be more than is listed. */
export type QueueView = {
  running: QueueRow[];
  pending: QueueRow[];
  source: "queue" | "jobs";
  canStop: boolean;
  total?: number;
  /** Left out, since their shape is unknown. */
  unreadable?: number;
};

/** `dir`: a folder of user data that may hold a file to learn from. */
export const capabilitiesQuerySchema = z.object({
  of: commaList(z.string().refine(isCapability)).default([]),
  dir: userdataQuerySchema.shape.dir.optional(),
});

/** The requested node classes that the service does not have. */
export type LackingClasses = { lacking: string[] };
const MOST_CLASSES = 2000;
export const lackingClassesQuerySchema = z.object({ names: commaList(z.string().min(1).max(200), MOST_CLASSES).default([]) });

/** Jobs by the day on which they were submitted, oldest day first; `day` is a date like 2026-11-22 in the asked zone. `other`: neither completed, failed nor cancelled yet. `isUnread`: there may be more, which are still being read. */
export type RunsOfDay = { day: string; completed: number; failed: number; cancelled: number; other: number; isUnread?: boolean };
/** `jobs` were counted. `sinceMs`: the oldest of them, where there are older ones that were not. */
export type RunsByDay = { days: RunsOfDay[]; jobs: number; sinceMs?: number };
const isZone = (zone: string) => {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: zone }).format(0) !== "";
  } catch {
    return false;
  }
};
export const runsByDayQuerySchema = z.object({ zone: z.string().min(1).max(100).refine(isZone, "must be a time zone").default("UTC") });

export const stopBodySchema = z.object({ ids: z.array(z.string().min(1).max(200)).min(1).max(1000) });

const nameSchema = z.string().max(1000).transform(toPlainLine).pipe(z.string().trim().min(1).max(100));
const passwordSchema = z.string().min(SHORTEST_PASSWORD, `must have at least ${SHORTEST_PASSWORD} characters`).max(LONGEST_PASSWORD);
const emailSchema = z.string().trim().toLowerCase().max(254).pipe(z.email());

export const setUpBodySchema = z.object({
  token: z.string().min(1).max(200),
  name: nameSchema,
  email: emailSchema,
  password: passwordSchema,
});

const webAddress = z
  .url({ protocol: /^https?$/, error: "must be an address that begins with http:// or https://" })
  .max(2000)
  .refine((text) => !/^[a-z]+:\/\/[^/]*@/i.test(text), "must not contain a user name or password");
const keySchema = z
  .string()
  .trim()
  .min(1)
  .max(1000)
  .regex(/^[\x21-\x7e]+$/, "must be visible ASCII characters without spaces");

/** `shared` needs the role admin; without it the connection belongs to the member alone. */
export const connectionBodySchema = z.object({
  name: nameSchema,
  baseUrl: webAddress.refine((text) => !/[?#]/.test(text), "must not contain a query or a fragment"),
  /** Empty: none. In a change, what is left out stays as it is. */
  accountUrl: z
    .union([z.literal(""), webAddress], {
      error: "must be empty, or an address that begins with http:// or https:// and holds no user name or password",
    })
    .optional(),
  key: keySchema.optional(),
  shared: z.boolean().optional(),
  /** Save although the service does not accept it. Without it nothing is saved then. */
  keep: z.boolean().optional(),
});
/** What is left out stays as it is. Another base URL needs the key again: a stored key never travels to an address it was not given for. */
export const connectionChangeSchema = connectionBodySchema.omit({ shared: true }).partial();

export type MemberView = {
  id: string;
  name: string;
  email: string;
  role: (typeof roles)[number];
  disabled: boolean;
  createdAt: number;
  /** Only in the list, and where there is more than one way. */
  methods?: MemberMethods;
};
/** One of the member's own sign-ins. `browser` and `address` are empty where they are not known; `usedAt` is to the minute. */
export type SessionView = {
  id: string;
  browser: string;
  address: string;
  /** `password`, or who said who it is. */
  method: string;
  createdAt: number;
  usedAt: number;
  /** The one that asks. */
  current: boolean;
};
/** Since when, and who switched it on. */
export type ReadOnlyView = { since: number; by: string; note?: string };
export const readOnlyBodySchema = z.object({
  note: z.string().max(1000).transform(toPlainLine).pipe(z.string().trim().max(200)).optional(),
});
/** `withdrawn`: it was taken back, or whoever made the link has been removed or may not invite any more. */
export type InvitationState = "open" | "used" | "expired" | "withdrawn" | "unknown";
/** `resets`: it gives the member of that address a new password. */
export type InvitationView =
  { state: "open"; email: string; role: (typeof roles)[number]; resets: boolean } | { state: Exclude<InvitationState, "open"> };
/** Never with its link: the console keeps a hash of that. */
export type InvitationItem = {
  id: string;
  email: string;
  role: (typeof roles)[number];
  state: Exclude<InvitationState, "unknown">;
  /** Absent: a member who has been removed. */
  invitedBy?: string;
  /** Absent: from before this was kept. */
  createdAt?: number;
  expiresAt: number;
};
export const invitationBodySchema = z.object({ email: emailSchema, role: z.enum(roles).exclude(["owner"]) });
/** The name is of whoever joins; a link that gives a member a new password needs none. */
export const invitationAcceptSchema = z.object({
  token: z.string().min(1).max(200),
  name: nameSchema.optional(),
  password: passwordSchema,
});
/** A new address or password needs the present password: a session that was left open must not become an account. */
export const accountChangeSchema = z
  .object({ name: nameSchema, email: emailSchema, password: passwordSchema, currentPassword: z.string().min(1).max(254) })
  .partial()
  .refine(({ name, email, password }) => name !== undefined || email !== undefined || password !== undefined, "names nothing to change")
  .refine(({ email, password, currentPassword }) => currentPassword !== undefined || (email ?? password) === undefined, {
    path: ["currentPassword"],
    message: "required",
  });
/** Confirms that the member asks, before acts that must not be done from a session that was left open. */
export const confirmBodySchema = z.object({ password: z.string().min(1).max(254) });
export const memberChangeSchema = z.object({ role: z.enum(roles).exclude(["owner"]).optional(), disabled: z.boolean().optional() });
