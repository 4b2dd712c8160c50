// The schemas for setting up webhooks, and for the payloads that receivers get (docs/admin/webhooks.md).

import { z } from "zod";
import { jobStates } from "./jobs/job-list";
import { createPlainLine, webAddressSchema } from "./schemas/lenient";
import { secretRenewals, webhookEvents, webhookFormats } from "./webhook-events";

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
  .extend({ renewSecret: z.enum(secretRenewals).optional() });
export type WebhookChange = z.output<typeof webhookChangeSchema>;

const timeSchema = z.iso.datetime();
const connectionSchema = z.object({ id: z.string(), name: z.string() });
const failureSchema = z.object({ code: z.string(), message: z.string() });

const jobDataSchema = z.object({
  connection: connectionSchema,
  job: z.object({
    id: z.string(),
    state: z.enum(jobStates),
    /** The label, or the workflow's name, or the id. */
    name: z.string(),
    label: z.string().optional(),
    workflow: z.string().optional(),
    /** The member who submitted it through this console. */
    member: z.string().optional(),
    createdAt: timeSchema.optional(),
    startedAt: timeSchema.optional(),
    endedAt: timeSchema.optional(),
    waitMs: z.number().optional(),
    runMs: z.number().optional(),
    outputs: z.int().optional(),
    failure: failureSchema.optional(),
    /** Only if the webhook includes prompts. */
    prompt: z.string().optional(),
  }),
  /** The job's page in the console. */
  url: z.string(),
});
const batchDataSchema = z.object({
  connection: connectionSchema,
  /** Jobs that were submitted together. Jobs that neither completed nor failed were cancelled or removed. */
  batch: z.object({
    id: z.string(),
    /** The workflow's name, or its id. */
    name: z.string(),
    /** The member who submitted it. */
    member: z.string().optional(),
    jobs: z.int(),
    completed: z.int(),
    failed: z.int(),
  }),
  /** The jobs of the workflow. */
  url: z.string(),
});
const queueDataSchema = z.object({ connection: connectionSchema, url: z.string() });
const connectionDataSchema = z.object({
  connection: connectionSchema,
  since: timeSchema,
  failure: failureSchema.optional(),
  downMs: z.number().optional(),
  url: z.string(),
});
const runnerDataSchema = connectionDataSchema.extend({ runner: z.object({ id: z.string(), label: z.string() }) });

const createPayloadSchema = <T extends string, D extends z.ZodType>(type: T, data: D) =>
  z.object({ type: z.literal(type), timestamp: timeSchema, data });
export const webhookPayloadSchema = z.discriminatedUnion("type", [
  createPayloadSchema("job.completed", jobDataSchema),
  createPayloadSchema("job.failed", jobDataSchema),
  createPayloadSchema("batch.ended", batchDataSchema),
  createPayloadSchema("queue.idle", queueDataSchema),
  createPayloadSchema("connection.down", connectionDataSchema),
  createPayloadSchema("connection.up", connectionDataSchema),
  createPayloadSchema("runner.down", runnerDataSchema),
  createPayloadSchema("runner.up", runnerDataSchema),
  createPayloadSchema(
    "webhook.test",
    z.object({ connection: connectionSchema, webhook: z.object({ id: z.string(), name: z.string() }), url: z.string() }),
  ),
]);
export type WebhookPayload = z.output<typeof webhookPayloadSchema>;
