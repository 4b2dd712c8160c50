// A console with two images, one of which is shared.
import sharp from "sharp";
import { expect } from "vitest";
import { type CreatedShare, type ShareBody } from "@/lib/contract/share";
import { visitShare } from "@/lib/server/queries/shares";
import { createHarness, type Harness } from "@/tests/support/harness";

export const DAY_MS = 24 * 60 * 60_000;
/** Part of each image's metadata. */
export const SECRET = "a confidential prompt";

type UploadedAsset = { id: string; hash: string; file: Buffer };

export async function createShareHarness() {
  let now = Date.now();
  let colour = 0;
  const harness = await createHarness({ now: () => now });

  async function upload(name: string): Promise<UploadedAsset> {
    const plain = sharp({ create: { width: 300, height: 200, channels: 3, background: { r: ++colour, g: 90, b: 40 } } });
    const file = await plain
      .png()
      .withExif({ IFD0: { ImageDescription: SECRET } })
      .toBuffer();
    const form = new FormData();
    form.set("tags", '["output"]');
    form.set("name", `${name}.png`);
    form.set("file", new Blob([new Uint8Array(file)], { type: "image/png" }), `${name}.png`);
    const response = await harness.request("/api/assets", { as: "operator", method: "POST", body: form });
    const asset: { id: string; asset_hash: string } = await response.json();
    return { id: asset.id, hash: asset.asset_hash.replace("blake3:", ""), file };
  }
  const [shared, otherAsset] = [await upload("given"), await upload("other")];

  const createShare = (json: object, as: "operator" | "admin" = "operator", connection = "embedded") =>
    harness.request(`/api/console/shares?connection=${connection}`, { as, method: "POST", json });
  async function share(body: Partial<ShareBody> = {}, as: "operator" | "admin" = "operator"): Promise<CreatedShare & { token: string }> {
    const response = await createShare({ assets: body.job === undefined ? [shared.id] : [], expiresInMs: DAY_MS, ...body }, as);
    const share: CreatedShare = await response.json();
    expect([response.status, share]).toEqual([201, share]);
    return { ...share, token: share.path.slice("/share/".length) };
  }
  const requestShare = (token: string, path: string, options: Parameters<Harness["request"]>[1] = {}) =>
    harness.request(`/api/share/${token}${path}`, options);
  const visit = (token: string, cookie = "") => visitShare(harness.console, token, new Headers({ cookie }));

  return {
    harness,
    shared,
    otherAsset,
    upload,
    createShare,
    share,
    revoke: async (id: string, as: "operator" | "admin" = "operator") =>
      (await harness.request(`/api/console/shares/${id}`, { as, method: "DELETE" })).status,
    requestShare,
    visit,
    now: () => now,
    advanceClock: (ms: number) => void (now += ms),
    async getStatus(...request: Parameters<typeof requestShare>): Promise<number> {
      const response = await requestShare(...request);
      await response.body?.cancel();
      return response.status;
    },
    /** Expects that nothing of the share is accessible. */
    async expectClosed(token: string): Promise<void> {
      expect(await visit(token)).toEqual({ kind: "none" });
      for (const path of ["/1", "/1?download=1", "/1/256", "/workflow"]) {
        for (const method of ["GET", "HEAD"]) {
          const response = await requestShare(token, path, { method });
          const text = await response.text();
          expect([path, method, response.status]).toEqual([path, method, 404]);
          if (method === "GET") expect(JSON.parse(text)).toMatchObject({ code: "NOT_FOUND", message: "This link does not work." });
        }
      }
    },
  };
}

export const getBytes = async (response: Response) => Buffer.from(await response.arrayBuffer());
