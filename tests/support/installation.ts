// A console with every kind of stored data, and a description of it, to compare before and after a move.
import { createHash } from "node:crypto";
import { type Role } from "@/lib/contract/members/roles";
import { signIn } from "@/lib/server/auth/sign-in";
import { decryptApiKey } from "@/lib/server/keys/key-ring";
import { type AppHarness, createPicture } from "../integration/console/apps/app-harness";
import { createWaitGraph } from "../integration/service/support";
import { type HarnessRequest, PASSWORD } from "./harness";
import { until } from "./until";

export const ANOTHER_KEY = "sk-of-another-service";

export type Installation = { job: string; image: string; masked: string; app: string; run: string; share: string; connection: string };

const post = async (appHarness: AppHarness, path: string, options: HarnessRequest) => {
  const { status, body } = await appHarness.requestJson(path, { as: "operator", method: "POST", ...options });
  if (status > 201) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
  return body;
};

export async function submit(appHarness: AppHarness, color: number, seconds = 0): Promise<string> {
  return (await post(appHarness, "/api/prompt", { json: { prompt: createWaitGraph(seconds, color) } })).prompt_id;
}

export async function waitForJob(appHarness: AppHarness, id: string): Promise<string> {
  return until(`job ${id} has ended`, async () => {
    const { status } = (await appHarness.requestJson(`/api/jobs/${id}`, { as: "viewer" })).body;
    return ["completed", "failed", "cancelled"].includes(status) && status;
  });
}

export async function upload(appHarness: AppHarness, path: string, fields: Record<string, string | Blob>) {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  return post(appHarness, path, { body: form });
}

/** Uses the harness's members of every role. */
export async function fillInstallation(appHarness: AppHarness): Promise<Installation> {
  const { harness } = appHarness;
  const connection = await harness.connect("http://127.0.0.1:9", ANOTHER_KEY);
  const image = new Blob([new Uint8Array(await createPicture(6))], { type: "image/png" });
  const { name: original } = await upload(appHarness, "/api/upload/image", { image });
  const mask = { image, original_ref: JSON.stringify({ filename: original }) };
  const { name: masked } = await upload(appHarness, "/api/upload/mask", mask);
  await post(appHarness, "/api/userdata/workflows%2Fwork%20in%20progress.json?overwrite=true", { body: '{"nodes":[]}' });
  const job = await submit(appHarness, 77);
  await waitForJob(appHarness, job);
  const app = await appHarness.make();
  const run = await appHarness.run(app, { picture: new Blob([new Uint8Array(await createPicture())], { type: "image/png" }) });
  const { body } = await appHarness.requestJson("/api/assets", { as: "operator" });
  const shareRequest = {
    assets: [body.assets.find((asset: { tags: string[] }) => asset.tags.includes("output")).id],
    expiresInMs: 300 * 24 * 3_600_000,
  };
  const { path } = await post(appHarness, "/api/console/shares", { json: shareRequest });
  await appHarness.ended(app, run.body.run.id);
  return { job, image: original, masked, app: app.id, run: run.body.run.id, share: path.slice("/share/".length), connection };
}

/** Returns the responses by request, with bytes replaced by their hash. Omits last-used times and values that are recounted at startup. */
export async function describeInstallation(appHarness: AppHarness, installation: Installation): Promise<Record<string, unknown>> {
  const { harness } = appHarness;
  const facts: Record<string, unknown> = {};
  const reads: [path: string, as: Role][] = [
    ["/api/console/members", "admin"],
    ["/api/jobs?limit=100", "viewer"],
    [`/api/jobs/${installation.job}`, "viewer"],
    [`/api/jobs/${installation.job}/assets`, "viewer"],
    ["/api/assets?limit=100&sort=created_at", "viewer"],
    ["/api/tags", "viewer"],
    ["/api/userdata?dir=workflows/", "viewer"],
    ["/api/userdata/workflows%2Fwork%20in%20progress.json", "viewer"],
    [`/api/console/mask-layers?filename=${installation.masked}`, "viewer"],
    [`/api/view?filename=${installation.image}&type=input`, "viewer"],
    [`/api/view?filename=${installation.masked}&type=input`, "viewer"],
    ["/api/apps", "viewer"],
    [`/api/apps/${installation.app}`, "viewer"],
    [`/api/apps/${installation.app}/runs/${installation.run}`, "runner"],
    ["/api/console/shares", "operator"],
    [`/api/share/${installation.share}/1`, "viewer"],
  ];
  for (const [path, as] of reads) {
    const response = await harness.request(path, { as });
    const bytes = Buffer.from(await response.arrayBuffer());
    if (!response.ok) throw new Error(`${path}: ${response.status} ${bytes.toString()}`);
    const isJson = response.headers.get("content-type")?.startsWith("application/json");
    facts[path] = isJson ? omitUsageFields(JSON.parse(bytes.toString())) : createHash("sha256").update(bytes).digest("hex");
  }
  const { store, keyRing } = harness.console;
  facts["the output of the job"] = await getOutput(appHarness, installation.job);
  facts.keys = (await store.keys.list()).map((key) => decryptApiKey(keyRing, key)).sort();
  facts.connections = await store.connections.listFor(harness.getViewer("operator").memberId);
  facts["the audit log"] = "brokenAt" in (await store.audit.verify());
  facts["signing in"] = (await signIn(harness.console, { email: "operator@desk.test", password: PASSWORD, address: "198.51.100.7" })).ok;
  return facts;
}

async function getOutput(appHarness: AppHarness, job: string): Promise<string> {
  const { body } = await appHarness.requestJson(`/api/jobs/${job}`, { as: "viewer" });
  const filename: string = body.outputs["3"].images[0].filename;
  const response = await appHarness.harness.request(`/api/view?filename=${filename}&type=output`, { as: "viewer" });
  return createHash("sha256")
    .update(Buffer.from(await response.arrayBuffer()))
    .digest("hex");
}

function omitUsageFields(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (name, inner) =>
      ["last_access_time", "usedAt", "views", "seenAt", "lastSeenAt"].includes(name) ? undefined : inner,
    ),
  );
}
