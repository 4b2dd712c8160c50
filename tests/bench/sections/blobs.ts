import { rmSync } from "node:fs";
import { Blake3Hasher } from "@napi-rs/blake-hash";
import { startStrictS3, testKeys } from "@/tests/support/strict-s3";
import { table } from "../figures";
import { prepareLarge, sendLarge } from "../large-file";
import { newFolder, startService } from "../processes";
import { type Section } from "../section";

const MIB = 1024;

/** A large file to the service and back, in a folder and in a bucket (the strict test store). */
export const blobs: Section = {
  name: "blobs",
  isOnDemand: true,
  async measure({ print, logProgress }) {
    const file = prepareLarge(MIB);
    const s3 = await startStrictS3();
    const inBucket = {
      LIGHTDESK_BLOBS: s3.address("bench"),
      LIGHTDESK_S3_ACCESS_KEY_ID: testKeys.accessKeyId,
      LIGHTDESK_S3_SECRET_ACCESS_KEY: testKeys.secretAccessKey,
    };
    const rows: string[][] = [];
    for (const [name, settings] of [["its own folder", {}] as const, ["a bucket", inBucket] as const]) {
      logProgress(`A file of ${MIB} MiB, bytes in ${name}.`);
      const folder = newFolder();
      const service = await startService(folder, settings);
      const startedMs = performance.now();
      const { id } = await sendLarge(`${service.url}/api/assets`, service.headers, file);
      const sentAt = performance.now();
      const response = await fetch(`${service.url}/api/assets/${id}/content`, { headers: service.headers });
      const hasher = new Blake3Hasher();
      for await (const chunk of response.body ?? []) hasher.update(chunk);
      if (hasher.digest("hex") !== file.hash) throw new Error("the bytes differ");
      rows.push([name, ((sentAt - startedMs) / 1000).toFixed(1), ((performance.now() - sentAt) / 1000).toFixed(1)]);
      await service.process.stop();
      rmSync(folder, { recursive: true, force: true });
    }
    await s3.close();
    print(`## ${MIB} MiB to the service and back, where its bytes lie in a folder and in a bucket`);
    print(table(["bytes in", "upload, seconds", "download, seconds"], rows));
  },
};
