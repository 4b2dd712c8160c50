import { z } from "zod";
import { type FileKind } from "./views/outputs-view";

export const MAX_SHARED_ASSETS = 100;
const MAX_SHARE_MS = 365 * 24 * 60 * 60_000;
const MIN_PASSWORD_LENGTH = 8;
const MAX_PASSWORD_LENGTH = 200;
const idSchema = z.string().min(1).max(200);

export const shareBodySchema = z
  .object({
    job: idSchema.optional(),
    assets: z.array(idSchema).max(MAX_SHARED_ASSETS).default([]),
    title: z
      .string()
      .trim()
      .max(120)
      .regex(/^\P{Cc}*$/u, "must be one line")
      .default(""),
    expiresInMs: z.number().int().min(60_000).max(MAX_SHARE_MS),
    password: z.string().min(MIN_PASSWORD_LENGTH).max(MAX_PASSWORD_LENGTH).optional(),
    keepsMetadata: z.boolean().default(false),
    showsMaker: z.boolean().default(false),
    showsWorkflow: z.boolean().default(false),
    /** Omits files that cannot be cleaned, instead of rejecting the entire share. */
    leavesOut: z.boolean().default(false),
  })
  .refine(({ job, assets }) => (job === undefined) !== (assets.length === 0), "must contain either a job or assets");
export type ShareBody = z.input<typeof shareBodySchema>;

/** Returned only once. The console stores a hash of the token. */
export type CreatedShare = { id: string; title: string; path: `/share/${string}`; expiresAt: number; count: number };
export type NotCleanableDetails = { notCleanable: string[] };

export const sharePasswordSchema = z.object({ password: z.string().min(1).max(MAX_PASSWORD_LENGTH) });

export type SharedItem = {
  number: number;
  name: string;
  kind: FileKind;
  size?: number;
  hash?: string;
  width?: number;
  height?: number;
  text?: string;
};
export type SharedPage = {
  title: string;
  maker?: string;
  expiresAt: number;
  items: SharedItem[];
  hasWorkflow: boolean;
  isCleaned: boolean;
};

export type ShareState = "open" | "expired" | "revoked" | "closed";
/** For the settings. `closed`: the member who created it may no longer share it. */
export type ShareView = {
  id: string;
  title: string;
  maker: string;
  isOwn: boolean;
  connection: string;
  ofJob: boolean;
  count: number;
  state: ShareState;
  hasPassword: boolean;
  keepsMetadata: boolean;
  showsWorkflow: boolean;
  createdAt: number;
  expiresAt: number;
  views: number;
  downloads: number;
};
