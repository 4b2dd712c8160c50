// The user behind the key, background tasks, and what a service says about itself.

import { z } from "zod";
import { defineOperation, json } from "../operation";
import { objectInfoSchema } from "../schemas/object-info";
import { taskSchema, tasksAnswerSchema, tasksQuerySchema } from "../schemas/task";
import { featuresSchema, systemStatsSchema, userSchema } from "../schemas/user";

/** What the service shall let go of; one that holds nothing accepts anything. */
const freeBody = z.looseObject({}).optional();

export const serviceOperations = {
  getUser: defineOperation({
    name: "getUser",
    summary: "The user behind the key.",
    method: "GET",
    path: "/api/user",
    tier: "core",
    isLackedByLocal: true,
    role: "viewer",
    answers: { 200: json(userSchema) },
  }),
  getTask: defineOperation({
    name: "getTask",
    summary: "A background task, with its progress.",
    method: "GET",
    path: "/api/tasks/{task_id}",
    tier: "core",
    role: "viewer",
    item: "task",
    answers: { 200: json(taskSchema) },
  }),
  listTasks: defineOperation({
    name: "listTasks",
    method: "GET",
    path: "/api/tasks",
    tier: "extension",
    capability: "tasks.list",
    role: "viewer",
    query: tasksQuerySchema,
    answers: { 200: json(tasksAnswerSchema) },
  }),
  cancelTask: defineOperation({
    name: "cancelTask",
    summary: "Cancels a background task.",
    method: "DELETE",
    path: "/api/tasks/{task_id}",
    tier: "extension",
    capability: "tasks.cancel",
    role: "operator",
    item: "task",
    refusals: ["CONFLICT"],
    answers: { 204: { kind: "empty" } },
  }),
  getObjectInfo: defineOperation({
    name: "getObjectInfo",
    summary: "The node library.",
    method: "GET",
    path: "/api/object_info",
    tier: "extension",
    capability: "objectInfo",
    role: "viewer",
    tells: "nodes",
    answers: { 200: json(objectInfoSchema) },
  }),
  getObjectInfoOf: defineOperation({
    name: "getObjectInfoOf",
    summary: "One class of the node library; an empty object where it has none of that name.",
    method: "GET",
    path: "/api/object_info/{class}",
    tier: "extension",
    capability: "objectInfo.class",
    role: "viewer",
    tells: "nodes",
    item: "other",
    answers: { 200: json(objectInfoSchema) },
  }),
  getFeatures: defineOperation({
    name: "getFeatures",
    summary: "What the service says of itself.",
    method: "GET",
    path: "/api/features",
    tier: "extension",
    capability: "features",
    role: "viewer",
    answers: { 200: json(featuresSchema) },
  }),
  getSystemStats: defineOperation({
    name: "getSystemStats",
    summary: "What the machine is and has, in the family's words.",
    method: "GET",
    path: "/api/system_stats",
    tier: "extension",
    capability: "systemStats",
    role: "viewer",
    answers: { 200: json(systemStatsSchema) },
  }),
  freeMemory: defineOperation({
    name: "freeMemory",
    summary: "Nothing is kept that could be freed: answers 200 to clients that ask.",
    method: "POST",
    path: "/api/free",
    tier: "extension",
    capability: "free",
    role: "operator",
    body: json(freeBody),
    answers: { 200: { kind: "empty" } },
  }),
};
