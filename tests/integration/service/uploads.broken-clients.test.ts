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

async function send(body: string | Buffer, { type = "multipart/form-data; boundary=b", isChunked = false } = {}) {
  const bytes = Buffer.from(body);
  const length = isChunked ? "Transfer-Encoding: chunked" : `Content-Length: ${bytes.length}`;
  const head = `POST /api/assets HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${key}\r\nConnection: close\r\nContent-Type: ${type}\r\n${length}\r\n\r\n`;
  const chunks = isChunked ? [...bytes].map((byte) => Buffer.from([0x31, 13, 10, byte, 13, 10])).concat(Buffer.from("0\r\n\r\n")) : [bytes];
  const response = parseRawResponse(await sendRaw(service.url, Buffer.concat([Buffer.from(head), ...chunks])));
  const text = /transfer-encoding: chunked/i.test(response.head) ? (response.body.split("\r\n")[1] ?? "") : response.body;
  return { status: response.status, body: asRecord(JSON.parse(text)) };
}
const getContent = async (asset: Record<string, unknown>) => (await client.get(`/api/assets/${asString(asset.id)}/content`)).text;

describe("the parts of a form", () => {
  it("may be in any order, with tags before and after the file", async () => {
    const tags = [createField("tags", '["one","two"]'), createField("name", "Named"), createField("user_metadata", '{"a":{"b":1}}')].join(
      "",
    );
    const expected = { tags: ["one", "two"], name: "Named", user_metadata: { a: { b: 1 } } };
    expect(await send(`${createPlainFilePart()}${tags}--b--\r\n`)).toMatchObject({ status: 201, body: expected });
    expect(await send(`${tags}${createPlainFilePart()}--b--\r\n`)).toMatchObject({ status: 201, body: expected });
    expect((await send(`${createField("tags", "x")}${createPlainFilePart()}${createField("tags", "y")}--b--`)).body).toMatchObject({
      tags: ["x", "y"],
    });
  });

  it("allow a preamble, an epilogue and no final line break", async () => {
    const content = createContent();
    const response = await send(`This is no part.\r\n${createPlainFilePart(content)}--b--\r\nNeither is this.\r\n--b\r\n`);
    expect(response).toMatchObject({ status: 201, body: { size: content.length } });
    expect(await getContent(response.body)).toBe(content);
    expect((await send(`${createPlainFilePart()}--b--`)).status).toBe(201);
  });

  it.each([
    ['multipart/form-data; boundary="b"'],
    ["Multipart/Form-Data; charset=utf-8; Boundary=b"],
    ["multipart/form-data;boundary=b;charset=utf-8"],
  ])("are split by %s", async (type) => {
    expect((await send(`${createPlainFilePart()}--b--\r\n`, { type })).status).toBe(201);
  });

  it("are split only by the exact boundary", async () => {
    const boundary = "=_(part)'+,-./:?=_";
    const content = `${createContent()}\r\n--${boundary.slice(0, -1)}\r\n--\r\n\r\n--${boundary.slice(1)}--`;
    const body = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n${content}\r\n--${boundary}--\r\n`;
    const response = await send(body, { type: `multipart/form-data; boundary="${boundary}"` });
    expect(response.status).toBe(201);
    expect(await getContent(response.body)).toBe(content);
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
    const response = await send(
      `${createFilePart(`name="thumb"; filename="zeroth.txt"`)}${createPlainFilePart(content)}${otherParts}--b--\r\n`,
    );
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
    ["with an escaped quote", `filename="a \\"b\\".txt"`, 'a "b".txt'],
    ["with a quote encoded by a browser", `filename="a %22b%22.txt"`, 'a "b".txt'],
    ["with literal percent signs", `filename="100% of 50%25.txt"`, "100% of 50%25.txt"],
    ["with a semicolon and an equals sign", `filename="a;b=c.txt"`, "a;b=c.txt"],
    ["without quotes", "filename=plain.txt", "plain.txt"],
    ["with a Windows path", `filename="C:\\fakepath\\dir\\x.txt"`, "x.txt"],
    ["with a path", `filename="../../etc/passwd"`, "passwd"],
    ["in the extended form only", "filename*=UTF-8''gr%C3%B6%C3%9Fe%20%22x%22.txt", 'größe "x".txt'],
    ["in both forms, ignoring the extended one", `filename="grosse.txt"; filename*=UTF-8''gr%C3%B6%C3%9Fe.txt`, "grosse.txt"],
    ["in both forms in reverse order", `filename*=UTF-8''gr%C3%B6%C3%9Fe.txt; filename="grosse.txt"`, "grosse.txt"],
    ["in the extended form of another charset", "filename*=iso-8859-1'en'%A3.txt", "£.txt"],
  ])("is read %s", async (_name, disposition, name) => {
    expect(await send(`${createFilePart(`name="file"; ${disposition}`)}--b--\r\n`)).toMatchObject({ status: 201, body: { name } });
  });

  it("may be in headers of any case and order", async () => {
    const part = `--b\r\ncontent-type: text/plain\r\nCONTENT-DISPOSITION:form-data;filename="odd.txt";NAME=file\r\n\r\n${createContent()}\r\n`;
    expect(await send(`${part}--b--\r\n`)).toMatchObject({ status: 201, body: { name: "odd.txt" } });
  });
});

describe("rejected forms", () => {
  it.each([
    [
      "no chosen file",
      () => `${createFilePart(`name="file"; filename=""`, "", "Content-Type: application/octet-stream\r\n")}--b--\r\n`,
      "MISSING_FILE",
      "file",
    ],
    ["a text field instead of a file", () => `${createField("file", "just text")}--b--\r\n`, "MISSING_FILE", "file"],
    ["a form without an end", () => createPlainFilePart(), "TRUNCATED_UPLOAD", "complete"],
    ["an empty body", () => "", "TRUNCATED_UPLOAD", "complete"],
    ["a form without parts", () => "--b--\r\n", "MISSING_FILE", "file"],
    [
      "a part that is too long",
      () => `${createPlainFilePart()}${createField("name", "n".repeat(1_100_000))}--b--\r\n`,
      "INVALID_BODY",
      "name",
    ],
    ["too many parts", () => `${createPlainFilePart()}${createField("tags", "x").repeat(501)}--b--\r\n`, "INVALID_BODY", "parts"],
    [
      "a file in base64",
      () => `${createFilePart(`name="file"; filename="a.txt"`, "aGVsbG8=", "Content-Transfer-Encoding: base64\r\n")}--b--\r\n`,
      "INVALID_BODY",
      "Content-Transfer-Encoding",
    ],
    [
      "a name without an end",
      () => `--b\r\nContent-Disposition: form-data; name="file"; filename="${"n".repeat(200_000)}"\r\n\r\nx\r\n--b--\r\n`,
      "INVALID_BODY",
      "name",
    ],
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
    const head = `POST /api/assets HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${key}\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 9000000\r\n\r\n`;
    socket.write(`${head}--b\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n\r\n${"x".repeat(bytes)}`);
    if (bytes > 0) await until("the upload has started", async () => (await readdir(join(dataDir, "service", "tmp"))).length === 1);
    socket.resetAndDestroy();
    await once(socket, "close");
    expect((await send(`${createPlainFilePart()}--b--\r\n`)).status).toBe(201);
    expect(service.output()).not.toMatch(/error|warn/i);
  });
});
