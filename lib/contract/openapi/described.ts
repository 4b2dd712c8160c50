// Of each operation that the embedded service answers: one sentence, the component that a JSON answer is, and refusals that do not
// follow from the operation's shape. What is left out here is an operation of others' services.

import { type ErrorCode } from "../errors";
import { type operations } from "../operations";
import { type assetAnswers } from "./asset-answers";
import { type fileAnswers } from "./file-answers";
import { type jobAnswers } from "./job-answers";

export type ComponentName = keyof typeof assetAnswers | keyof typeof jobAnswers | keyof typeof fileAnswers;
export type Described = {
  summary: string;
  answer?: ComponentName | Readonly<Record<number, ComponentName>>;
  refusals?: readonly ErrorCode[];
  /** What is wrong with the body is answered as this component. */
  bodyRefusal?: ComponentName;
  /** The bytes come in ranges and are asked for by their ETag. */
  ranges?: true;
};
type Name = Exclude<keyof typeof operations, "listTasks">;

export const described: Readonly<Record<Name, Described>> = {
  submitPrompt: {
    summary: "Submits a graph: a job that is durable when this answers.",
    answer: "PromptAccepted",
    refusals: ["FORBIDDEN"],
    bodyRefusal: "PromptRefusal",
  },
  listJobs: { summary: "Lists jobs, filtered, sorted and paged.", answer: "JobList" },
  getJob: { summary: "One job with its workflow, outputs and timeline.", answer: "JobDetail" },
  getJobStatus: { summary: "The status of one job.", answer: "JobStatus" },
  manageQueue: { summary: "Cancels pending jobs by id, or all of them; clear wins over delete.", answer: "QueueChange" },
  listHistory: { summary: "Jobs that have ended, newest first.", answer: "History" },
  manageHistory: { summary: "Removes ended jobs by id, or all of them; their assets stay.", answer: "HistoryChange" },
  getQueueDepth: { summary: "How many jobs wait or run.", answer: "QueueDepth" },
  listQueue: { summary: "What runs and what waits, in order.", answer: "Queue" },
  interrupt: { summary: "Cancels what runs, or one job of it.", refusals: ["NOT_FOUND"] },
  cancelJob: { summary: "Cancels one job, whether it waits or runs.", answer: "CancelledJob" },
  cancelJobs: { summary: "Cancels several jobs; none where one is unknown.", answer: "CancelledJobs", refusals: ["NOT_FOUND"] },
  listJobAssets: { summary: "What one job put out, as assets.", answer: "JobAssets" },
  getHistoryEntry: { summary: "One entry of the history with its graph.", answer: "HistoryDetail" },
  listOlderHistory: {
    summary: "Jobs that have ended, oldest first, by id in the family's older shape: the last `max_items`, or those from `offset` on.",
    answer: "OlderHistory",
  },
  getOlderHistoryEntry: { summary: "The same of one job; an empty object while it has not ended.", answer: "OlderHistory" },
  cancelOneJob: { summary: "The same as POST /api/jobs/{job_id}/cancel.", answer: "CancelledJob" },
  listAssets: { summary: "Lists assets, filtered, sorted and paged.", answer: "AssetList", refusals: ["INVALID_TAG_FILTER"] },
  uploadAsset: {
    summary: "Uploads a file; content that the user has already answers with the existing asset.",
    answer: "CreatedAsset",
    refusals: ["INVALID_PREVIEW_ID", "ASSET_ID_UNAVAILABLE"],
  },
  getAsset: { summary: "One asset.", answer: "Asset" },
  addTags: { summary: "Adds tags.", answer: "TagChange", refusals: ["FORBIDDEN"] },
  createAssetFromHash: {
    summary: "An asset of content that the user may see already.",
    answer: "CreatedAsset",
    refusals: ["NOT_FOUND", "STORAGE_QUOTA_EXCEEDED"],
  },
  downloadAsset: {
    summary: "Fetches a file from a permitted host: at once where it is stored already, else as a task.",
    answer: { 200: "CreatedAsset", 202: "TaskStarted" },
    refusals: ["UNSUPPORTED_SOURCE", "INVALID_PREVIEW_ID", "STORAGE_QUOTA_EXCEEDED", "UNPROCESSABLE"],
  },
  removeTags: { summary: "Removes tags.", answer: "TagChange", refusals: ["FORBIDDEN"] },
  editAsset: {
    summary: "Changes an asset's name, tags, type, preview or metadata.",
    answer: "EditedAsset",
    refusals: ["FORBIDDEN", "INVALID_PREVIEW_ID"],
  },
  deleteAsset: { summary: "Deletes an asset; its content goes with the last one.", refusals: ["FORBIDDEN"] },
  getAssetContent: { summary: "The bytes of an asset.", ranges: true },
  hasAssetHash: { summary: "Whether the user may use content of that hash.", refusals: ["INVALID_HASH"] },
  getRemoteMetadata: {
    summary: "What is known of a file on a permitted host before it is fetched.",
    answer: "RemoteMetadata",
    refusals: ["UNSUPPORTED_SOURCE", "UNPROCESSABLE"],
  },
  listTags: { summary: "Tags with how many assets carry them.", answer: "TagList" },
  refineTags: { summary: "Tags of the assets that a filter leaves.", answer: "TagCounts", refusals: ["INVALID_TAG_FILTER"] },
  uploadImage: { summary: "Uploads an image for LoadImage.", answer: "UploadedImage", refusals: ["INVALID_IMAGE"] },
  uploadMask: { summary: "Uploads a mask that was painted over an image.", answer: "UploadedMask", refusals: ["INVALID_IMAGE"] },
  listUserdata: { summary: "Lists the user's data files in a folder.", answer: "UserFiles", refusals: ["FORBIDDEN", "NOT_FOUND"] },
  writeUserdata: {
    summary: "Writes a data file, whole or not at all.",
    answer: "WrittenFile",
    refusals: ["FORBIDDEN", "CONFLICT", "STORAGE_QUOTA_EXCEEDED"],
  },
  view: {
    summary: "The bytes of a file by its name, one of its channels, or a thumbnail.",
    refusals: ["NOT_FOUND", "UNPROCESSABLE"],
    ranges: true,
  },
  readUserdata: { summary: "The bytes of a data file.", refusals: ["FORBIDDEN"], ranges: true },
  deleteUserdata: { summary: "Deletes a data file.", refusals: ["FORBIDDEN"] },
  moveUserdata: { summary: "Moves a data file.", answer: "WrittenFile", refusals: ["FORBIDDEN", "CONFLICT"] },
  getMaskLayers: { summary: "The layers of a mask that was uploaded.", answer: "MaskLayers", refusals: ["NOT_FOUND"] },
  getUser: { summary: "The user behind the key.", answer: "User" },
  getTask: { summary: "A background task, with its progress.", answer: "Task" },
  cancelTask: { summary: "Cancels a background task.", refusals: ["CONFLICT"] },
  getObjectInfo: { summary: "The node library.", answer: "NodeLibrary" },
  getObjectInfoOf: { summary: "One class of the node library; an empty object where it has none of that name.", answer: "NodeLibrary" },
  getSystemStats: { summary: "What the machine is and has, in the family's words.", answer: "SystemStats" },
  freeMemory: { summary: "Nothing is kept that could be freed: answers 200 to clients that ask." },
  getFeatures: { summary: "What the service says of itself.", answer: "Features" },
};
