// Files at a service, read in parts.
import { afterAll, beforeAll, expect, it } from "vitest";
import { carriedBy } from "@/lib/browser/carried-texts";
import { bytesAt, type ByteSource, PartUnread } from "@/lib/browser/files/byte-source";
import { startLittleServer } from "@/tests/support/little-server";
import { box, carrier } from "./files";

const film = carrier("both.mp4");
const begins = film.readUInt32BE(0);
const moov = film.indexOf("moov") - 4;
/** A film with its index behind a megabyte of pictures. */
const long = Buffer.concat([film.subarray(0, begins), box("mdat", Buffer.alloc(1_000_000)), film.subarray(moov)]);

let server: Awaited<ReturnType<typeof startLittleServer>>;
let sent = 0;
let isGone = false;
beforeAll(async () => {
  server = await startLittleServer((request, response) => {
    const [from = 0, to = 0] =
      /bytes=(\d+)-(\d+)/
        .exec(request.headers.range ?? "")
        ?.slice(1)
        .map(Number) ?? [];
    if (isGone) return void response.writeHead(404).end();
    if (request.url?.includes("plain")) return void response.writeHead(200).end(long);
    const part = long.subarray(from, to + 1);
    sent += part.length;
    response.writeHead(206, { "content-range": `bytes ${from}-${from + part.length - 1}/${long.length}` }).end(part);
  });
});
afterAll(() => server.close());

async function sourceAt(path: string): Promise<ByteSource> {
  isGone = false;
  const source = await bytesAt(`${server.url}/${path}`);
  if (!source.ok) throw new Error(source.failure.code);
  return source.value;
}

it("no more of a long file is asked for than where its texts stand", async () => {
  expect((await carriedBy(await sourceAt("film"))).kind).toBe("workflow");
  expect(sent).toBeLessThan(400_000);
});

it("a service without ranges hands it out whole", async () => {
  expect((await carriedBy(await sourceAt("plain"))).kind).toBe("workflow");
});

it("a part that is not handed out is the service's failure, and a file that is gone is one", async () => {
  const source = await sourceAt("film");
  isGone = true;
  await expect(carriedBy(source)).rejects.toBeInstanceOf(PartUnread);
  expect(await bytesAt(`${server.url}/film`)).toMatchObject({ ok: false, failure: { status: 404 } });
});
