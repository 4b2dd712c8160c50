// An open workflow on the Run page, its source file and its typed values.

import { type Failure } from "@/lib/contract/failure";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { type JsonObject } from "@/lib/contract/json/json";
import { type NodeErrors } from "@/lib/contract/schemas/execution";
import { type Graph } from "@/lib/contract/schemas/graph";
import { type SecretLocation } from "@/lib/contract/secrets/secret-locations";
import { canContainWorkflow } from "@/lib/contract/views/outputs-view";
import { getLinks, type WorkflowProblem } from "@/lib/contract/workflow/graph";
import { toUuid } from "@/lib/shared/text";
import { type UnsentPicture } from "../form/controls/picture-api";

export type OpenWorkflow = {
  serial: number;
  name: string;
  workflowId: string;
  storedPath?: string;
  order: readonly string[];
  graph: Graph;
  original: Graph;
  extraData?: JsonObject;
  isEdited: boolean;
  /** The original file name of each uploaded picture, by the name that is sent. */
  ownNames?: Readonly<Record<string, string>>;
  /** A sample's pictures that the service did not accept, by the name in the workflow. */
  unsentPictures?: Readonly<Record<string, UnsentPicture>>;
  advanced?: Advanced;
  /** Where keys and tokens were removed. */
  removedSecrets?: readonly SecretLocation[];
  duplicates?: readonly string[];
  /** Set if converted from an editor file: the connection whose node list was used. */
  readFor?: string;
  both?: BothFormats;
  /** For an editor file: "node input" of texts that are sent unchanged. Placeholders in other texts are filled in. */
  rawTexts?: readonly string[];
  fromJob?: string;
  sentGraph?: Graph;
};

/** Facts about a workflow from another source, such as the job it was submitted as. */
export type WorkflowFacts = {
  name?: string;
  workflowId?: string;
  leavesOut?: readonly SecretLocation[];
  fromJob?: string;
  errors?: NodeErrors;
};
/** A file with both formats, stored to reopen it in the other one. `shown`: the open format. */
export type BothFormats = { text: string; fileName?: string; facts: WorkflowFacts; shown?: Format };
/** `run`: the submitted graph. `drawing`: the editor's drawing of it. */
export type Format = "run" | "drawing";

/** Never stored in a draft, since extra_data may contain secrets. */
export type Advanced = { targets?: readonly string[]; extra?: string };

/** `errors`: why the original job failed. */
export type OpenedFile = Omit<OpenWorkflow, "advanced" | "serial" | "isEdited" | "original" | "sentGraph"> & { errors?: NodeErrors };

/** The state restored by a reload. `inputs`: all inputs of each changed node, since a choice may also remove inputs. */
export type Draft = {
  file: OpenedFile;
  inputs: Readonly<Record<string, JsonObject>>;
  ownNames?: Readonly<Record<string, string>>;
};

export type Edit = { nodeId: string; name: string; value: unknown };

/** Whether there are edits that were never submitted. */
export function isUnsent(openWorkflow: OpenWorkflow | undefined): boolean {
  return openWorkflow !== undefined && openWorkflow.isEdited && openWorkflow.sentGraph !== openWorkflow.graph;
}

// Why a file was not opened. The messages are in lib/messages.

export type RefusalReason =
  | WorkflowProblem
  /** An editor file, but the service's node list could not be read. */
  | { code: "no_catalogue"; failure: Failure }
  /** An editor file without any node that would be sent. */
  | { code: "nothing_runs" }
  /** A picture, video, audio file or 3D scene without an embedded workflow. */
  | { code: "picture" | "media" }
  /** Its embedded workflow is unreadable or too large. */
  | { code: "damaged" | "too_much" }
  | { code: "job_gone" }
  | { code: "job_without_workflow" }
  | { code: "file_gone" }
  | { code: "no_pictures"; isMissing: boolean }
  /** The service did not deliver it. */
  | { code: "unread"; failure: Failure }
  | { code: "several_files"; count: number }
  | { code: "unreadable_file" }
  | { code: "sample_missing" };

/** `fileName` is absent for pasted text. */
export type Refusal = { fileName?: string; reason: RefusalReason };

/** Pictures that were chosen for a run, and how many could not be loaded. */
export type PendingImages = { pictures: readonly PendingImage[]; missing: number };
export type PendingImage = { id: string; value: string; name: string };

/** Returns the file name without folders and extension. */
export function getWorkflowName(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return (canContainWorkflow(name) ? name.slice(0, name.lastIndexOf(".")) : name).trim();
}

// A workflow's id groups its runs. It is a non-cryptographic hash of the graph's shape: node ids, classes and links, not texts and seeds.
// Web Crypto is not used, since it requires https.

/** An RFC 9562 version 8 (custom) UUID. */
export function getWorkflowId(graph: Graph): string {
  return toUuid(fingerprint(getShape(graph)), 8);
}

function getShape(graph: Graph): string {
  const ids = Object.keys(graph).sort();
  return writeExactJson(
    ids.map((id) => {
      const node = graph[id];
      const links = node ? getLinks(node).map(({ input, source, output }) => writeExactJson([input, source, output])) : [];
      return [id, node?.class_type, links.sort()];
    }),
  );
}

const lanePrimes = [0x01000193, 0x85ebca6b, 0xc2b2ae35, 0x27d4eb2f] as const;

/** Four lanes of FNV-1a, each with its own prime and a final mix, so that every bit depends on every character. */
export function fingerprint(text: string): string {
  return lanePrimes
    .map((prime, lane) => {
      let hash = 0x811c9dc5 ^ lane;
      for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), prime);
      hash = Math.imul(hash ^ (hash >>> 16), 0x7feb352d);
      hash = Math.imul(hash ^ (hash >>> 15), 0x846ca68b);
      return ((hash ^ (hash >>> 16)) >>> 0).toString(16).padStart(8, "0");
    })
    .join("");
}
