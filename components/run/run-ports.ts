// What the Run page asks of the outside, each as a function: the page is given these, so that a test can stand in for the network.

import { callApi } from "@/lib/browser/api";
import { apiPath, withQuery } from "@/lib/browser/urls";
import { upload } from "@/lib/browser/upload";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Decode } from "./check-picture";
import { type ApiFailure, failureOfThrown, readFailure } from "@/lib/browser/read-failure";
import { type PressReport, PRESS_HEADER } from "@/lib/contract/press";
import { type JobsAnswer } from "@/lib/contract/schemas/job";
import { type UserdataFile } from "@/lib/contract/schemas/userdata";
import { toMilliseconds } from "@/lib/contract/times";
import { type ArrivalPorts } from "./arrivals";
import { type Press } from "./press";
import { type SendPrompt } from "./submission";
import { type SendPicture, type UploadAnswer } from "./use-picture-upload";

export type RunPorts = ArrivalPorts & {
  /** Workflow files that lie with the service, newest first. */
  listStored: () => Promise<Result<UserdataFile[], ApiFailure>>;
  sendPrompt: SendPrompt;
  /** What became of a press whose answer did not come. */
  reportPress: (key: string) => Promise<Result<PressReport, ApiFailure>>;
  /** The newest jobs of the press's workflow. */
  newestJobs: (press: Press) => Promise<Result<JobsAnswer, ApiFailure>>;
  sendPicture: SendPicture;
  loadSample: (name: string) => Promise<Result<string, "missing">>;
  decode?: Decode;
};

export function portsOf(connection: string | undefined): RunPorts {
  return {
    sendPrompt: (submission, press) =>
      callApi(withQuery("/api/prompt", { connection }), { method: "POST", json: submission, headers: { [PRESS_HEADER]: press } }),
    reportPress: (key) => callApi(`/api/console/presses/${key}`, { cache: "no-store" }),
    newestJobs: (press) =>
      callApi(withQuery("/api/jobs", { workflow_id: press.workflowId, limit: 5, connection: press.connection }), { cache: "no-store" }),
    sendPicture: (file, options) => {
      const form = new FormData();
      // Fields before the bytes, so that a streaming reader knows where they go.
      form.set("type", "input");
      form.set("image", file, file.name);
      return upload<UploadAnswer>(withQuery("/api/upload/image", { connection }), { form, ...options });
    },
    loadSample,
    readJob: (id) => callApi(withQuery(`/api/jobs/${encodeURIComponent(id)}`, { connection }), { cache: "no-store" }),
    readStored: (path) => readText(withQuery(`/api/userdata/${encodeURIComponent(path)}`, { connection })),
    listStored: () => listStored(connection),
  };
}

async function loadSample(name: string): Promise<Result<string, "missing">> {
  try {
    const answer = await fetch(apiPath(`/samples/${name}.json`));
    return answer.ok ? ok(await answer.text()) : failed("missing");
  } catch {
    return failed("missing");
  }
}

const FOLDER = "workflows/";

async function listStored(connection: string | undefined): Promise<Result<UserdataFile[], ApiFailure>> {
  const files = await callApi<UserdataFile[]>(withQuery("/api/userdata", { dir: FOLDER, recurse: true, connection }), {
    cache: "no-store",
  });
  if (!files.ok) return files;
  const changed = ({ modified }: UserdataFile) => toMilliseconds(modified) ?? 0;
  // Some services name files from the folder on, some from the top.
  const named = files.value.map((file) => (file.path.startsWith(FOLDER) ? file : { ...file, path: FOLDER + file.path }));
  return ok(named.sort((one, other) => changed(other) - changed(one)));
}

/** The text as it is stored: what is wrong with it is for the reader of workflows to say. */
async function readText(path: `/${string}`): Promise<Result<string, ApiFailure>> {
  try {
    const answer = await fetch(apiPath(path), { cache: "no-store", headers: { accept: "application/json, */*" } });
    const text = await answer.text();
    return answer.ok ? ok(text) : failed(readFailure(answer.status, answer.headers.get("retry-after"), text));
  } catch (cause) {
    return failed(failureOfThrown(cause));
  }
}
