// An app: a workflow with a form. Components import only the types.

import { z } from "zod";
import { parseJson } from "../json/parse-json";
import { type Role, roles } from "../members/roles";
import { freeForm, withWireForm } from "../schemas/lenient";
import { isSecretName } from "../secrets/mask-secrets";
import { mediaKinds } from "../views/outputs-view";
import {
  appBounds,
  type AppChange,
  type AppField,
  type AppValues,
  appValueSchema,
  definitionSchema,
  idSchema,
  nameSchema,
} from "./definition";
import { addDefault, type AppProblem, checkValue, formatProblem } from "./fill";

export {
  type AppControl,
  type AppDefinition,
  type AppField,
  type AppInput,
  type AppOutput,
  type AppValue,
  type AppValues,
} from "./definition";

const validatedDefinitionSchema = definitionSchema.superRefine(({ inputs, outputs, graph }, context) => {
  const addIssue = (path: (string | number)[], message: string) => context.addIssue({ code: "custom", path, message });
  const [names, fieldKeys] = [new Set<string>(), new Set<string>()];
  inputs.forEach((input, index) => {
    if (names.has(input.name)) addIssue(["inputs", index, "name"], "is the name of another input");
    names.add(input.name);
    for (const { node, input: inputName } of [input, ...(input.also ?? [])]) {
      const fieldKey = `${node}\n${inputName}`;
      if (fieldKeys.has(fieldKey)) addIssue(["inputs", index, "input"], "is used twice");
      if (!Object.hasOwn(graph, node)) addIssue(["inputs", index, "node"], "is not a node of the graph");
      if (isSecretName(inputName) !== isSecretName(input.input)) addIssue(["inputs", index, "also"], "must not share a key's value");
      fieldKeys.add(fieldKey);
    }
    const { control } = input;
    if ((control.kind === "number" || control.kind === "seed") && control.min !== undefined && control.max !== undefined)
      if (control.min > control.max) addIssue(["inputs", index, "control", "max"], "must not be less than min");
    for (const field of ["default", "example"] as const) {
      const value = input[field];
      if (value !== undefined && isSecretName(input.input))
        addIssue(["inputs", index, field], "must not contain a key; each run provides its own");
      const result = value === undefined ? undefined : checkValue(input, value);
      if (result?.ok === false) addIssue(["inputs", index, field], formatProblem(result.problem));
    }
  });
  outputs.forEach(({ node }, index) => {
    if (!Object.hasOwn(graph, node)) addIssue(["outputs", index, "node"], "is not a node of the graph");
  });
});

export const appDefinitionSchema = validatedDefinitionSchema.transform(({ inputs, ...rest }) => ({
  ...rest,
  inputs: inputs.map((input) => addDefault(input, rest.graph)),
}));

const appAccessSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("team") }),
  z.object({
    kind: z.literal("members"),
    members: z.array(idSchema).max(appBounds.members).default([]),
    roles: z.array(z.enum(roles)).max(roles.length).default([]),
  }),
  z.object({ kind: z.literal("me") }),
]);
export type AppAccess = z.infer<typeof appAccessSchema>;

export type AppMember = { id: string; name: string; role: Role };

/** Per member and UTC day. Absent fields set no limit. */
const appLimitsSchema = z.object({
  runsPerDay: z.int().min(1).max(100_000).optional(),
  atOnce: z.int().min(1).max(1000).optional(),
  picturePixels: z.int().min(1).max(1_000_000_000).optional(),
  pictureBytes: z.int().min(1).max(10_000_000_000).optional(),
});
export type AppLimits = z.infer<typeof appLimitsSchema>;

export const appBodySchema = z.object({
  definition: appDefinitionSchema,
  access: appAccessSchema.default({ kind: "me" }),
  limits: appLimitsSchema.default({}),
});
export type AppBody = z.input<typeof appBodySchema>;

/** Absent fields are not changed. CONFLICT if `version` is not the current one. */
export const appUpdateSchema = z.object({
  version: z.int().min(1),
  definition: appDefinitionSchema.optional(),
  access: appAccessSchema.optional(),
  limits: appLimitsSchema.optional(),
});

export const APP_FILE_FORMAT = "lightdesk-app";
export const appFileSchema = z.object({
  format: z.literal(APP_FILE_FORMAT),
  formatVersion: z.literal(1),
  definition: appDefinitionSchema,
  limits: appLimitsSchema.default({}),
  cover: z
    .base64()
    .max(1_000_000)
    .regex(/^UklGR/, "must be a WebP")
    .optional(),
});
export type AppFile = z.infer<typeof appFileSchema>;

const CURSOR_FORMAT = "must be the `next` of the previous page";

export const appsQuerySchema = z.object({
  q: z.string().max(200).default(""),
  tag: z.string().max(40).optional(),
  whose: z.enum(["all", "mine", "team", "favourites"]).default("all"),
  after: z
    .string()
    .max(300)
    .transform((text) => parseJson(text))
    .pipe(z.tuple([z.string(), z.string()], CURSOR_FORMAT))
    .optional(),
  limit: z.coerce.number().int().min(1).max(100).default(50),
});

export type AppCard = {
  id: string;
  title: string;
  text: string;
  tags: string[];
  hasCover: boolean;
  maker: { id: string; name: string } | undefined;
  access: AppAccess["kind"];
  version: number;
  updatedAt: number;
  isFavourite: boolean;
  canEdit: boolean;
  canRun: boolean;
};
export type AppsResponse = { apps: AppCard[]; tags: string[]; next?: string };

export type AppView = AppCard & {
  connectionId: string;
  inputs: AppField[];
  limits: AppLimits;
  chosen?: { members: string[]; roles: Role[] };
  canSeeWorkflow: boolean;
  lastInputs?: AppValues;
};

export type AppVersionView = { number: number; at: number; by: string; changes: AppChange[]; restoredFrom?: number };

export const appPresetBodySchema = z.object({
  name: nameSchema,
  inputs: z.record(z.string().max(40), appValueSchema),
  isTeam: z.boolean().default(false),
});
export type AppPreset = { id: string; name: string; inputs: AppValues; isTeam: boolean; canChange: boolean };

/** In a multipart body, each part is one input, including files. */
export const appRunBodySchema = z.object({
  inputs: freeForm.refine((inputs) => Object.keys(inputs).every((name) => name.length <= 40), "has a name that is too long").default({}),
});

/** `unsent`: the console stopped before sending it. `refused`: nothing was started. `unknown`: sent, but its outcome is unknown. */
const appRunStates = ["sending", "unsent", "refused", "unknown", "pending", "in_progress", "completed", "failed", "cancelled"] as const;
export type AppRunState = (typeof appRunStates)[number];

export type AppInputProblem = AppProblem | { input: string; label: string; message: string };
const problemSchema = z
  .custom<AppInputProblem>()
  .meta({ type: "object", properties: { input: { type: "string" }, label: { type: "string" } }, required: ["input", "label"] });
/** Without `code`, the message is the service's own. `problems`: for the code `inputs`. */
const appRunErrorSchema = z.object({
  message: z.string(),
  code: z.enum(["inputs", "workflow", "not_sent", "job_gone", "answer_unreadable", "answer_lost", "sending_lost"]).optional(),
  problems: z.array(problemSchema).optional(),
  node: z.string().describe("Only for members who may see the workflow.").optional(),
});
export type AppRunError = z.infer<typeof appRunErrorSchema>;

const appResultSchema = z.object({
  number: z.int(),
  label: z.string(),
  kind: z.enum(mediaKinds).exclude(["json"]),
  name: z.string(),
  path: z.string().describe("The path, starting with /api. GET returns the bytes, or a small WebP with ?edge=256 or ?edge=512.").optional(),
  text: z.string().optional(),
});
export type AppResult = z.infer<typeof appResultSchema>;

const stepSchema = z.object({ at: z.int().min(1), of: z.int().min(1) });
export const appRunSchema = z.object({
  id: z.uuid(),
  appId: z.string(),
  version: z.int(),
  state: z.enum(appRunStates),
  createdAt: z.int().describe("Milliseconds since 1970."),
  endedAt: z.int().optional(),
  inputs: withWireForm(z.record(z.string(), appValueSchema), { kind: "object" }),
  progress: z.number().min(0).max(1).optional(),
  step: stepSchema.describe("The part of the work that runs now.").optional(),
  error: appRunErrorSchema.optional(),
  results: z.array(appResultSchema).describe("While it runs, the outputs so far if the service reports them."),
  jobId: z.string().optional(),
});
export type AppRun = z.infer<typeof appRunSchema>;
export const appRunsQuerySchema = z.object({
  after: z
    .string()
    .regex(/^\d{1,16}\.[0-9a-f-]{36}$/, CURSOR_FORMAT)
    .transform((text): [createdAt: number, id: string] => [Number.parseInt(text, 10), text.slice(text.indexOf(".") + 1)])
    .optional(),
  limit: z.coerce.number().int().min(1).max(50).default(20),
});

/** Images that a member may choose without access to the service's files: their uploads, their results and the app's examples. */
export type AppPicture = { value: string; name: string; from: "given" | "made" | "example" };

export type AppFileResponse = { name: string };
