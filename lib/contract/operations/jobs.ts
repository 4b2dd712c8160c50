// Submitting, listing, reading and cancelling jobs; queue and history.

import { z } from "zod";
import { defineOperation, json } from "../operation";
import {
  cancelAnswerSchema,
  jobAssetsAnswerSchema,
  jobDetailSchema,
  jobsAnswerSchema,
  jobsQuerySchema,
  jobStatusSchema,
} from "../schemas/job";
import { integerText, maybe } from "../schemas/lenient";
import { promptAnswerSchema, promptBodySchema, queueDepthSchema } from "../schemas/prompt";
import {
  historyAnswerSchema,
  historyDetailSchema,
  historyManageAnswerSchema,
  historyQuerySchema,
  manageBodySchema,
  queueAnswerSchema,
  queueListSchema,
} from "../schemas/queue";

const idsBody = z.looseObject({ job_ids: z.array(z.string().max(200)).min(1).max(100) });
const pageQuery = z.object({ limit: integerText({ min: 1, max: 500 }).default(20), offset: integerText({ min: 0 }).default(0) });
/** Most services take no body at all. */
const interruptBody = z.looseObject({ prompt_id: maybe(z.string().max(200)) }).optional();

export const jobOperations = {
  submitPrompt: defineOperation({
    name: "submitPrompt",
    method: "POST",
    path: "/api/prompt",
    tier: "core",
    role: "operator",
    body: json(promptBodySchema),
    answers: { 200: json(promptAnswerSchema) },
  }),
  listJobs: defineOperation({
    name: "listJobs",
    method: "GET",
    path: "/api/jobs",
    tier: "core",
    role: "viewer",
    query: jobsQuerySchema,
    answers: { 200: json(jobsAnswerSchema) },
  }),
  getJob: defineOperation({
    name: "getJob",
    method: "GET",
    path: "/api/jobs/{job_id}",
    tier: "core",
    role: "viewer",
    answers: { 200: json(jobDetailSchema) },
  }),
  getJobStatus: defineOperation({
    name: "getJobStatus",
    method: "GET",
    path: "/api/job/{job_id}/status",
    tier: "core",
    role: "viewer",
    answers: { 200: json(jobStatusSchema) },
  }),
  manageQueue: defineOperation({
    name: "manageQueue",
    method: "POST",
    path: "/api/queue",
    tier: "core",
    role: "operator",
    body: json(manageBodySchema),
    answers: { 200: json(queueAnswerSchema) },
  }),
  listHistory: defineOperation({
    name: "listHistory",
    method: "GET",
    path: "/api/history_v2",
    tier: "core",
    role: "viewer",
    query: historyQuerySchema,
    answers: { 200: json(historyAnswerSchema) },
  }),
  manageHistory: defineOperation({
    name: "manageHistory",
    method: "POST",
    path: "/api/history",
    tier: "core",
    role: "operator",
    body: json(manageBodySchema),
    answers: { 200: json(historyManageAnswerSchema) },
  }),
  getQueueDepth: defineOperation({
    name: "getQueueDepth",
    method: "GET",
    path: "/api/prompt",
    tier: "extension",
    capability: "queue.list",
    role: "viewer",
    answers: { 200: json(queueDepthSchema) },
  }),
  listQueue: defineOperation({
    name: "listQueue",
    method: "GET",
    path: "/api/queue",
    tier: "extension",
    capability: "queue.list",
    role: "viewer",
    answers: { 200: json(queueListSchema) },
  }),
  interrupt: defineOperation({
    name: "interrupt",
    method: "POST",
    path: "/api/interrupt",
    tier: "extension",
    capability: "interrupt",
    role: "operator",
    body: json(interruptBody),
    answers: { 200: { kind: "empty" } },
  }),
  cancelJob: defineOperation({
    name: "cancelJob",
    method: "POST",
    path: "/api/jobs/{job_id}/cancel",
    tier: "extension",
    capability: "jobs.cancel",
    role: "operator",
    answers: { 200: json(cancelAnswerSchema) },
  }),
  cancelJobs: defineOperation({
    name: "cancelJobs",
    method: "POST",
    path: "/api/jobs/cancel",
    tier: "extension",
    capability: "jobs.cancel",
    role: "operator",
    body: json(idsBody),
    answers: { 200: json(cancelAnswerSchema) },
  }),
  listJobAssets: defineOperation({
    name: "listJobAssets",
    method: "GET",
    path: "/api/jobs/{job_id}/assets",
    tier: "extension",
    capability: "jobs.assets",
    role: "viewer",
    query: pageQuery,
    answers: { 200: json(jobAssetsAnswerSchema) },
  }),
  getHistoryEntry: defineOperation({
    name: "getHistoryEntry",
    method: "GET",
    path: "/api/history_v2/{job_id}",
    tier: "extension",
    capability: "history.detail",
    role: "viewer",
    answers: { 200: json(historyDetailSchema) },
  }),
};
