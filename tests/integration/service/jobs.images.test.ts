// Jobs that load pictures, one after the other on one slot; the next one's picture is read while another job still runs.
import sharp from "sharp";
import { afterEach, expect, it } from "vitest";
import { type Client, type ServiceBench, startService } from "@/tests/support/service";
import { ended, type Json, list, png, record, running, string, submit, waiting } from "./support";

let bench: ServiceBench | undefined;
afterEach(() => bench?.dispose());

const inverted = (image: string): Json => ({
  "1": { class_type: "LoadImage", inputs: { image } },
  "2": { class_type: "ImageInvert", inputs: { image: ["1", 0] } },
  "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "inverted" } },
});

/** Uploads a picture whose first row has that grey. */
async function upload(client: Client, grey: number): Promise<string> {
  const answer = await client.upload(png(32, 8, { seed: grey }), `${grey}.png`, {}, "image", "/api/upload/image");
  return string(record(answer.body).name);
}

async function savedGrey(client: Client, id: string): Promise<number | undefined> {
  const job = await ended(client, id);
  expect(job.status).toBe("completed");
  const name = string(list(record(record(job.outputs)["3"]).images)[0]?.filename);
  const answer = await client.raw("GET", `/api/view?filename=${name}&type=output`);
  return (
    await sharp(Buffer.from(await answer.arrayBuffer()))
      .raw()
      .toBuffer()
  )[0];
}

it("each saves what it makes of its own picture, whoever sent it and though one was cancelled whose turn was next", async () => {
  bench = await startService({ concurrency: 1 });
  const [ada, bob] = [bench.client("ada"), bench.client("bob")];
  const send = async (client: Client, grey: number) => ({ client, grey, id: await submit(client, inverted(await upload(client, grey))) });
  const blocking = await submit(ada, waiting(3600));
  await running(ada, blocking);
  const next = await submit(ada, waiting(3600, 2));
  const cancelled = await send(ada, 10);
  await ada.post("/api/interrupt", { prompt_id: blocking });
  await running(ada, next);

  const sent = [await send(ada, 20), await send(bob, 10), await send(ada, 10), await send(bob, 30), await send(bob, 40)];
  await ada.post("/api/queue", { delete: [cancelled.id] });
  await ada.post("/api/interrupt", { prompt_id: next });
  const saved = await Promise.all(sent.map(({ client, id }) => savedGrey(client, id)));
  expect(saved).toEqual(sent.map(({ grey }) => 255 - grey));
  expect((await ended(ada, cancelled.id)).status).toBe("cancelled");
  expect(bench.complaints).toEqual([]);
});
