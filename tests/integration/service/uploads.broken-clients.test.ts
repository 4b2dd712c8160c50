// Uploads by unusual clients, sent as raw bytes to the standalone service.
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { openRaw, parseRawResponse, sendRaw } from "@/tests/support/raw-http";
import { openServiceProcess } from "@/tests/support/service-process";
import { until } from "@/tests/support/until";
import { asRecord, asString } from "./support";

const { client, dataDir, key, service } = await openServiceProcess();
afterEach(async () => {
  await until("no temporary file is left", async () => (await readdir(join(dataDir, "service", "tmp"))).length === 0);
});

let count = 0;
/** Creates different content on each call. */
const createContent = () => `content ${(count += 1)}`;
const createField = (name: string, value: string) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const createFilePart = (disposition: string, content = createContent(), extraHeaders = "") =>
  `--b\r\nContent-Disposition: form-data; ${disposition}\r\n${extraHeaders}\r\n${content}\r\n`;
const createPlainFilePart = (content?: string) => createFilePart(`name="file"; filename="a.txt"`, content);

const multipartHeader = "Content-Type: multipart/form-data; boundary=b\r\n";
const createHead = (headers: string) =>
  `POST /api/assets HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${key}\r\n${multipartHeader}${headers}\r\n`;

async function send(body: string, { isChunked = false } = {}) {
  const bytes = Buffer.from(body);
  const length = isChunked ? "Transfer-Encoding: chunked" : `Content-Length: ${bytes.length}`;
  const head = createHead(`Connection: close\r\n${length}\r\n`);
  const chunks = isChunked ? [...bytes].map((byte) => Buffer.from([0x31, 13, 10, byte, 13, 10])).concat(Buffer.from("0\r\n\r\n")) : [bytes];
  const response = parseRawResponse(await sendRaw(service.url, Buffer.concat([Buffer.from(head), ...chunks])));
  const text = /transfer-encoding: chunked/i.test(response.head) ? (response.body.split("\r\n")[1] ?? "") : response.body;
  return { status: response.status, body: asRecord(JSON.parse(text)) };
}
const getContent = async (asset: Record<string, unknown>) => (await client.get(`/api/assets/${asString(asset.id)}/content`)).text;

describe("the parts of a form", () => {
  it("may be in any order, with tags before and after the file", async () => {
    const tags = `${createField("tags", '["one","two"]')}${createField("name", "Named")}${createField("user_metadata", '{"a":{"b":1}}')}`;
    const expected = { tags: ["one", "two"], name: "Named", user_metadata: { a: { b: 1 } } };
    expect(await send(`${createPlainFilePart()}${tags}--b--\r\n`)).toMatchObject({ status: 201, body: expected });
    expect(await send(`${tags}${createPlainFilePart()}--b--\r\n`)).toMatchObject({ status: 201, body: expected });
    expect((await send(`${createField("tags", "x")}${createPlainFilePart()}${createField("tags", "y")}--b--`)).body).toMatchObject({
      tags: ["x", "y"],
    });
  });

  it("may arrive byte by byte without a content length", async () => {
    const content = `${createContent()}\r\n-\r\n--\r\n\r\r\n`;
    const response = await send(`${createField("tags", "slow")}${createPlainFilePart(content)}--b--\r\n`, { isChunked: true });
    expect(response).toMatchObject({ status: 201, body: { tags: ["slow"], size: content.length } });
    expect(await getContent(response.body)).toBe(content);
  });

  it("use the first file when several have the field name", async () => {
    const content = createContent();
    const otherParts = `${createFilePart(`name="file"; filename="second.txt"`)}${createFilePart(`name="preview"; filename="third.txt"`)}`;
    const firstPart = createFilePart(`name="thumb"; filename="zeroth.txt"`);
    const response = await send(`${firstPart}${createPlainFilePart(content)}${otherParts}--b--\r\n`);
    expect(response).toMatchObject({ status: 201, body: { name: "a.txt", size: content.length } });
  });

  it("may contain an empty file or a single byte", async () => {
    expect(await send(`${createPlainFilePart("")}--b--\r\n`)).toMatchObject({ status: 201, body: { size: 0 } });
    expect(await send(`${createPlainFilePart("\r")}--b--\r\n`)).toMatchObject({ status: 201, body: { size: 1 } });
  });
});

describe("the file name", () => {
  it.each([
    ["in raw UTF-8", `filename="größe 日本 🎨.txt"`, "größe 日本 🎨.txt"],
    ["with a quote encoded by a browser", `filename="a %22b%22.txt"`, 'a "b".txt'],
    ["with literal percent signs", `filename="100% of 50%25.txt"`, "100% of 50%25.txt"],
    ["with a Windows path", `filename="C:\\fakepath\\dir\\x.txt"`, "x.txt"],
    ["with a path", `filename="../../etc/passwd"`, "passwd"],
    ["in the extended form only", "filename*=UTF-8''gr%C3%B6%C3%9Fe%20%22x%22.txt", 'größe "x".txt'],
    ["in both forms, ignoring the extended one", `filename="grosse.txt"; filename*=UTF-8''gr%C3%B6%C3%9Fe.txt`, "grosse.txt"],
  ])("is read %s", async (_name, disposition, name) => {
    expect(await send(`${createFilePart(`name="file"; ${disposition}`)}--b--\r\n`)).toMatchObject({ status: 201, body: { name } });
  });
});

describe("rejected forms", () => {
  const unchosenPart = createFilePart(`name="file"; filename=""`, "", "Content-Type: application/octet-stream\r\n");
  const longNamePart = createFilePart(`name="file"; filename="${"n".repeat(200_000)}"`);
  const base64Part = createFilePart(`name="file"; filename="a.txt"`, "aGVsbG8=", "Content-Transfer-Encoding: base64\r\n");
  it.each([
    ["no chosen file", () => `${unchosenPart}--b--\r\n`, "MISSING_FILE", "file"],
    ["a text field instead of a file", () => `${createField("file", "just text")}--b--\r\n`, "MISSING_FILE", "file"],
    ["a form without an end", () => createPlainFilePart(), "TRUNCATED_UPLOAD", "complete"],
    ["a form without parts", () => "--b--\r\n", "MISSING_FILE", "file"],
    ["a long part", () => `${createPlainFilePart()}${createField("name", "n".repeat(1_100_000))}--b--\r\n`, "INVALID_BODY", "name"],
    ["too many parts", () => `${createPlainFilePart()}${createField("tags", "x").repeat(501)}--b--\r\n`, "INVALID_BODY", "parts"],
    [
      "too much text",
      () => `${createPlainFilePart()}${createField("tags", "x".repeat(900_000)).repeat(19)}--b--\r\n`,
      "INVALID_BODY",
      "text fields",
    ],
    ["a file in base64", () => `${base64Part}--b--\r\n`, "INVALID_BODY", "Content-Transfer-Encoding"],
    ["a long file name", () => `${longNamePart}--b--\r\n`, "INVALID_BODY", "name"],
  ])("get 400 with a message for %s", async (_name, body, code, expectedText) => {
    const response = await send(body());
    expect(response).toMatchObject({ status: 400, body: { code, message: expect.stringContaining(expectedText) } });
  });
});

describe("disconnecting clients", () => {
  it.each([
    ["in the middle of the file", 4000],
    ["right after the headers", 0],
  ])("leave no file when they disconnect %s", async (_name, bytes) => {
    const { socket } = openRaw(service.url);
    const partHeader = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n\r\n';
    socket.write(`${createHead("Content-Length: 9000000\r\n")}${partHeader}${"x".repeat(bytes)}`);
    if (bytes > 0) await until("the upload has started", async () => (await readdir(join(dataDir, "service", "tmp"))).length === 1);
    socket.resetAndDestroy();
    await once(socket, "close");
    expect((await send(`${createPlainFilePart()}--b--\r\n`)).status).toBe(201);
    expect(service.output()).not.toMatch(/error|warn/i);
  });
});
