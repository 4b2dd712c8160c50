// The outputs of a job as assets, in the order of nodes and indexes.

import { readAssets } from "../assets/asset-row";
import { fileNameOf, toAsset } from "../assets/asset-view";
import { query, type Reader } from "../store/database";

export async function listJobAssets(reader: Reader, jobId: string, page: { limit: number; offset: number }, baseUrl: string) {
  const { limit, offset } = page;
  const ofJob = query.selectFrom("assets").where("prompt_id", "=", jobId);
  const seqs = (await reader.rows(ofJob.select("seq").orderBy("seq").limit(limit).offset(offset))).map((row) => row.seq);
  const total = (await reader.row(ofJob.select(({ fn }) => fn.countAll<number>().as("n"))))?.n ?? 0;
  const assets = (await readAssets(reader, seqs)).map((asset) => ({
    ...toAsset(asset, baseUrl),
    hash: `blake3:${asset.hash}`,
    filename: fileNameOf(asset),
    node_id: asset.node_id,
    output_key: asset.output_key,
    output_index: asset.output_index,
  }));
  return { job_id: jobId, assets, pagination: { offset, limit, total, has_more: offset + assets.length < total } };
}
