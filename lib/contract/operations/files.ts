// Uploads for LoadImage nodes, bytes by name, user data files, mask layers.

import { z } from "zod";
import { defineOperation, json } from "../operation";
import { booleanText } from "../schemas/lenient";
import {
  imageUploadAnswerSchema,
  imageUploadFieldsSchema,
  maskLayersQuerySchema,
  maskLayersSchema,
  maskUploadAnswerSchema,
  maskUploadFieldsSchema,
  viewQuerySchema,
} from "../schemas/upload";
import { userdataListSchema, userdataQuerySchema, userdataWriteAnswerSchema, userdataWriteQuerySchema } from "../schemas/userdata";

export const fileOperations = {
  uploadImage: defineOperation({
    name: "uploadImage",
    method: "POST",
    path: "/api/upload/image",
    tier: "core",
    role: "operator",
    body: { kind: "multipart", file: "image", fields: imageUploadFieldsSchema },
    answers: { 200: json(imageUploadAnswerSchema) },
  }),
  uploadMask: defineOperation({
    name: "uploadMask",
    method: "POST",
    path: "/api/upload/mask",
    tier: "core",
    role: "operator",
    body: { kind: "multipart", file: "image", fields: maskUploadFieldsSchema },
    answers: { 200: json(maskUploadAnswerSchema) },
  }),
  listUserdata: defineOperation({
    name: "listUserdata",
    method: "GET",
    path: "/api/userdata",
    tier: "core",
    role: "viewer",
    query: userdataQuerySchema,
    answers: { 200: json(userdataListSchema) },
  }),
  writeUserdata: defineOperation({
    name: "writeUserdata",
    method: "POST",
    path: "/api/userdata/{file}",
    tier: "core",
    role: "operator",
    query: userdataWriteQuerySchema,
    body: { kind: "octets" },
    answers: { 200: json(userdataWriteAnswerSchema) },
  }),
  view: defineOperation({
    name: "view",
    method: "GET",
    path: "/api/view",
    tier: "extension",
    capability: "view",
    role: "viewer",
    query: viewQuerySchema,
    answers: { 200: { kind: "bytes" }, 206: { kind: "bytes" }, 302: { kind: "redirect" } },
  }),
  readUserdata: defineOperation({
    name: "readUserdata",
    method: "GET",
    path: "/api/userdata/{file}",
    tier: "extension",
    capability: "userdata.read",
    role: "viewer",
    answers: { 200: { kind: "bytes" }, 206: { kind: "bytes" } },
  }),
  deleteUserdata: defineOperation({
    name: "deleteUserdata",
    method: "DELETE",
    path: "/api/userdata/{file}",
    tier: "extension",
    capability: "userdata.delete",
    role: "operator",
    answers: { 204: { kind: "empty" } },
  }),
  moveUserdata: defineOperation({
    name: "moveUserdata",
    method: "POST",
    path: "/api/userdata/{file}/move/{dest}",
    tier: "extension",
    capability: "userdata.move",
    role: "operator",
    query: z.object({ overwrite: booleanText.default(true), full_info: booleanText.default(false) }),
    answers: { 200: json(userdataWriteAnswerSchema) },
  }),
  getMaskLayers: defineOperation({
    name: "getMaskLayers",
    method: "GET",
    path: "/api/files/mask-layers",
    tier: "extension",
    capability: "maskLayers",
    role: "viewer",
    query: maskLayersQuerySchema,
    answers: { 200: json(maskLayersSchema) },
  }),
};
