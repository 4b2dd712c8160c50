import { type ApiFailure } from "@/lib/browser/read-failure";
import { type FileKind } from "@/lib/contract/views/outputs-view";
import { type Result } from "@/lib/shared/result";

/** One item that is viewed in full. */
export type ViewerItem = {
  id: string;
  name: string;
  kind: FileKind;
  /** The address of the bytes themselves. */
  src: string;
  /** A smaller picture of it, shown until the bytes have loaded. */
  poster?: string;
  /** In pixels and in bytes, where known. */
  width?: number;
  height?: number;
  sizeBytes?: number;
  /** Shown beside the name, for example the node that made it. */
  note?: string;
  /** The item's page. */
  href?: string;
  /** The job whose inputs are compared. */
  jobId?: string;
};

/** Side by side, more than these would be too small to judge. */
export const MOST_COMPARED = 4;

/** Undefined: not known yet. */
export type ItemAt = (index: number) => ViewerItem | undefined;

/** The workflow of a job, as the job carries it. */
export type ReadWorkflow = (jobId: string) => Promise<Result<unknown, ApiFailure>>;
