// What the Run page asks of the console, each as a function passed in, so that a test can replace the network.

import { callApi } from "@/lib/browser/api";
import { bytesAt } from "@/lib/browser/files/byte-source";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { findKnownContent } from "@/lib/browser/uploads/offer-hash";
import { upload } from "@/lib/browser/uploads/upload";
import { apiPath, viewUrl, withQuery } from "@/lib/browser/urls";
import { type AppDefinition } from "@/lib/contract/apps/app";
import { fromTop, toImageValue } from "@/lib/contract/assets/file-refs";
import { type ConnectionFeature, hasFeature } from "@/lib/contract/connections";
import { type UserdataFile } from "@/lib/contract/operations/files";
import { type AssetsAnswer } from "@/lib/contract/schemas/asset";
import { type JobsAnswer } from "@/lib/contract/schemas/job";
import { toMilliseconds } from "@/lib/contract/times";
import { fileOfAsset } from "@/lib/contract/views/asset-view";
import { IDEMPOTENCY_HEADER, LABEL_HEADER, RERUN_HEADER } from "@/lib/contract/workflow/submission";
import { ACT_HEADER } from "@/lib/shared/headers";
import { failed, ok, type Result } from "@/lib/shared/result";
import { contentName } from "./form/controls/asset-value";
import { type Decode } from "./form/controls/check-picture";
import { createStoredNames } from "./form/controls/stored-name";
import { type SendPicture, type UploadAnswer } from "./form/controls/use-picture-upload";
import { type Attempt } from "./submit/attempt";
import { type SubmitPorts } from "./submit/submission";
import { type ArrivalPorts } from "./workflow/arrivals/arrivals";
import { readCatalogue } from "./workflow/catalogue";

export type RunPorts = ArrivalPorts &
  SubmitPorts & {
    /** Workflow files stored at the service, newest first. */
    listStored: () => Promise<Result<UserdataFile[], ApiFailure>>;
    /** The newest jobs of the attempt's workflow. */
    newestJobs: (attempt: Attempt) => Promise<Result<JobsAnswer, ApiFailure>>;
    /** The newest jobs of any workflow. */
    recentJobs: () => Promise<Result<JobsAnswer, ApiFailure>>;
    sendPicture: SendPicture;
    /** Newest first. */
    listAssets: (query: {
      name_contains: string;
      include_tags: string[];
      exclude_tags?: string[];
      offset: number;
      limit: number;
    }) => Promise<Result<AssetsAnswer, ApiFailure>>;
    /** The file name of a picture that is named by its content hash; undefined where it is not known. */
    storedName: (value: string) => Promise<string | undefined>;
    decode?: Decode;
  };

const RECENT_JOBS = 50;
/** The most assets that the interface returns in one answer. */
const MOST_ASSETS = 500;

type Target = { id: string; lacks?: readonly ConnectionFeature[]; embedded?: boolean };

/** The embedded service has the pictures of the samples. */
export function portsOf(target: Partial<Target> = {}): RunPorts {
  const { id: connection, embedded: shipsPictures = false } = target;
  const listAssets: RunPorts["listAssets"] = (query) =>
    callApi(withQuery("/api/assets", { ...query, sort: "created_at", order: "desc", include_public: true, connection }), {
      cache: "no-store",
    });
  const sendPicture: SendPicture = async (file, options) => {
    const known = { tags: ["input"], connection, signal: options.signal };
    const hash = hasFeature(target, "contentLookup") ? await findKnownContent(file, known) : undefined;
    if (hash !== undefined) return ok({ name: contentName(hash, file.name), type: "input", isKnown: true });
    const form = new FormData();
    // Fields before the bytes, so that a streaming reader knows where they go.
    form.set("type", "input");
    form.set("image", file, file.name);
    return upload<UploadAnswer>(withQuery("/api/upload/image", { connection }), { form, ...options });
  };
  return {
    shipsPictures,
    sendSamplePicture: async (name) => {
      const picture = await loadSamplePicture(name);
      if (!picture) return failed("missing");
      const sent = await sendPicture(picture, { onProgress: () => undefined, signal: new AbortController().signal });
      return sent.ok ? ok(toImageValue(sent.value)) : failed({ file: picture, failure: sent.failure });
    },
    sendPrompt: (submission, attempt, { label, act, rerunOf } = {}) => {
      const headers = {
        [IDEMPOTENCY_HEADER]: attempt,
        ...(label !== undefined && { [LABEL_HEADER]: encodeURIComponent(label) }),
        ...(act !== undefined && { [ACT_HEADER]: act }),
        ...(rerunOf !== undefined && { [RERUN_HEADER]: encodeURIComponent(rerunOf) }),
      };
      return callApi(withQuery("/api/prompt", { connection }), { method: "POST", json: submission, headers });
    },
    reportSubmission: (key) => callApi(`/api/console/submissions/${key}`, { cache: "no-store" }),
    newestJobs: (attempt) =>
      callApi(withQuery("/api/jobs", { workflow_id: attempt.workflowId, limit: 5, connection: attempt.connection }), { cache: "no-store" }),
    recentJobs: () => callApi(withQuery("/api/jobs", { limit: RECENT_JOBS, connection }), { cache: "no-store" }),
    sendPicture,
    listAssets,
    storedName: createStoredNames(connection, () => listAssets({ name_contains: "", include_tags: [], offset: 0, limit: MOST_ASSETS })),
    readAsset: (id) => callApi(withQuery(`/api/assets/${encodeURIComponent(id)}`, { connection }), { cache: "no-store" }),
    loadSample,
    readApp,
    readJob: (id) => callApi(withQuery(`/api/jobs/${encodeURIComponent(id)}`, { connection }), { cache: "no-store" }),
    readStored: (path) => bytesAt(apiPath(withQuery(`/api/userdata/${encodeURIComponent(path)}`, { connection }))),
    readFile: (asset) => bytesAt(viewUrl({ ...fileOfAsset(asset), connection })),
    listStored: () => listStored(connection),
    readCatalogue: () => readCatalogue(connection),
  };
}

async function loadSamplePicture(name: string): Promise<File | undefined> {
  try {
    const answer = await fetch(apiPath(`/samples/${name}`));
    return answer.ok ? new File([await answer.blob()], name, { type: "image/png" }) : undefined;
  } catch {
    return undefined;
  }
}

function readApp(id: string): ReturnType<RunPorts["readApp"]> {
  return callApi<AppDefinition>(`/api/apps/${encodeURIComponent(id)}/workflow`, { cache: "no-store" });
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
  return ok(fromTop(files.value, FOLDER).sort((one, other) => changed(other) - changed(one)));
}
