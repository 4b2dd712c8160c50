// Runners of the embedded service: the built-in runner and self-hosted ComfyUI servers. Unrelated to the role "runner".

import { z } from "zod";
import { addScheme, type RunnerProblem, settableRunnerStates, toBaseUrl } from "../connections";
import { toPlainLine } from "../plain-line";
import { createPlainLine, webAddressSchema } from "../schemas/lenient";

export const BUILT_IN_RUNNER = "built-in";

/** `draining`: becomes `paused` after its last job. `set_aside`: paused by the service after failures. `checking`: no response yet. */
export const runnerStates = ["ready", "draining", "paused", "set_aside", "unreachable", "checking"] as const;

const idSchema = z.string().min(1).max(200);
const labelSchema = createPlainLine(60);
const tagsSchema = z
  .array(z.string().max(200).transform(toPlainLine).pipe(z.string().trim().min(1).max(40)))
  .max(20)
  .transform((tags) => [...new Set(tags)]);
const slotsSchema = z.int().min(1).max(16);

/** Accepts `localhost:8188`, or a URL that ends with /api. Each server has a single canonical URL. */
export const runnerAddressSchema = z
  .string()
  .trim()
  .min(1)
  .max(2000)
  .transform((address) => toBaseUrl(addScheme(address)))
  .pipe(webAddressSchema)
  .refine((text) => !/[?#]/.test(text), "must not contain a query or a fragment")
  .transform((text) => (URL.canParse(text) ? toBaseUrl(new URL(text).href) : text))
  .pipe(z.string().max(2000));

export const runnerDeviceSchema = z.object({
  name: z.string(),
  type: z.string(),
  vramTotal: z.number().nullable(),
  vramFree: z.number().nullable(),
});

export type Runner = {
  id: string;
  label: string;
  address: string | null;
  tags: string[];
  /** The number of parallel jobs. For the built-in runner, LIGHTDESK_CONCURRENCY summed across services that share a database. */
  slots: number;
  state: (typeof runnerStates)[number];
  reason: { code: RunnerProblem | "failures"; message: string } | null;
  version: string | null;
  devices: z.infer<typeof runnerDeviceSchema>[];
  classes: number;
  running: number;
  queue: { running: number; pending: number } | null;
  /** Jobs of this service since the runner was added: `done` counts successes, `failed` counts failures. */
  done: number;
  failed: number;
  meanRunMs: number | null;
  lastSeenMs: number | null;
};

export const newRunnerSchema = z.object({
  address: runnerAddressSchema,
  label: labelSchema.optional(),
  tags: tagsSchema.default([]),
  slots: slotsSchema.default(1),
  keep: z.boolean().default(false),
});
export type NewRunner = z.input<typeof newRunnerSchema>;

export const runnerChangeSchema = z.object({
  label: labelSchema.optional(),
  address: runnerAddressSchema.optional(),
  tags: tagsSchema.optional(),
  slots: slotsSchema.optional(),
  state: z.enum(settableRunnerStates).optional(),
});
export type RunnerChange = z.input<typeof runnerChangeSchema>;

export type RunnerFacts = Pick<Runner, "version" | "devices" | "classes" | "queue">;
export type RunnerCheck = { ok: true; address: string; facts: RunnerFacts } | { ok: false; code: RunnerProblem; message: string };

/** `taken`: another runner has this address. `built_in`: the built-in runner has no address and cannot be removed. */
export type RunnerFailure = { code: RunnerProblem | "invalid" | "not_found" | "taken" | "built_in"; message: string };

type RunnerOutcome<T> = { ok: true; value: T } | { ok: false; failure: RunnerFailure };

export type ServiceRunners = {
  list(): Promise<Runner[]>;
  check(address: string): Promise<RunnerCheck>;
  add(runner: NewRunner): Promise<RunnerOutcome<Runner>>;
  change(id: string, change: RunnerChange): Promise<RunnerOutcome<Runner>>;
  /** Moves its running jobs to other runners. Past jobs still show its label. */
  remove(id: string): Promise<RunnerOutcome<undefined>>;
};

export const jobRunnerSchema = z.object({ id: idSchema, label: z.string(), attempt: z.int().min(1) });
export type JobRunner = z.infer<typeof jobRunnerSchema>;

/** `state`: that of the runner that can start the job first. `none`: no runner can run it. `ahead`: earlier jobs in a runner's queue. */
export const jobWaitReasonSchema = z.object({
  state: z.enum(["draining", "paused", "set_aside", "unreachable", "checking", "none", "queued"]),
  ahead: z.int().min(0).optional(),
  runners: z.array(z.string()),
  message: z.string(),
});
export type JobWaitReason = z.infer<typeof jobWaitReasonSchema>;

export type RunnerSaved =
  { runner: Runner; problem?: undefined } | { runner?: undefined; problem: { code: RunnerProblem; message: string } };
