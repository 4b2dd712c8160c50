// What a job put out, as assets, in the order of nodes and indexes.

import { fileNameOf, toAsset } from "../assets/asset-view";
import { readAssets } from "../assets/asset-row";
import { type Database, query } from "../store/database";

export function listJobAssets(database: Database, jobId: string, page: { limit: number; offset: number }, baseUrl: string) {
  const { limit, offset } = page;
  const ofJob = query.selectFrom("assets").where("prompt_id", "=", jobId);
  const seqs = database.rows(ofJob.select("seq").orderBy("seq").limit(limit).offset(offset)).map((row) => row.seq);
  const total = database.row(ofJob.select(({ fn }) => fn.countAll<number>().as("n")))?.n ?? 0;
  const assets = readAssets(database, seqs).map((asset) => ({
    ...toAsset(asset, baseUrl, () => undefined),
    hash: `blake3:${asset.hash}`,
    filename: fileNameOf(asset),
    node_id: asset.node_id,
    output_key: asset.output_key,
    output_index: asset.output_index,
  }));
  return { job_id: jobId, assets, pagination: { offset, limit, total, has_more: offset + assets.length < total } };
}
