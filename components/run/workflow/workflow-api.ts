// The requests that open workflows: the connection's jobs, apps, assets, stored files and samples.

import { type SampleName } from "@/components/frame/samples/samples";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/api-failure";
import { type ByteSource, openByteSource } from "@/lib/browser/files/byte-source";
import { apiPath, createViewUrl, withQuery } from "@/lib/browser/urls";
import { type AppDefinition } from "@/lib/contract/apps/app";
import { addFolderPath } from "@/lib/contract/assets/file-refs";
import { type UserdataFile } from "@/lib/contract/operations/files";
import { type Asset } from "@/lib/contract/schemas/asset";
import { type JobDetail, type JobsResponse } from "@/lib/contract/schemas/job";
import { toMilliseconds } from "@/lib/contract/times";
import { type AssetView, getAssetFile } from "@/lib/contract/views/asset-view";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type PictureApi, sendWithoutProgress, type UnsentPicture } from "../form/controls/picture-api";
import { type CatalogueApi, readCatalogue } from "./catalogue";

/** The picture's name at the service. `missing`: the console's sample file could not be loaded. */
export type SentSamplePicture = Result<string, UnsentPicture | "missing">;

type ReadResult<T> = Promise<Result<T, ApiFailure>>;

export type WorkflowApi = CatalogueApi & {
  readJob: (id: string) => ReadResult<JobDetail>;
  listRecentJobs: () => ReadResult<JobsResponse>;
  /** The workflow of an app, as stored in its file. */
  readApp: (id: string) => ReadResult<Pick<AppDefinition, "title" | "graph" | "editor">>;
  readAsset: (id: string) => ReadResult<Asset>;
  readFile: (file: AssetView) => ReadResult<ByteSource>;
  listStored: () => ReadResult<UserdataFile[]>;
  readStored: (path: string) => ReadResult<ByteSource>;
  loadSample: (name: SampleName) => Promise<Result<string, "missing">>;
  sampleTitle?: (name: SampleName) => string;
  shipsPictures?: boolean;
  sendSamplePicture?: (name: string) => Promise<SentSamplePicture>;
};

const MAX_RECENT_JOBS = 50;
const WORKFLOWS_FOLDER = "workflows/";

export function createWorkflowApi(connection: string | undefined, shipsPictures: boolean, { sendPicture }: PictureApi): WorkflowApi {
  return {
    shipsPictures,
    sendSamplePicture: async (name) => {
      const blobResult = await readSample(name, (response) => response.blob());
      return blobResult.ok ? sendWithoutProgress(new File([blobResult.value], name, { type: "image/png" }), sendPicture) : blobResult;
    },
    listRecentJobs: () => callApi(withQuery("/api/jobs", { limit: MAX_RECENT_JOBS, connection }), { cache: "no-store" }),
    readAsset: (id) => callApi(withQuery(`/api/assets/${encodeURIComponent(id)}`, { connection }), { cache: "no-store" }),
    loadSample: (name) => readSample(`${name}.json`, (response) => response.text()),
    readApp: (id) => callApi<AppDefinition>(`/api/apps/${encodeURIComponent(id)}/workflow`, { cache: "no-store" }),
    readJob: (id) => callApi(withQuery(`/api/jobs/${encodeURIComponent(id)}`, { connection }), { cache: "no-store" }),
    readStored: (path) => openByteSource(apiPath(withQuery(`/api/userdata/${encodeURIComponent(path)}`, { connection }))),
    readFile: (asset) => openByteSource(createViewUrl({ ...getAssetFile(asset), connection })),
    listStored: async () => {
      const path = withQuery("/api/userdata", { dir: WORKFLOWS_FOLDER, recurse: true, connection });
      const result = await callApi<UserdataFile[]>(path, { cache: "no-store" });
      if (!result.ok) return result;
      const getModifiedMs = ({ modified }: UserdataFile) => toMilliseconds(modified) ?? 0;
      return ok(addFolderPath(result.value, WORKFLOWS_FOLDER).sort((file, otherFile) => getModifiedMs(otherFile) - getModifiedMs(file)));
    },
    readCatalogue: () => readCatalogue(connection),
  };
}

async function readSample<T>(file: string, read: (response: Response) => Promise<T>): Promise<Result<T, "missing">> {
  try {
    const response = await fetch(apiPath(`/samples/${file}`));
    return response.ok ? ok(await read(response)) : failed("missing");
  } catch {
    return failed("missing");
  }
}
