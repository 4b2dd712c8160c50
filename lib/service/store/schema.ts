// The tables as kysely types. Times are milliseconds since 1970, free-form values are JSON text, and flags are 0 or 1.

import { type Generated } from "kysely";
import { type RunnerProblem } from "@/lib/contract/connections";
import { type KnownJobState } from "@/lib/contract/jobs/job-list";

export type UserRow = {
  id: Generated<number>;
  name: string;
  status: string;
  last_number: Generated<number>;
  created_at: number;
  /** Set when the history is cleared, until the last cleared row is removed. */
  history_cleared_until: Generated<number | null>;
};

export type KeyRow = {
  id: Generated<number>;
  user_id: number;
  prefix: string;
  hash: string;
  created_at: number;
  revoked_at: number | null;
};

export type JobRow = {
  seq: Generated<number>;
  id: string;
  user_id: number;
  state: KnownJobState;
  number: number;
  workflow_id: string;
  create_time: number;
  update_time: number;
  state_time: number;
  start_time: number | null;
  end_time: number | null;
  /** end_time - start_time, or 0 until both are known, so that sorting has no null values. */
  execution_time: Generated<number>;
  attempts: Generated<number>;
  slot: string | null;
  outputs_count: Generated<number>;
  has_image: Generated<number>;
  has_video: Generated<number>;
  has_audio: Generated<number>;
  preview: string | null;
  error: string | null;
  /** The job's requirements. Null for jobs from before other runners existed, which the built-in runner runs. */
  needs: Generated<number | null>;
  /** The runner of the job. Null before it starts, and for the built-in runner. */
  runner: Generated<string | null>;
  /** Increases with every claim. An attempt may write only while the number is unchanged. */
  fence: Generated<number>;
  /** The service process that runs the job. */
  holder: Generated<string | null>;
};

export type RunnerRow = {
  id: string;
  label: string;
  /** Null for the built-in runner. */
  address: string | null;
  tags: string;
  slots: number;
  mode: RunnerMode;
  mode_reason: string | null;
  problem: RunnerProblem | null;
  problem_message: string | null;
  version: string | null;
  devices: string;
  classes: Generated<number>;
  queue_running: number | null;
  queue_pending: number | null;
  checked_at: number | null;
  seen_at: number | null;
  catalogue_at: number | null;
  done: Generated<number>;
  failed: Generated<number>;
  run_ms: Generated<number>;
  /** The ids of users whose jobs failed on it since its last success, as JSON. */
  failed_users: Generated<string>;
  /** The needs of its last job, whose models are still loaded. */
  last_needs: number | null;
  created_at: number;
  removed_at: number | null;
};
export type RunnerMode = "ready" | "draining" | "paused" | "set_aside";
/** The response of a runner to GET /api/object_info. */
export type RunnerCatalogueRow = { runner_id: string; hash: string; text: string };
/** The distinct needs of jobs: node classes, their inputs, and values chosen from lists. */
export type JobNeedsRow = { id: Generated<number>; hash: string; text: string };

/** An attempt on a runner. `sending`: it may have arrived. `lost`: it may still run there. `over`: it no longer runs. */
export type AttemptRow = {
  job_seq: number;
  number: number;
  fence: number;
  runner: string;
  prompt_id: string;
  client_id: string;
  state: "sending" | "sent" | "lost" | "over";
  lease_until: number;
  started_at: number;
  ended_at: number | null;
  reason: string | null;
};

export type JobInputRow = {
  job_seq: number;
  prompt: string;
  graph: string;
  extra_data: string;
  outputs_to_execute: string;
};

export type JobResultRow = { job_seq: number; outputs: string; messages: string; meta: string };

/** Maps each input name to its content when the job was accepted. Stored until the job has ended. */
export type JobImageRow = { job_seq: number; name: string; hash: string };

/** Maintained by triggers: a user's jobs by workflow ('' = all), state and kinds of output. */
export type JobCountRow = {
  user_id: number;
  workflow_id: string;
  state: KnownJobState;
  has_image: number;
  has_video: number;
  has_audio: number;
  n: number;
};

/** `until` is a time by the clock of the process that wrote it. */
export type BlobLeaseRow = { hash: string; holder: string; is_removal: number; until: number };

export type BlobRow = { hash: string; sha256: string; size: number; media_type: string; created_at: number };

/** A user's own file. The path is relative to the user's root, without a leading slash. */
export type UserFileRow = { user_id: number; path: string; hash: string; size: number; modified: number };

export type AssetOrigin = "upload" | "output" | "shipped";

export type AssetRow = {
  seq: Generated<number>;
  id: string;
  /** 0 for a public asset. */
  owner_id: number;
  origin: AssetOrigin;
  hash: string;
  name: string;
  name_folded: string;
  size: number;
  mime_type: string | null;
  metadata: string;
  preview_id: string | null;
  prompt_id: string | null;
  node_id: string | null;
  output_key: string | null;
  output_index: number | null;
  created_at: number;
  updated_at: number;
  last_access_time: number;
};

export type AssetTagRow = { asset_seq: number; position: number; tag: string };
/** Maintained by triggers: the bytes of the distinct content that a user's assets refer to. */
export type UserStorageRow = { owner_id: number; bytes: number };
export type AssetCountRow = { owner_id: number; n: number };

/** Maintained by triggers: how many assets of an owner have a tag. Unused tags remain with 0. */
export type TagCountRow = { id: Generated<number>; owner_id: number; tag: string; n: number };

export type MaskLayersRow = { owner_id: number; result: string; mask: string; paint: string; painted: string };

export type TaskRow = {
  id: string;
  user_id: number;
  status: string;
  payload: string;
  tags: string;
  metadata: string;
  preview_id: string | null;
  bytes_total: number | null;
  /** Never more than the synced bytes. */
  bytes_downloaded: Generated<number>;
  create_time: number;
  update_time: number;
  started_at: number | null;
  completed_at: number | null;
  result: string | null;
  error_message: string | null;
  /** Empty once the task has ended. */
  source_url: string;
  /** The value of If-Range: a strong entity tag or a date. */
  validator: string | null;
  promised_sha256: string | null;
  file_name: string | null;
  /** The service process that downloads it. */
  holder: Generated<string | null>;
  /** The name of its partial file. Null if it is the id. It differs after another process continued the task with a new file. */
  part: Generated<string | null>;
};

/** Downloaded content, by the hash of its URL. */
export type FetchedSourceRow = { user_id: number; source: string; hash: string };

export type Tables = {
  users: UserRow;
  keys: KeyRow;
  jobs: JobRow;
  job_inputs: JobInputRow;
  job_results: JobResultRow;
  job_images: JobImageRow;
  job_counts: JobCountRow;
  blobs: BlobRow;
  blob_leases: BlobLeaseRow;
  store_ids: { id: string };
  user_files: UserFileRow;
  assets: AssetRow;
  asset_tags: AssetTagRow;
  asset_counts: AssetCountRow;
  user_storage: UserStorageRow;
  tag_counts: TagCountRow;
  mask_layers: MaskLayersRow;
  tasks: TaskRow;
  fetched_sources: FetchedSourceRow;
  runners: RunnerRow;
  runner_catalogues: RunnerCatalogueRow;
  job_needs: JobNeedsRow;
  attempts: AttemptRow;
};
