// What is wrong with the values and files that were given to an app, input by input, before a run of it exists.

import "server-only";
import { type AppValues } from "@/lib/contract/apps/app";
import { type AppProblem, fillApp, isFileKind, problemSentence } from "@/lib/contract/apps/fill";
import { type Failure } from "@/lib/contract/failure";
import { failed, ok, type Result } from "@/lib/shared/result";
import { refusal } from "../bff/guard";
import { type StoredApp } from "../store/apps/apps";
import { problemOfFile, problemsOfNamed, type TakenFile } from "./files";
import { filesNotTheirs } from "./pictures";
import { type RunOrder, withoutFiles } from "./run-order";

/** The values that fill the graph; seeds are drawn. */
export async function checkRun({ asked: { viewer }, access, app, values, files }: RunOrder): Promise<Result<AppValues, Failure>> {
  const filled = fillApp(app.definition, values);
  if (!filled.ok) return failed(unprocessable(filled.problems));
  const named = withoutFiles(filled.values, files);
  const problems = [...files.flatMap((file) => problemOfPart(app, file) ?? []), ...(await filesNotTheirs(viewer, app, named))];
  // Last, since a picture may be fetched to be measured: only one that the member may name.
  if (problems.length === 0) problems.push(...(await problemsOfNamed(access, viewer, app, named)));
  return problems.length === 0 ? ok(filled.values) : failed(unprocessable(problems));
}

function problemOfPart(app: StoredApp, file: TakenFile): AppProblem | undefined {
  const input = app.definition.inputs.find(({ name }) => name === file.part);
  if (input && isFileKind(input.control.kind)) return problemOfFile(app, input, file);
  return { input: file.part, label: input?.label ?? file.part, code: "wrong_type" };
}

export function unprocessable(problems: readonly AppProblem[]): Failure {
  return refusal("UNPROCESSABLE", problems.slice(0, 5).map(problemSentence).join(". "), { problems });
}
