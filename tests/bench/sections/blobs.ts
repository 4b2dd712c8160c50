import { rmSync } from "node:fs";
import { Blake3Hasher } from "@napi-rs/blake-hash";
import { startStrictS3, testKeys } from "@/tests/support/strict-s3";
import { formatTable } from "../figures";
import { prepareLargeFile, sendLargeFile } from "../large-file";
import { createTempFolder, startService } from "../processes";
import { type Section } from "../section";

const FILE_MIB = 1024;

/** Uploads and downloads a large file, with blobs in a folder and in a bucket (the strict test store). */
export const blobs: Section = {
  name: "blobs",
  isOnDemand: true,
  async measure({ print, logProgress }) {
    const file = prepareLargeFile(FILE_MIB);
    const s3 = await startStrictS3();
    const bucketSettings = {
      LIGHTDESK_BLOBS: s3.address("bench"),
      LIGHTDESK_S3_ACCESS_KEY_ID: testKeys.accessKeyId,
      LIGHTDESK_S3_SECRET_ACCESS_KEY: testKeys.secretAccessKey,
    };
    const rows: string[][] = [];
    for (const [name, settings] of [["its own folder", {}] as const, ["a bucket", bucketSettings] as const]) {
      logProgress(`A file of ${FILE_MIB} MiB, stored in ${name}.`);
      const folder = createTempFolder();
      const service = await startService(folder, settings);
      const startedMs = performance.now();
      const { id } = await sendLargeFile(`${service.url}/api/assets`, service.headers, file);
      const uploadedMs = performance.now();
      const response = await fetch(`${service.url}/api/assets/${id}/content`, { headers: service.headers });
      const hasher = new Blake3Hasher();
      for await (const chunk of response.body ?? []) hasher.update(chunk);
      if (hasher.digest("hex") !== file.hash) throw new Error("the downloaded bytes differ from the upload");
      rows.push([name, ((uploadedMs - startedMs) / 1000).toFixed(1), ((performance.now() - uploadedMs) / 1000).toFixed(1)]);
      await service.process.stop();
      rmSync(folder, { recursive: true, force: true });
    }
    await s3.close();
    print(`## ${FILE_MIB} MiB uploaded and downloaded, stored in a folder and in a bucket`);
    print(formatTable(["stored in", "upload, seconds", "download, seconds"], rows));
  },
};
