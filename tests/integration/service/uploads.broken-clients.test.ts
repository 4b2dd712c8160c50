// Uploads by unusual clients: fields in any order, names in any encoding, no length, data before and after the form, closed connections. Sent byte by
// byte to the stand-alone service.
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { openRaw, readRaw, sendRaw } from "@/tests/support/raw-http";
import { openServiceProcess } from "@/tests/support/service-process";
import { until } from "@/tests/support/until";
import { asRecord, asString } from "./support";

const { client, dataDir, key, service } = await openServiceProcess();
afterEach(async () => {
  await until("nothing is left half-way", async () => (await readdir(join(dataDir, "service", "tmp"))).length === 0);
});

let count = 0;
/** A different content each time. */
const fresh = () => `content ${(count += 1)}`;
const field = (name: string, value: string) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const file = (disposition: string, content = fresh(), extra = "") =>
  `--b\r\nContent-Disposition: form-data; ${disposition}\r\n${extra}\r\n${content}\r\n`;
const createPlain = (content?: string) => file(`name="file"; filename="a.txt"`, content);

async function send(body: string | Buffer, { type = "multipart/form-data; boundary=b", isChunked = false } = {}) {
  const bytes = Buffer.from(body);
  const length = isChunked ? "Transfer-Encoding: chunked" : `Content-Length: ${bytes.length}`;
  const head = `POST /api/assets HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${key}\r\nConnection: close\r\nContent-Type: ${type}\r\n${length}\r\n\r\n`;
  const chunks = isChunked ? [...bytes].map((byte) => Buffer.from([0x31, 13, 10, byte, 13, 10])).concat(Buffer.from("0\r\n\r\n")) : [bytes];
  const response = readRaw(await sendRaw(service.url, Buffer.concat([Buffer.from(head), ...chunks])));
  const text = /transfer-encoding: chunked/i.test(response.head) ? (response.body.split("\r\n")[1] ?? "") : response.body;
  return { status: response.status, body: asRecord(JSON.parse(text)) };
}
const getContent = async (asset: Record<string, unknown>) => (await client.get(`/api/assets/${asString(asset.id)}/content`)).text;

describe("the parts of a form", () => {
  it("accepts fields in any order, with tags before and after the file", async () => {
    const tags = [field("tags", '["one","two"]'), field("name", "Named"), field("user_metadata", '{"a":{"b":1}}')].join("");
    const expected = { tags: ["one", "two"], name: "Named", user_metadata: { a: { b: 1 } } };
    expect(await send(`${createPlain()}${tags}--b--\r\n`)).toMatchObject({ status: 201, body: expected });
    expect(await send(`${tags}${createPlain()}--b--\r\n`)).toMatchObject({ status: 201, body: expected });
    expect((await send(`${field("tags", "x")}${createPlain()}${field("tags", "y")}--b--`)).body).toMatchObject({ tags: ["x", "y"] });
  });

  it("allow content before and after, and no final line break", async () => {
    const content = fresh();
    const response = await send(`This is no part.\r\n${createPlain(content)}--b--\r\nNeither is this.\r\n--b\r\n`);
    expect(response).toMatchObject({ status: 201, body: { size: content.length } });
    expect(await getContent(response.body)).toBe(content);
    expect((await send(`${createPlain()}--b--`)).status).toBe(201);
  });

  it.each([
    ['multipart/form-data; boundary="b"'],
    ["Multipart/Form-Data; charset=utf-8; Boundary=b"],
    ["multipart/form-data;boundary=b;charset=utf-8"],
  ])("are split by %s", async (type) => {
    expect((await send(`${createPlain()}--b--\r\n`, { type })).status).toBe(201);
  });

  it("are split by an odd boundary; look-alikes are content", async () => {
    const edge = "=_(part)'+,-./:?=_";
    const content = `${fresh()}\r\n--${edge.slice(0, -1)}\r\n--\r\n\r\n--${edge.slice(1)}--`;
    const body = `--${edge}\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n${content}\r\n--${edge}--\r\n`;
    const response = await send(body, { type: `multipart/form-data; boundary="${edge}"` });
    expect(response.status).toBe(201);
    expect(await getContent(response.body)).toBe(content);
  });

  it("accepts bodies without a length, byte by byte", async () => {
    const content = `${fresh()}\r\n-\r\n--\r\n\r\r\n`;
    const response = await send(`${field("tags", "slow")}${createPlain(content)}--b--\r\n`, { isChunked: true });
    expect(response).toMatchObject({ status: 201, body: { tags: ["slow"], size: content.length } });
    expect(await getContent(response.body)).toBe(content);
  });

  it("contain one file: the first of its name", async () => {
    const content = fresh();
    const otherParts = `${file(`name="file"; filename="second.txt"`)}${file(`name="preview"; filename="third.txt"`)}`;
    const response = await send(`${file(`name="thumb"; filename="zeroth.txt"`)}${createPlain(content)}${otherParts}--b--\r\n`);
    expect(response).toMatchObject({ status: 201, body: { name: "a.txt", size: content.length } });
  });

  it("may contain an empty file or one byte", async () => {
    expect(await send(`${createPlain("")}--b--\r\n`)).toMatchObject({ status: 201, body: { size: 0 } });
    expect(await send(`${createPlain("\r")}--b--\r\n`)).toMatchObject({ status: 201, body: { size: 1 } });
  });
});

describe("the name of a file", () => {
  it.each([
    ["in UTF-8 as it is", `filename="größe 日本 🎨.txt"`, "größe 日本 🎨.txt"],
    ["with a quote behind a backslash", `filename="a \\"b\\".txt"`, 'a "b".txt'],
    ["with a quote as a browser writes it", `filename="a %22b%22.txt"`, 'a "b".txt'],
    ["with percents that mean percents", `filename="100% of 50%25.txt"`, "100% of 50%25.txt"],
    ["with a semicolon and an equals sign", `filename="a;b=c.txt"`, "a;b=c.txt"],
    ["without quotes", "filename=bare.txt", "bare.txt"],
    ["with the whole path of another system", `filename="C:\\fakepath\\dir\\x.txt"`, "x.txt"],
    ["with a path", `filename="../../etc/passwd"`, "passwd"],
    ["in the extended form alone", "filename*=UTF-8''gr%C3%B6%C3%9Fe%20%22x%22.txt", 'größe "x".txt'],
    ["in both forms (the second one is not for forms)", `filename="grosse.txt"; filename*=UTF-8''gr%C3%B6%C3%9Fe.txt`, "grosse.txt"],
    ["in both forms, the other way round", `filename*=UTF-8''gr%C3%B6%C3%9Fe.txt; filename="grosse.txt"`, "grosse.txt"],
    ["in the extended form of another charset", "filename*=iso-8859-1'en'%A3.txt", "£.txt"],
  ])("is read %s", async (_name, disposition, name) => {
    expect(await send(`${file(`name="file"; ${disposition}`)}--b--\r\n`)).toMatchObject({ status: 201, body: { name } });
  });

  it("may be in headers of any case and order", async () => {
    const part = `--b\r\ncontent-type: text/plain\r\nCONTENT-DISPOSITION:form-data;filename="odd.txt";NAME=file\r\n\r\n${fresh()}\r\n`;
    expect(await send(`${part}--b--\r\n`)).toMatchObject({ status: 201, body: { name: "odd.txt" } });
  });
});

describe("explained refusals", () => {
  it.each([
    [
      "a file that nobody chose",
      () => `${file(`name="file"; filename=""`, "", "Content-Type: application/octet-stream\r\n")}--b--\r\n`,
      "MISSING_FILE",
      "file",
    ],
    ["a text where the file belongs", () => `${field("file", "just text")}--b--\r\n`, "MISSING_FILE", "file"],
    ["a form without an end", () => createPlain(), "TRUNCATED_UPLOAD", "complete"],
    ["a form of nothing", () => "", "TRUNCATED_UPLOAD", "complete"],
    ["a form of no parts", () => "--b--\r\n", "MISSING_FILE", "file"],
    ["a part that is too long", () => `${createPlain()}${field("name", "n".repeat(1_100_000))}--b--\r\n`, "INVALID_BODY", "name"],
    ["too many parts", () => `${createPlain()}${field("tags", "x").repeat(501)}--b--\r\n`, "INVALID_BODY", "parts"],
    [
      "a file that is written in base64",
      () => `${file(`name="file"; filename="a.txt"`, "aGVsbG8=", "Content-Transfer-Encoding: base64\r\n")}--b--\r\n`,
      "INVALID_BODY",
      "Content-Transfer-Encoding",
    ],
    [
      "a name without an end",
      () => `--b\r\nContent-Disposition: form-data; name="file"; filename="${"n".repeat(200_000)}"\r\n\r\nx\r\n--b--\r\n`,
      "INVALID_BODY",
      "name",
    ],
  ])("%s", async (_name, body, code, words) => {
    const response = await send(body());
    expect(response).toMatchObject({ status: 400, body: { code, message: expect.stringContaining(words) } });
  });
});

describe("many and broken clients", () => {
  it.each([
    ["in the middle of the file", 4000],
    ["right behind its headers", 0],
  ])("leaves no file of a client that disconnects %s", async (_name, bytes) => {
    const { socket } = openRaw(service.url);
    const head = `POST /api/assets HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${key}\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 9000000\r\n\r\n`;
    socket.write(`${head}--b\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n\r\n${"x".repeat(bytes)}`);
    if (bytes > 0) await until("it has begun", async () => (await readdir(join(dataDir, "service", "tmp"))).length === 1);
    socket.resetAndDestroy();
    await once(socket, "close");
    expect((await send(`${createPlain()}--b--\r\n`)).status).toBe(201);
    expect(service.output()).not.toMatch(/error|warn/i);
  });
});
