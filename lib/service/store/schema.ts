// The tables as kysely types. Times are milliseconds since 1970; free-form values are JSON text; a flag is 0 or 1.
// Wide values (graph, outputs) live beside `jobs`, so that lists touch narrow rows only.

import { type Generated } from "kysely";
import { type KnownJobState } from "@/lib/contract/states";

export type UserRow = {
  id: Generated<number>;
  name: string;
  status: string;
  last_number: Generated<number>;
  created_at: number;
  /** Set from when the history was cleared until the last of its rows was removed. */
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
  /** end_time - start_time; 0 until both are known, so that sorting stays total. */
  execution_time: Generated<number>;
  attempts: Generated<number>;
  slot: string | null;
  outputs_count: Generated<number>;
  has_image: Generated<number>;
  has_video: Generated<number>;
  has_audio: Generated<number>;
  preview: string | null;
  error: string | null;
};

export type JobInputRow = {
  job_seq: number;
  prompt: string;
  graph: string;
  extra_data: string;
  outputs_to_execute: string;
};

/** Kept by a trigger: jobs that ended while their user's history was being cleared. */
export type EndedSinceClearRow = { user_id: number; job_seq: number };

export type JobResultRow = { job_seq: number; outputs: string; messages: string; meta: string };

/** Which bytes a name meant when the job was accepted; held until the job has ended. */
export type JobImageRow = { job_seq: number; name: string; hash: string };

/** Kept by triggers: how many jobs a user has, by workflow ('' = all of them), state and kinds of output. */
export type JobCountRow = {
  user_id: number;
  workflow_id: string;
  state: KnownJobState;
  has_image: number;
  has_video: number;
  has_audio: number;
  n: number;
};

export type BlobRow = { hash: string; sha256: string; size: number; media_type: string; created_at: number };

export type AssetOrigin = "upload" | "output" | "shipped";

export type AssetRow = {
  seq: Generated<number>;
  id: string;
  /** 0: a public asset, of no user. */
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
/** Kept by triggers: the bytes of the distinct content that a user's assets refer to. */
export type UserStorageRow = { owner_id: number; bytes: number };
export type AssetCountRow = { owner_id: number; n: number };

/** Kept by triggers: how many assets of an owner carry a tag; a tag that no asset carries any more stays with 0. */
export type TagCountRow = { id: Generated<number>; owner_id: number; tag: string; n: number };
/** The numbers of an asset's tags, each after a comma: narrow rows for counting the tags of many assets. */
export type AssetTagCodesRow = { asset_seq: number; codes: string };
/** Filled by triggers: assets that `asset_search` and `asset_tag_codes` do not know as they are. */
export type AssetUnsearchedRow = { asset_seq: number };

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
  /** Never more than what is synced. */
  bytes_downloaded: Generated<number>;
  create_time: number;
  update_time: number;
  started_at: number | null;
  completed_at: number | null;
  result: string | null;
  error_message: string | null;
  /** Empty once the task has ended. */
  source_url: string;
  /** What goes into If-Range: a strong entity tag or a date. */
  validator: string | null;
  promised_sha256: string | null;
  file_name: string | null;
};

/** Content that was downloaded, by the hash of the address it came from. */
export type FetchedSourceRow = { user_id: number; source: string; hash: string };

export type Tables = {
  users: UserRow;
  keys: KeyRow;
  jobs: JobRow;
  job_inputs: JobInputRow;
  job_results: JobResultRow;
  ended_since_clear: EndedSinceClearRow;
  job_images: JobImageRow;
  job_counts: JobCountRow;
  blobs: BlobRow;
  assets: AssetRow;
  asset_tags: AssetTagRow;
  asset_counts: AssetCountRow;
  user_storage: UserStorageRow;
  tag_counts: TagCountRow;
  asset_tag_codes: AssetTagCodesRow;
  assets_unsearched: AssetUnsearchedRow;
  mask_layers: MaskLayersRow;
  tasks: TaskRow;
  fetched_sources: FetchedSourceRow;
};
