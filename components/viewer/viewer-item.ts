import { type ApiFailure } from "@/lib/browser/read-failure";
import { type FileKind } from "@/lib/contract/views/media-kind";
import { type Result } from "@/lib/shared/result";

/** One item that is viewed in full. */
export type ViewerItem = {
  id: string;
  name: string;
  kind: FileKind;
  /** The bytes themselves. */
  src: string;
  /** A smaller picture of it, shown until the bytes are there. */
  poster?: string;
  /** In pixels and in bytes, where they are known. */
  width?: number;
  height?: number;
  sizeBytes?: number;
  /** Beside the name: which node made it, say. */
  note?: string;
  /** The page of it. */
  href?: string;
  /** The job whose inputs are compared. */
  jobId?: string;
};

/** More than these beside each other are too small to judge. */
export const MOST_COMPARED = 4;

/** Undefined: not known yet. */
export type ItemAt = (index: number) => ViewerItem | undefined;

/** The workflow of a job, as the job carries it. */
export type ReadWorkflow = (jobId: string) => Promise<Result<unknown, ApiFailure>>;
