// A console with an app on the built-in service. The app inverts its picture, so input and output differ.
import sharp from "sharp";
import { type AppBody, type AppRun, type AppView } from "@/lib/contract/apps/app";
import { createHarness, type Harness, type HarnessRequest } from "@/tests/support/harness";
import { until } from "@/tests/support/until";

export const definition: AppBody["definition"] = {
  title: "Invert",
  text: "Turns light to dark.",
  tags: ["photo"],
  inputs: [
    { name: "picture", node: "1", input: "image", label: "Picture", control: { kind: "picture" }, isRequired: true },
    { name: "prefix", node: "3", input: "filename_prefix", label: "Name", control: { kind: "text" }, default: "inverted" },
  ],
  outputs: [{ node: "3", label: "Result" }],
  graph: {
    "1": { class_type: "LoadImage", inputs: { image: "none.png" } },
    "2": { class_type: "ImageInvert", inputs: { image: ["1", 0] } },
    "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "x" } },
  },
};

export function createPicture(width = 8, height = 8): Promise<Buffer> {
  return sharp({ create: { width, height, channels: 3, background: "#fff" } })
    .png()
    .toBuffer();
}
export const createPngFile = async (size = 8, name = "photo.png") =>
  new File([new Uint8Array(await createPicture(size, size))], name, { type: "image/png" });

export type AppHarness = Awaited<ReturnType<typeof createAppHarness>>;

export async function createAppHarness(options: Parameters<typeof createHarness>[0] = {}) {
  const harness: Harness = await createHarness(options);
  const request = async (path: string, options: HarnessRequest = {}) => {
    const response = await harness.request(path, options);
    const text = await response.text();
    // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the shape depends on the path
    return { status: response.status, headers: response.headers, body: (text === "" ? undefined : JSON.parse(text)) as any };
  };

  async function createApp(
    changes: Partial<AppBody> = {},
    { connection = "embedded", as = "operator" }: { connection?: string; as?: HarnessRequest["as"] } = {},
  ): Promise<AppView> {
    const json = { definition, access: { kind: "team" }, ...changes };
    const response = await request(`/api/apps?connection=${connection}`, { as, method: "POST", json });
    if (response.status !== 201) throw new Error(JSON.stringify(response.body));
    return response.body.app;
  }

  /** Sends form data, like a browser or curl. */
  async function post(path: string, fields: Record<string, string | Blob>, options: HarnessRequest = {}) {
    const body = new FormData();
    for (const [name, value] of Object.entries(fields)) body.set(name, value);
    return request(path, { as: "runner", method: "POST", body, ...options });
  }
  const runApp = (app: Pick<AppView, "id">, fields: Record<string, string | Blob>, options?: HarnessRequest) =>
    post(`/api/apps/${app.id}/runs`, fields, options);
  const startRun = (app: Pick<AppView, "id">, inputs: Record<string, unknown>, options: HarnessRequest = {}) =>
    request(`/api/apps/${app.id}/runs`, { as: "runner", method: "POST", json: { inputs }, ...options });

  async function waitForRun(app: Pick<AppView, "id">, id: string, options: HarnessRequest = { as: "runner" }): Promise<AppRun> {
    return until(`run ${id} has ended`, async () => {
      const { body } = await request(`/api/apps/${app.id}/runs/${id}`, options);
      return body.run.endedAt === undefined ? undefined : body.run;
    });
  }

  return { harness, requestJson: request, post, make: createApp, run: runApp, start: startRun, ended: waitForRun };
}
