import { z } from "zod";
import { parseJson } from "../json/parse-json";
import { defineOperations, json } from "../operation";
import { component, exactFields, namedSchema, withExactSchema } from "../schemas/exact";
import { anyNumber, booleanText, createIntegerText, lenientArray, lenientOptional, nullish, timestamp } from "../schemas/lenient";

const imageUploadFieldsSchema = z.object({
  type: z.string().max(50).default("output"),
  subfolder: z.string().max(500).default(""),
  overwrite: z.string().max(10).optional(),
});

export const imageUploadResponseSchema = component("UploadedImage", {
  name: z.string(),
  display_name: lenientOptional(z.string()),
  subfolder: lenientOptional(z.string()),
  type: lenientOptional(z.string()),
});

const originalRefSchema = z.looseObject({
  filename: z.string().min(1).max(1000),
  subfolder: nullish(z.string()),
  type: nullish(z.string()),
});

export const maskUploadFieldsSchema = imageUploadFieldsSchema.pick({ subfolder: true }).extend({
  original_ref: z
    .string()
    .max(4000)
    .transform((text, context) => {
      const parsed = originalRefSchema.safeParse(parseJson(text));
      if (parsed.success) return parsed.data;
      context.addIssue("must be JSON text with a filename");
      return z.NEVER;
    }),
});

export const maskUploadResponseSchema = namedSchema(
  "UploadedMask",
  imageUploadResponseSchema.extend({
    metadata: lenientOptional(
      z.looseObject({
        is_mask: lenientOptional(z.boolean()),
        original_hash: lenientOptional(z.string()),
        mask_type: lenientOptional(z.string()),
        related_files: lenientOptional(
          z.looseObject({ mask: lenientOptional(z.string()), paint: lenientOptional(z.string()), painted: lenientOptional(z.string()) }),
        ),
      }),
    ),
  }),
);

const maskLayersQuerySchema = z.object({ filename: z.string().min(1).max(1000) });
const maskLayersSchema = component("MaskLayers", {
  mask: lenientOptional(z.string()),
  paint: lenientOptional(z.string()),
  painted: lenientOptional(z.string()),
  painted_masked: lenientOptional(z.string()),
});

const viewQuerySchema = z.object({
  filename: z.string().min(1).max(1000),
  subfolder: z.string().max(500).optional(),
  type: z.string().max(50).optional(),
  channel: z.enum(["rgb", "a", "alpha"]).optional(),
  res: createIntegerText({ min: 64, max: 1024 }).optional(),
  /** Re-encodes the image in a format and quality, such as `webp;90`. */
  preview: z.string().max(50).optional(),
  timestamp: z.string().max(100).optional(),
  format: z.string().max(100).optional(),
  frame_rate: z.string().max(20).optional(),
  fullpath: z.string().max(1000).optional(),
  workflow: z.string().max(1000).optional(),
});

export const userdataQuerySchema = z.object({
  dir: z.string().max(2000).endsWith("/", "must end with /"),
  recurse: booleanText.default(false),
  split: booleanText.default(false),
  full_info: booleanText.default(true),
});

const userdataWriteQuerySchema = z.object({ overwrite: booleanText.default(true), full_info: booleanText.default(false) });

const userdataFileSchema = z.looseObject({ path: z.string(), size: lenientOptional(anyNumber), modified: lenientOptional(timestamp) });
export type UserdataFile = z.infer<typeof userdataFileSchema>;

const pathSchema = z.string().transform((path): UserdataFile => ({ path, size: undefined, modified: undefined }));
const exactFile = exactFields(userdataFileSchema);
export const userdataListSchema = namedSchema(
  "UserFiles",
  withExactSchema(lenientArray(z.union([userdataFileSchema, pathSchema])), z.array(exactFile.extend({ modified: z.number() }))),
);
export const userdataWriteResponseSchema = namedSchema(
  "WrittenFile",
  withExactSchema(z.union([userdataFileSchema, pathSchema]), z.union([z.string(), exactFile])),
);

export const fileOperations = defineOperations({
  uploadImage: {
    summary: "Uploads an image for LoadImage.",
    method: "POST",
    path: "/api/upload/image",
    body: { kind: "multipart", file: "image", fields: imageUploadFieldsSchema },
    refusals: ["INVALID_IMAGE"],
    responses: { 200: json(imageUploadResponseSchema) },
  },
  uploadMask: {
    summary: "Uploads a mask for an image.",
    method: "POST",
    path: "/api/upload/mask",
    item: "other",
    body: { kind: "multipart", file: "image", fields: maskUploadFieldsSchema },
    refusals: ["INVALID_IMAGE"],
    responses: { 200: json(maskUploadResponseSchema) },
  },
  listUserdata: {
    summary: "Lists your data files in a folder.",
    method: "GET",
    path: "/api/userdata",
    item: "other",
    query: userdataQuerySchema,
    refusals: ["FORBIDDEN", "NOT_FOUND"],
    responses: { 200: json(userdataListSchema) },
  },
  writeUserdata: {
    summary: "Writes a data file atomically.",
    method: "POST",
    path: "/api/userdata/{file}",
    item: "file",
    tail: "file",
    query: userdataWriteQuerySchema,
    body: { kind: "octets" },
    fixedQuery: { full_info: true },
    refusals: ["FORBIDDEN", "CONFLICT", "STORAGE_QUOTA_EXCEEDED"],
    responses: { 200: json(userdataWriteResponseSchema) },
  },
  view: {
    summary: "Returns a file by its name, one of its channels, or a thumbnail.",
    method: "GET",
    path: "/api/view",
    capability: "view",
    reads: "jobFiles",
    item: "other",
    query: viewQuerySchema,
    refusals: ["NOT_FOUND", "UNPROCESSABLE"],
    responses: { 200: { kind: "bytes" }, 206: { kind: "bytes" }, 302: { kind: "redirect" } },
  },
  readUserdata: {
    summary: "Returns a data file.",
    method: "GET",
    path: "/api/userdata/{file}",
    capability: "userdata.read",
    item: "file",
    tail: "file",
    refusals: ["FORBIDDEN"],
    responses: { 200: { kind: "bytes" }, 206: { kind: "bytes" } },
  },
  deleteUserdata: {
    summary: "Deletes a data file.",
    method: "DELETE",
    path: "/api/userdata/{file}",
    capability: "userdata.delete",
    item: "file",
    tail: "file",
    refusals: ["FORBIDDEN"],
    responses: { 204: { kind: "empty" } },
  },
  moveUserdata: {
    summary: "Moves a data file.",
    method: "POST",
    path: "/api/userdata/{file}/move/{dest}",
    capability: "userdata.move",
    item: "file",
    query: z.object({ overwrite: booleanText.default(true), full_info: booleanText.default(false) }),
    refusals: ["FORBIDDEN", "CONFLICT"],
    responses: { 200: json(userdataWriteResponseSchema) },
  },
  getMaskLayers: {
    summary: "Returns the layers of an uploaded mask.",
    method: "GET",
    path: "/api/files/mask-layers",
    capability: "maskLayers",
    item: "other",
    query: maskLayersQuerySchema,
    refusals: ["NOT_FOUND"],
    responses: { 200: json(maskLayersSchema) },
  },
});
