// Types and schemas of the console API. Responses never include API keys. Components import only the types.

import { z } from "zod";
import { type CheckOutcome, type ConnectionFeature, type Dialect } from "./connections";
import { jobParams, searchParams } from "./jobs/job-list";
import { roles } from "./members/roles";
import { MAX_PASSWORD_LENGTH, type MemberMethods, MIN_PASSWORD_LENGTH } from "./members/sign-in";
import { type JobListItem, type JobsResponse } from "./schemas/job";
import { createListText, createPlainLine, createQuerySchema, webAddressSchema } from "./schemas/lenient";

export const CONNECTION_PARAMETER = "connection";
/** Requests a service's JSON response as a raw file, if it is too large to show. */
export const RAW_PARAMETER = "raw";

export type ConnectionStatus = CheckOutcome | "unknown";

export type ConnectionView = {
  id: string;
  name: string;
  baseUrl: string;
  accountUrl?: string;
  embedded: boolean;
  shared: boolean;
  dialect: Dialect;
  hasAssets: boolean;
  lacks: readonly ConnectionFeature[];
  hasKey: boolean;
  /** A short hash that distinguishes keys. The key itself is never returned. */
  fingerprint?: string;
  current: boolean;
  status?: ConnectionStatus;
  /** The owner, if the viewer may see only the connection's jobs. Such a view has no address and no fingerprint. */
  seenOf?: string;
  seenBy?: JobViewerView[];
};

export type JobViewerView = { memberId: string; name: string; givenBy?: string; givenAt: number };
export type PersonalConnectionView = { id: string; ownerId: string; ownerName: string; createdAt: number; seenBy: JobViewerView[] };

export type ConnectionCheck = {
  outcome: CheckOutcome;
  message: string;
  dialect: Dialect;
  hasAssets?: boolean;
  retryAfterMs?: number;
};
/** `connection` is undefined if nothing was saved. */
export type ConnectionSaved = { connection?: ConnectionView; check: ConnectionCheck };

export function isAccepted({ outcome }: ConnectionCheck): boolean {
  return outcome === "active" || outcome === "waitlisted";
}

export type StopResult = {
  stopped: string[];
  stopping: string[];
  over: string[];
  /** Still running, because the service can't stop them individually or at all. */
  unable: string[];
  unsure?: string[];
  together: number;
};

export type QueueRow = JobListItem & { position?: number };
/** `source`: where the order of waiting jobs comes from. `canStop`: running jobs can be stopped. `total`: includes unlisted jobs. */
export type QueueView = {
  running: QueueRow[];
  pending: QueueRow[];
  source: "queue" | "jobs";
  canStop: boolean;
  total?: number;
  unreadable?: number;
};

/** A count is absent if the service does not report it. */
export type JobCounts = { jobs?: number; running?: number; pending?: number };

export type LackingClasses = { lacking: string[] };
const MAX_CLASSES = 2000;
export const missingClassesQuerySchema = z.object({ names: createListText(z.string().min(1).max(200), MAX_CLASSES).default([]) });

/** `day`: a date such as 2026-11-22 in the requested time zone. `other`: unfinished jobs. `isUnread`: more jobs are still being read. */
export type DayRuns = { day: string; completed: number; failed: number; cancelled: number; other: number; isUnread?: boolean };
/** `sinceMs`: the time of the oldest counted job, if older jobs were not counted. */
export type RunsByDay = { days: DayRuns[]; jobs: number; sinceMs?: number };
const isTimeZone = (zone: string) => {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: zone }).format(0) !== "";
  } catch {
    return false;
  }
};
export const runsByDayQuerySchema = z.object({ zone: z.string().min(1).max(100).refine(isTimeZone, "must be a time zone").default("UTC") });

export const stopBodySchema = z.object({ ids: z.array(z.string().min(1).max(200)).min(1).max(1000) });

const nameSchema = createPlainLine(100);
const passwordSchema = z.string().min(MIN_PASSWORD_LENGTH, `must have at least ${MIN_PASSWORD_LENGTH} characters`).max(MAX_PASSWORD_LENGTH);
const emailSchema = z.string().trim().toLowerCase().max(254).pipe(z.email());

export const setUpBodySchema = z.object({
  token: z.string().min(1).max(200),
  name: nameSchema,
  email: emailSchema,
  password: passwordSchema,
});

const keySchema = z
  .string()
  .trim()
  .min(1)
  .max(1000)
  .regex(/^[\x21-\x7e]+$/, "must be visible ASCII characters without spaces");

/** `shared` requires the role admin. Without it, the connection belongs to the member. */
export const connectionBodySchema = z.object({
  name: nameSchema,
  baseUrl: webAddressSchema.refine((text) => !/[?#]/.test(text), "must not contain a query or a fragment"),
  accountUrl: z
    .union([z.literal(""), webAddressSchema], {
      error: "must be empty, or an address that begins with http:// or https:// and contains no user name or password",
    })
    .optional(),
  key: keySchema.optional(),
  shared: z.boolean().optional(),
  keep: z.boolean().optional(),
});
/** A new base URL requires the key again, because a stored key is never sent to another address. */
export const connectionChangeSchema = connectionBodySchema.omit({ shared: true }).partial();

export type MemberView = {
  id: string;
  name: string;
  email: string;
  role: (typeof roles)[number];
  disabled: boolean;
  createdAt: number;
  seenAt?: number;
  roleFrom?: string;
  methods?: MemberMethods;
};
/** `browser` and `address` are empty if unknown. `usedAt` is accurate to the minute. */
export type SessionView = {
  id: string;
  browser: string;
  address: string;
  method: string;
  createdAt: number;
  usedAt: number;
  current: boolean;
};
/** `signed-out`: in this browser. `ended`: from another browser, or by the embedding page. */
export type EndedSession =
  | { cause: "signed-out" | "ended" | "expired" | "suspended" | "removed" | "password" }
  | { cause: "role"; from: (typeof roles)[number]; to: (typeof roles)[number] };
export type SessionState =
  { state: "live"; memberId: string; role: (typeof roles)[number]; canChange: boolean } | ({ state: "ended" } & EndedSession);
export type ReadOnlyView = { since: number; by: string; note?: string };
export const readOnlyBodySchema = z.object({
  note: createPlainLine(200, 0).optional(),
});
/** `withdrawn`: it was revoked, or its creator was removed or may no longer invite. */
export type InvitationState = "open" | "used" | "expired" | "withdrawn" | "unknown";
export type InvitationView =
  { state: "open"; email: string; role: (typeof roles)[number]; resets: boolean } | { state: Exclude<InvitationState, "open"> };
export type InvitationItem = {
  id: string;
  email: string;
  role: (typeof roles)[number];
  state: Exclude<InvitationState, "unknown">;
  invitedBy?: string;
  createdAt?: number;
  expiresAt: number;
};
export const invitationBodySchema = z.object({ email: emailSchema, role: z.enum(roles).exclude(["owner"]) });
export const invitationAcceptSchema = z.object({
  token: z.string().min(1).max(200),
  name: nameSchema.optional(),
  password: passwordSchema,
});
/** A new address or password requires the current password, so that an unattended session cannot take over the account. */
export const accountChangeSchema = z
  .object({ name: nameSchema, email: emailSchema, password: passwordSchema, currentPassword: z.string().min(1).max(254) })
  .partial()
  .refine(
    ({ name, email, password }) => name !== undefined || email !== undefined || password !== undefined,
    "must change at least one field",
  )
  .refine(({ email, password, currentPassword }) => currentPassword !== undefined || (email ?? password) === undefined, {
    path: ["currentPassword"],
    message: "required",
  });
export const confirmBodySchema = z.object({ password: z.string().min(1).max(254) });
export const memberChangeSchema = z.object({ role: z.enum(roles).exclude(["owner"]).optional(), disabled: z.boolean().optional() });

export const jobSearchQuerySchema = createQuerySchema({ ...jobParams, ...searchParams });
export type JobSearchQuery = z.infer<typeof jobSearchQuerySchema>;

export type JobReach = {
  /** `reading`: older jobs are still being read. `newest`: the job index or the service has only the newest jobs. */
  extent: "all" | "newest" | "reading";
  sinceMs?: number;
  unread: number;
  asOfMs?: number;
};
export type JobSearchResponse = JobsResponse & { reach: JobReach };

export type JobPeople = { people: { id: string; name: string }[] };

export const viewScreens = ["jobs", "history", "assets"] as const;
export type ViewScreen = (typeof viewScreens)[number];

export type SavedView = {
  id: string;
  name: string;
  query: string;
  team: boolean;
  isDefault: boolean;
  canChange: boolean;
};

const queryTextSchema = z.string().max(2_000);
export const savedViewBodySchema = z.object({
  screen: z.enum(viewScreens).default("jobs"),
  name: z.string().trim().min(1).max(80),
  query: queryTextSchema,
  team: z.boolean().default(false),
  isDefault: z.boolean().default(false),
});
export const savedViewsQuerySchema = z.object({ screen: z.enum(viewScreens).default("jobs") });
export const savedViewChangeSchema = z.object({
  name: z.string().trim().min(1).max(80).optional(),
  query: queryTextSchema.optional(),
  isDefault: z.boolean().optional(),
});

export const MAX_ARCHIVED_FILES = 10_000;

export const archiveSelectionSchema = z.union([
  z.object({ ids: z.array(z.string().min(1).max(200)).min(1).max(MAX_ARCHIVED_FILES) }),
  z.object({ query: z.string().max(20_000) }),
]);
export type ArchiveSelection = z.infer<typeof archiveSelectionSchema>;

/** `isCut`: more files matched than fit into one ZIP file. */
export type ArchiveResponse = { id: string; count?: number; isCut: boolean };
