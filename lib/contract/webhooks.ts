// What admins send to set up a webhook, and what a receiver gets (docs/admin/webhooks.md).

import { z } from "zod";
import { jobStates } from "./jobs/job-list";
import { createPlainLine, webAddressSchema } from "./schemas/lenient";
import { renewals, webhookEvents, webhookFormats } from "./webhook-events";

const urlSchema = webAddressSchema.refine((text) => !text.includes("#"), "must not contain a fragment");

const eventsSchema = z
  .array(z.enum(webhookEvents))
  .min(1)
  .max(webhookEvents.length)
  .transform((events) => webhookEvents.filter((event) => events.includes(event)));

export const webhookSchema = z.object({
  connection: z.string().min(1).max(100),
  name: createPlainLine(100),
  url: urlSchema,
  format: z.enum(webhookFormats),
  events: eventsSchema,
  includesPrompts: z.boolean(),
  isEnabled: z.boolean(),
});
export type WebhookBody = z.output<typeof webhookSchema>;
export const webhookChangeSchema = webhookSchema
  .omit({ connection: true })
  .partial()
  .extend({ renewSecret: z.enum(renewals).optional() });
export type WebhookChange = z.output<typeof webhookChangeSchema>;

const time = z.iso.datetime();
const connection = z.object({ id: z.string(), name: z.string() });
const failure = z.object({ code: z.string(), message: z.string() });

const jobDataSchema = z.object({
  connection,
  job: z.object({
    id: z.string(),
    state: z.enum(jobStates),
    /** Its label, else the workflow's name, else its id. */
    name: z.string(),
    label: z.string().optional(),
    workflow: z.string().optional(),
    /** Who submitted it through this console. */
    member: z.string().optional(),
    createdAt: time.optional(),
    startedAt: time.optional(),
    endedAt: time.optional(),
    waitMs: z.number().optional(),
    runMs: z.number().optional(),
    outputs: z.int().optional(),
    failure: failure.optional(),
    /** Only if the webhook includes prompts. */
    prompt: z.string().optional(),
  }),
  /** The job's page in the console. */
  url: z.string(),
});
const batchDataSchema = z.object({
  connection,
  /** Jobs that were submitted together; those neither completed nor failed were cancelled or removed. */
  batch: z.object({
    id: z.string(),
    /** The workflow's name, else its id. */
    name: z.string(),
    /** Who submitted it. */
    member: z.string().optional(),
    jobs: z.int(),
    completed: z.int(),
    failed: z.int(),
  }),
  /** The jobs of the workflow. */
  url: z.string(),
});
const queueDataSchema = z.object({ connection, url: z.string() });
const connectionDataSchema = z.object({
  connection,
  since: time,
  failure: failure.optional(),
  downMs: z.number().optional(),
  url: z.string(),
});
const runnerDataSchema = connectionDataSchema.extend({ runner: z.object({ id: z.string(), label: z.string() }) });

const payload = <T extends string, D extends z.ZodType>(type: T, data: D) => z.object({ type: z.literal(type), timestamp: time, data });
export const webhookPayloadSchema = z.discriminatedUnion("type", [
  payload("job.completed", jobDataSchema),
  payload("job.failed", jobDataSchema),
  payload("batch.ended", batchDataSchema),
  payload("queue.idle", queueDataSchema),
  payload("connection.down", connectionDataSchema),
  payload("connection.up", connectionDataSchema),
  payload("runner.down", runnerDataSchema),
  payload("runner.up", runnerDataSchema),
  payload("webhook.test", z.object({ connection, webhook: z.object({ id: z.string(), name: z.string() }), url: z.string() })),
]);
export type WebhookPayload = z.output<typeof webhookPayloadSchema>;
