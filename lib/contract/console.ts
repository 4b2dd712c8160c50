// The console's own resources, beside the interface: connections, members, and the queue as one view of two sources.
// Guarantees: no type here has a field for a key. Schemas are for the server; components import the types only.

import { z } from "zod";
import { isCapability } from "./capabilities";
import { type CheckOutcome } from "./connections";
import { jobParams, searchParams } from "./jobs/job-list";
import { userdataQuerySchema } from "./operations/files";
import { roles } from "./people/roles";
import { MAX_PASSWORD_LENGTH, type MemberMethods, SHORTEST_PASSWORD } from "./people/sign-in";
import { toPlainLine } from "./plain-line";
import { type JobListItem, type JobsAnswer } from "./schemas/job";
import { commaList, querySchema } from "./schemas/lenient";

/** The query parameter that names the connection. */
export const CONNECTION_PARAMETER = "connection";
/** The query parameter that asks for a service's JSON answer as a file, unparsed: for answers that are too large to be shown. */
export const RAW_PARAMETER = "raw";

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
  /** All members use it, with one key. */
  shared: boolean;
  dialect: Dialect;
  /** False: a local server that was started without its asset library, or is too old to have one. */
  hasAssets: boolean;
  hasKey: boolean;
  /** A short hash of the key, to tell two keys apart; the key itself is never sent back. */
  fingerprint?: string;
  /** The connection that the page or the member works with now. */
  current: boolean;
  status?: ConnectionStatus;
  /** The member who owns it, if only its jobs may be seen here. Such a view has no address and no fingerprint. */
  seenOf?: string;
  /** On a member's own connection: who sees its jobs. */
  seenBy?: JobViewerView[];
};

/** A member who sees the jobs of another member's own connection. `givenBy`: absent if that member has been removed. */
export type JobViewerView = { memberId: string; name: string; givenBy?: string; givenAt: number };
/** Another member's own connection, as admins see it: whose it is, since when, and who sees its jobs. */
export type PersonalConnectionView = { id: string; ownerId: string; ownerName: string; createdAt: number; seenBy: JobViewerView[] };

export type ConnectionCheck = {
  outcome: CheckOutcome;
  message: string;
  dialect: Dialect;
  hasAssets?: boolean;
  /** How long a failing service asks to wait, if it names a time. */
  retryAfterMs?: number;
};
/** Without a connection nothing was saved: the service did not accept it, and the request did not ask to keep it anyway. */
export type ConnectionSaved = { connection?: ConnectionView; check: ConnectionCheck };

/** The key is good, though perhaps not yet for running jobs. */
export function isAccepted({ outcome }: ConnectionCheck): boolean {
  return outcome === "active" || outcome === "waitlisted";
}

/** What became of the running jobs that were named; every id is in one of the lists. */
export type StopReceipt = {
  stopped: string[];
  /** Asked to stop; the service does not say whether they did. */
  stopping: string[];
  /** Were no longer running. */
  over: string[];
  /** Still running: the service cannot stop them, or not on their own. */
  unable: string[];
  /** Asked to stop, but no clear answer came. */
  unsure?: string[];
  /** How many would stop together, if the service can only stop them together; 0 elsewhere. */
  together: number;
};

export type QueueRow = JobListItem & { position?: number };
/** `source`: where the order of waiting jobs comes from. `canStop`: running jobs can be stopped. `total`: all, listed or not. */
export type QueueView = {
  running: QueueRow[];
  pending: QueueRow[];
  source: "queue" | "jobs";
  canStop: boolean;
  total?: number;
  /** How many jobs were left out, since their shape is unknown. */
  unreadable?: number;
};

/** `dir`: a folder of user data that may hold a file to probe with. */
export const capabilitiesQuerySchema = z.object({
  of: commaList(z.string().refine(isCapability)).default([]),
  dir: userdataQuerySchema.shape.dir.optional(),
});

/** The requested node classes that the service does not have. */
export type LackingClasses = { lacking: string[] };
const MAX_CLASSES = 2000;
export const lackingClassesQuerySchema = z.object({ names: commaList(z.string().min(1).max(200), MAX_CLASSES).default([]) });

/**
 * Jobs by the day they were submitted, oldest day first. `day`: a date like 2026-11-22 in the requested zone. `other`: not completed,
 * failed or cancelled yet. `isUnread`: there may be more, which are still being read.
 */
export type RunsOfDay = { day: string; completed: number; failed: number; cancelled: number; other: number; isUnread?: boolean };
/** `jobs`: how many were counted. `sinceMs`: the oldest one counted, if there are older ones that were not. */
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
const passwordSchema = z.string().min(SHORTEST_PASSWORD, `must have at least ${SHORTEST_PASSWORD} characters`).max(MAX_PASSWORD_LENGTH);
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

/** `shared` needs the role admin; without it the connection is the member's own. */
export const connectionBodySchema = z.object({
  name: nameSchema,
  baseUrl: webAddress.refine((text) => !/[?#]/.test(text), "must not contain a query or a fragment"),
  /** Empty: none. In a change, an absent field stays as it is. */
  accountUrl: z
    .union([z.literal(""), webAddress], {
      error: "must be empty, or an address that begins with http:// or https:// and holds no user name or password",
    })
    .optional(),
  key: keySchema.optional(),
  shared: z.boolean().optional(),
  /** Save even if the service does not accept it. Otherwise nothing is saved then. */
  keep: z.boolean().optional(),
});
/** Absent fields stay as they are. A new base URL needs the key again: a stored key is never sent to an address it was not given for. */
export const connectionChangeSchema = connectionBodySchema.omit({ shared: true }).partial();

export type MemberView = {
  id: string;
  name: string;
  email: string;
  role: (typeof roles)[number];
  disabled: boolean;
  createdAt: number;
  /** When one of their sessions was last used, to the minute. Absent: never. */
  seenAt?: number;
  /** Only in the list: the display name of the provider whose groups give the role. */
  roleFrom?: string;
  /** Only in the list, and only if there is more than one way to sign in. */
  methods?: MemberMethods;
};
/** One of the member's own sign-ins. `browser` and `address` are empty if not known; `usedAt` is exact to the minute. */
export type SessionView = {
  id: string;
  browser: string;
  address: string;
  /** `password`, or the provider or proxy that named the member. */
  method: string;
  createdAt: number;
  usedAt: number;
  /** The session that asks. */
  current: boolean;
};
/**
 * Why a page's session ended. `signed-out`: in this browser; `ended`: from another browser, or with the embedding page. `role` has the role
 * before and now.
 */
export type EndedSession =
  | { cause: "signed-out" | "ended" | "expired" | "suspended" | "removed" | "password" }
  | { cause: "role"; from: (typeof roles)[number]; to: (typeof roles)[number] };
/** The session of an open page, as returned to its polling. */
export type SessionState = { state: "live"; memberId: string; role: (typeof roles)[number] } | ({ state: "ended" } & EndedSession);
/** Since when the console is read-only, and who switched it on. */
export type ReadOnlyView = { since: number; by: string; note?: string };
export const readOnlyBodySchema = z.object({
  note: z.string().max(1000).transform(toPlainLine).pipe(z.string().trim().max(200)).optional(),
});
/** `withdrawn`: it was taken back, or the member who made the link has been removed or may no longer invite. */
export type InvitationState = "open" | "used" | "expired" | "withdrawn" | "unknown";
/** `resets`: it gives the member with that address a new password. */
export type InvitationView =
  { state: "open"; email: string; role: (typeof roles)[number]; resets: boolean } | { state: Exclude<InvitationState, "open"> };
/** Never with its link: the console keeps only a hash of it. */
export type InvitationItem = {
  id: string;
  email: string;
  role: (typeof roles)[number];
  state: Exclude<InvitationState, "unknown">;
  /** Absent: the member who invited has been removed. */
  invitedBy?: string;
  /** Absent: the invitation is older than this field. */
  createdAt?: number;
  expiresAt: number;
};
export const invitationBodySchema = z.object({ email: emailSchema, role: z.enum(roles).exclude(["owner"]) });
/** `name`: of the person who joins; a link that gives a member a new password needs none. */
export const invitationAcceptSchema = z.object({
  token: z.string().min(1).max(200),
  name: nameSchema.optional(),
  password: passwordSchema,
});
/** A new address or password needs the present password: a session that was left open must not be enough to take over the account. */
export const accountChangeSchema = z
  .object({ name: nameSchema, email: emailSchema, password: passwordSchema, currentPassword: z.string().min(1).max(254) })
  .partial()
  .refine(({ name, email, password }) => name !== undefined || email !== undefined || password !== undefined, "names nothing to change")
  .refine(({ email, password, currentPassword }) => currentPassword !== undefined || (email ?? password) === undefined, {
    path: ["currentPassword"],
    message: "required",
  });
/** Confirms who is asking, before acts that must not be done from a session that was left open. */
export const confirmBodySchema = z.object({ password: z.string().min(1).max(254) });
export const memberChangeSchema = z.object({ role: z.enum(roles).exclude(["owner"]).optional(), disabled: z.boolean().optional() });

export const jobSearchQuerySchema = querySchema({ ...jobParams, ...searchParams });
export type JobSearchQuery = z.infer<typeof jobSearchQuerySchema>;

export type JobReach = {
  /** `reading`: older jobs are still being read. `newest`: the ledger keeps, or the service lists, only the newest. */
  extent: "all" | "newest" | "reading";
  /** Every job since then is found; absent if nothing was read yet. */
  sinceMs?: number;
  /** How many known jobs have inputs that have not been read. */
  unread: number;
  /** The service did not answer just now: this is the state at that time. */
  asOfMs?: number;
};
export type JobSearchAnswer = JobsAnswer & { reach: JobReach };

/** Members who submitted jobs through the console, on one connection. */
export type JobPeople = { people: { id: string; name: string }[] };

export const viewScreens = ["jobs", "assets"] as const;
export type ViewScreen = (typeof viewScreens)[number];

export type SavedView = {
  id: string;
  name: string;
  /** The address's query, without the question mark; empty for the bare list. */
  query: string;
  /** Visible to all members. */
  team: boolean;
  /** The list opens with it, for the member who asks. */
  isDefault: boolean;
  canChange: boolean;
};

const queryText = z.string().max(2_000);
export const savedViewBodySchema = z.object({
  screen: z.enum(viewScreens).default("jobs"),
  name: z.string().trim().min(1).max(80),
  query: queryText,
  team: z.boolean().default(false),
  isDefault: z.boolean().default(false),
});
export const savedViewsQuerySchema = z.object({ screen: z.enum(viewScreens).default("jobs") });
/** Absent fields stay as they are. */
export const savedViewChangeSchema = z.object({
  name: z.string().trim().min(1).max(80).optional(),
  query: queryText.optional(),
  isDefault: z.boolean().optional(),
});

/** The most files in one ZIP; a million pictures are not one download. */
export const MAX_ARCHIVED = 10_000;

export const archiveChoiceSchema = z.union([
  z.object({ ids: z.array(z.string().min(1).max(200)).min(1).max(MAX_ARCHIVED) }),
  /** The filters of a list, as they are in its address. */
  z.object({ query: z.string().max(20_000) }),
]);
export type ArchiveChoice = z.infer<typeof archiveChoiceSchema>;

/** `count`: how many files it will hold, if the service counts; `isCut`: more files matched than one ZIP may hold. */
export type ArchiveAnswer = { id: string; count?: number; isCut: boolean };
