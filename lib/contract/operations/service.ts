import { z } from "zod";
import { defineOperations, json } from "../operation";
import { taskSchema, tasksQuerySchema, tasksResponseSchema } from "../schemas/asset";
import { component, count, lenientOnly, namedSchema, omittable, withExactSchema } from "../schemas/exact";
import { anyNumber, lenientOptional } from "../schemas/lenient";
import { objectInfoSchema } from "../schemas/object-info";

/** `active` or `waitlisted`. Other values are stored and shown. */
export const userSchema = component("User", {
  status: withExactSchema(z.string(), z.enum(["active", "waitlisted"])),
  id: lenientOptional(z.string()),
  email: lenientOnly(lenientOptional(z.string())),
  storage: omittable(lenientOptional(z.looseObject({ used_bytes: anyNumber, quota_bytes: anyNumber }))),
});

const modelNamesSchema = namedSchema("ModelNames", z.array(z.string()));

export const featuresSchema = component("Features", {
  supports_preview_metadata: lenientOptional(z.boolean()),
  max_upload_size: lenientOptional(anyNumber),
});
export type Features = z.infer<typeof featuresSchema>;

const exactSystemSchema = z.object({
  os: z.string(),
  ram_total: count,
  ram_free: count,
  comfyui_version: z.string(),
  python_version: z.string(),
  embedded_python: z.boolean(),
  argv: z.array(z.string()),
});
const exactDeviceSchema = z.object({
  name: z.string(),
  type: z.string(),
  index: count,
  vram_total: count,
  vram_free: count,
  torch_vram_total: count,
  torch_vram_free: count,
});

const systemStatsSchema = component("SystemStats", {
  system: withExactSchema(z.looseObject({ os: lenientOptional(z.string()) }), exactSystemSchema),
  devices: withExactSchema(z.array(z.looseObject({})).catch([]), z.array(exactDeviceSchema)),
});

const freeBodySchema = z.looseObject({}).optional();

export const serviceOperations = defineOperations({
  getUser: {
    summary: "Returns the user of the key.",
    method: "GET",
    path: "/api/user",
    isLackedByLocal: true,
    responses: { 200: json(userSchema) },
  },
  getTask: {
    summary: "Returns a background task with its progress.",
    method: "GET",
    path: "/api/tasks/{task_id}",
    item: "task",
    responses: { 200: json(taskSchema) },
  },
  listTasks: {
    method: "GET",
    path: "/api/tasks",
    capability: "tasks.list",
    query: tasksQuerySchema,
    responses: { 200: json(tasksResponseSchema) },
  },
  cancelTask: {
    summary: "Cancels a background task.",
    method: "DELETE",
    path: "/api/tasks/{task_id}",
    capability: "tasks.cancel",
    item: "task",
    refusals: ["CONFLICT"],
    responses: { 204: { kind: "empty" } },
  },
  getObjectInfo: {
    summary: "Returns all node classes.",
    method: "GET",
    path: "/api/object_info",
    capability: "objectInfo",
    subject: "nodes",
    responses: { 200: json(objectInfoSchema) },
  },
  getObjectInfoOf: {
    summary: "Returns a node class. If it is unknown, the object is empty.",
    method: "GET",
    path: "/api/object_info/{class}",
    capability: "objectInfo.class",
    subject: "nodes",
    item: "other",
    responses: { 200: json(objectInfoSchema) },
  },
  listModelFolders: {
    summary: "Lists model folders. The built-in nodes need no models, so the list is empty.",
    method: "GET",
    path: "/api/models",
    capability: "models",
    responses: { 200: json(modelNamesSchema) },
  },
  listModels: {
    summary: "Lists the models of a folder. The list is empty.",
    method: "GET",
    path: "/api/models/{folder}",
    capability: "models",
    item: "other",
    responses: { 200: json(modelNamesSchema) },
  },
  getFeatures: {
    summary: "Returns the features of the service.",
    method: "GET",
    path: "/api/features",
    capability: "features",
    responses: { 200: json(featuresSchema) },
  },
  getSystemStats: {
    summary: "Returns operating system, memory and devices in ComfyUI's format.",
    method: "GET",
    path: "/api/system_stats",
    capability: "systemStats",
    responses: { 200: json(systemStatsSchema) },
  },
  freeMemory: {
    summary: "Does nothing: there are no models to unload. For compatibility with ComfyUI.",
    method: "POST",
    path: "/api/free",
    capability: "free",
    body: json(freeBodySchema),
    responses: { 200: { kind: "empty" } },
  },
});
