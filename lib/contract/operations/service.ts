// The user behind the key, background tasks, and what a service says of itself.

import { z } from "zod";
import { defineOperation, json } from "../operation";
import { objectInfoSchema } from "../schemas/object-info";
import { taskSchema, tasksAnswerSchema, tasksQuerySchema } from "../schemas/task";
import { featuresSchema, systemStatsSchema, userSchema } from "../schemas/user";

/** What to let go of; a service that holds nothing takes any. */
const freeBody = z.looseObject({}).optional();

export const serviceOperations = {
  getUser: defineOperation({
    name: "getUser",
    method: "GET",
    path: "/api/user",
    tier: "core",
    isLackedByLocal: true,
    role: "viewer",
    answers: { 200: json(userSchema) },
  }),
  getTask: defineOperation({
    name: "getTask",
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
    method: "DELETE",
    path: "/api/tasks/{task_id}",
    tier: "extension",
    capability: "tasks.cancel",
    role: "operator",
    item: "task",
    answers: { 204: { kind: "empty" } },
  }),
  getObjectInfo: defineOperation({
    name: "getObjectInfo",
    method: "GET",
    path: "/api/object_info",
    tier: "extension",
    capability: "objectInfo",
    role: "viewer",
    answers: { 200: json(objectInfoSchema) },
  }),
  getObjectInfoOf: defineOperation({
    name: "getObjectInfoOf",
    method: "GET",
    path: "/api/object_info/{class}",
    tier: "extension",
    capability: "objectInfo.class",
    role: "viewer",
    item: "other",
    answers: { 200: json(objectInfoSchema) },
  }),
  getFeatures: defineOperation({
    name: "getFeatures",
    method: "GET",
    path: "/api/features",
    tier: "extension",
    capability: "features",
    role: "viewer",
    answers: { 200: json(featuresSchema) },
  }),
  getSystemStats: defineOperation({
    name: "getSystemStats",
    method: "GET",
    path: "/api/system_stats",
    tier: "extension",
    capability: "systemStats",
    role: "viewer",
    answers: { 200: json(systemStatsSchema) },
  }),
  freeMemory: defineOperation({
    name: "freeMemory",
    method: "POST",
    path: "/api/free",
    tier: "extension",
    capability: "free",
    role: "operator",
    body: json(freeBody),
    answers: { 200: { kind: "empty" } },
  }),
};
