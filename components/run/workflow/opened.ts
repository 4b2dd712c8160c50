// A workflow that is open on the Run page, the file that it was opened from, and what was typed into it.

import { type JsonObject } from "@/lib/contract/json/json";
import { type NodeErrors } from "@/lib/contract/schemas/execution";
import { type Graph } from "@/lib/contract/schemas/graph";
import { type SecretPlace } from "@/lib/contract/secrets/secret-places";
import { type UnsentPicture } from "../form/controls/use-picture-upload";

export type OpenWorkflow = {
  /** Tells two openings of the same file apart. */
  serial: number;
  name: string;
  workflowId: string;
  /** The user data file that it was read from or last saved to. */
  stored?: string;
  /** Node ids, each after those it depends on. */
  order: readonly string[];
  graph: Graph;
  /** As it was opened, before anything was typed. */
  original: Graph;
  extraData?: JsonObject;
  isEdited: boolean;
  /** The file name on the member's own disk of each uploaded picture, by the name that is sent. */
  ownNames?: Readonly<Record<string, string>>;
  /** Pictures of a sample that the service did not accept, by the name that the workflow uses. */
  unsent?: Readonly<Record<string, UnsentPicture>>;
  advanced?: Advanced;
  /** Where keys and tokens were taken out. */
  leftOut?: readonly SecretPlace[];
  /** Duplicate node ids in the file. */
  duplicates?: readonly string[];
  /** Set if it was made from a graph editor's file: the connection whose list of nodes was used. */
  readFor?: string;
  both?: BothFormats;
  /** Only of a graph editor's file: "node input" of texts that are sent as they are; in other texts placeholders are filled in. */
  rawTexts?: readonly string[];
  /** The job that the workflow was opened from. */
  fromJob?: string;
  /** The graph that the newest job was started with. */
  sent?: Graph;
};

/** What is known of a workflow from elsewhere, for example from the job it was submitted as. */
export type Known = { name?: string; workflowId?: string; leavesOut?: readonly SecretPlace[]; fromJob?: string; errors?: NodeErrors };
/** A file that holds both formats, kept so that it can be opened as the other one. `shown`: the format that is open. */
export type BothFormats = { text: string; fileName?: string; known: Known; shown?: Format };
/** `run`: what was run. `drawing`: the editor's drawing of it. */
export type Format = "run" | "drawing";

/** Never part of a draft, as extra_data may hold secrets. */
export type Advanced = { targets?: readonly string[]; extra?: string };

/** `errors`: why the original job failed. */
export type OpenedFile = Omit<OpenWorkflow, "advanced" | "serial" | "isEdited" | "original" | "sent"> & { errors?: NodeErrors };

export type Edit = { nodeId: string; name: string; value: unknown };

/** Something was typed that no job has been started with. */
export function isUnsent(opened: OpenWorkflow | undefined): boolean {
  return opened !== undefined && opened.isEdited && opened.sent !== opened.graph;
}
