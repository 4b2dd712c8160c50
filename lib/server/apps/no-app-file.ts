// Explains why an imported file is not an app, in plain words, and what to choose instead.
// Guarantees: pure; the answer contains nothing of the file but the place that is wrong.

import "server-only";
import { APP_FILE_FORMAT } from "@/lib/contract/apps/app";
import { isEditorFile } from "@/lib/contract/editor-workflow/file";
import { type Failure } from "@/lib/contract/failure";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { objectOf } from "@/lib/contract/json/json";
import { readWorkflow } from "@/lib/contract/workflow/graph";
import { refusal } from "../bff/guard";

type Reason = "workflow" | "otherVersion" | "damaged" | "other";
type Issue = { path: readonly PropertyKey[]; message: string };

const sentences: Readonly<Record<Reason, string>> = {
  workflow: "This file is a workflow, not an app. Open it in Run and make an app of it.",
  otherVersion: "This file is an app of another version of Lightdesk. Export it again from a console of this version.",
  damaged: "This file is an app, but a part of it is wrong. Export it again.",
  other: "This file is no app. Choose a file that was exported from an app.",
};

/** `reason` is for screens, which have their own sentences. */
export function noAppFile(body: unknown, issues: readonly Issue[]): Failure {
  const reason = reasonOf(body);
  const place = reason === "damaged" ? issues[0] : undefined;
  const where = place && `${place.path.map(String).join(".")}: ${place.message}`.slice(0, 300);
  return refusal("INVALID_BODY", where ? `${sentences[reason]} (${where})` : sentences[reason], { reason });
}

function reasonOf(body: unknown): Reason {
  const { format, formatVersion } = objectOf(body) ?? {};
  if (format === APP_FILE_FORMAT) return formatVersion === 1 ? "damaged" : "otherVersion";
  return isEditorFile(body) || readWorkflow(writeExactJson(body)).ok ? "workflow" : "other";
}
