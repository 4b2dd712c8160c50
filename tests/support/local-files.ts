// The files of a fake local server: pictures, assets (as with --enable-assets) and user data. Follows the wire facts (3.11 to 3.21, 5): assets
// are named by files, duplicate names get a number, and ids chosen by clients are refused.
import { randomUUID } from "node:crypto";
import { type ServerResponse } from "node:http";
import { blake3 } from "@napi-rs/blake-hash";
import sharp from "sharp";
import { type ReceivedRequest, sendJsonResponse } from "./test-server";

type Asset = {
  id: string;
  name: string;
  /** Absent for a file in a folder until a client requests it. */
  asset_hash?: string;
  size: number;
  mime_type: string;
  tags: string[];
  user_metadata: object;
  loader_path?: string;
  preview_url?: string;
};
export type LocalFiles = {
  /** Files by kind, subfolder and name, as on the server's disk. */
  pictures: Map<string, Buffer>;
  assets: (Asset & { bytes: Buffer })[];
  userdata: Map<string, Buffer>;
  /** Stores a job's output, such as "output/video/a.mp4", as a file and as an asset. */
  writeOutput(path: string, bytes: Buffer, type: string): void;
  /** Returns false if the request is not about files. */
  respond(request: ReceivedRequest, response: ServerResponse): Promise<boolean>;
};

/** UTC times without a time zone, as local servers return them. */
const TIMESTAMPS = { created_at: "2026-01-01T00:00:00.123456", updated_at: "2026-01-01T00:00:00.123456" };

export function createLocalFiles(): LocalFiles {
  const pictures: LocalFiles["pictures"] = new Map();
  const assets: LocalFiles["assets"] = [];
  const userdata: LocalFiles["userdata"] = new Map();

  const toPublicAsset = ({ bytes: _, ...asset }: Asset & { bytes: Buffer }, overrides: object = {}) => ({
    ...asset,
    ...TIMESTAMPS,
    ...overrides,
  });
  function storeAsset(
    bytes: Buffer,
    { name, type, tags, metadata = {} }: { name: string; type: string; tags: string[]; metadata?: object },
  ) {
    const asset_hash = `blake3:${blake3(bytes).toString("hex")}`;
    const asset = { id: randomUUID(), name, asset_hash, size: bytes.length, mime_type: type, tags, user_metadata: metadata, bytes };
    // An uploaded asset's file is named by its content, in the folder of its tag.
    const folder = ["input", "output", "temp"].find((kind) => tags.includes(kind));
    const storedName = `${asset_hash.slice("blake3:".length)}${/\.[^.]+$/.exec(name)?.[0] ?? ""}`;
    const placedAsset = folder === undefined ? asset : { ...asset, ...getPlacement(`${folder}/${storedName}`) };
    assets.push(placedAsset);
    if (folder) pictures.set(`${folder}/${storedName}`, bytes);
    return toPublicAsset(placedAsset, { created_new: true });
  }
  function writeOutput(path: string, bytes: Buffer, type: string): void {
    pictures.set(path, bytes);
    const [folder = "", ...rest] = path.split("/");
    const name = rest.at(-1) ?? "";
    assets.push({
      id: randomUUID(),
      name,
      size: bytes.length,
      mime_type: type,
      tags: [folder],
      user_metadata: {},
      bytes,
      ...getPlacement(path),
    });
  }
  function storePicture(bytes: Buffer, name: string, key: string): string {
    for (let index = 0; ; index++) {
      const candidate = index === 0 ? name : name.replace(/(\.[^.]*)?$/, ` (${index})$1`);
      const file = pictures.get(key + candidate);
      if (file && !file.equals(bytes)) continue;
      pictures.set(key + candidate, bytes);
      return candidate;
    }
  }

  async function handleAssets({ method, url: address, ...request }: ReceivedRequest, url: URL, response: ServerResponse): Promise<void> {
    const sendError = (status: number, code: string) => sendJsonResponse(response, { error: { code, message: code, details: {} } }, status);
    const route = `${method} ${url.pathname}`;
    if (route === "GET /api/assets") {
      if (url.searchParams.has("metadata_filter")) return sendError(400, "UNSUPPORTED_PARAM");
      const name = (url.searchParams.get("name_contains") ?? "").toLowerCase();
      const tags = (url.searchParams.get("include_tags") ?? "").split(",").filter((tag) => tag !== "");
      const matches = assets.filter((asset) => asset.name.toLowerCase().includes(name) && tags.every((tag) => asset.tags.includes(tag)));
      const offset = Number(url.searchParams.get("offset") ?? 0);
      const page = matches.toReversed().slice(offset, offset + Number(url.searchParams.get("limit") ?? 20));
      const has_more = offset + page.length < matches.length;
      return sendJsonResponse(response, { assets: page.map((item) => toPublicAsset(item)), total: matches.length, has_more });
    }
    if (route === "POST /api/assets") {
      const form = await parseForm({ method, url: address, ...request });
      if (form.has("id")) return sendError(400, "UNSUPPORTED_FIELD");
      const file = form.get("file");
      if (!(file instanceof File)) return sendError(400, "MISSING_FILE");
      if (file.size === 0) return sendError(400, "EMPTY_UPLOAD");
      const name = getText(form.get("name")) || file.name;
      const tags: string[] = JSON.parse(getText(form.get("tags")) || "[]");
      const metadata: object = JSON.parse(getText(form.get("user_metadata")) || "{}");
      const storedAsset = storeAsset(Buffer.from(await file.arrayBuffer()), { name, type: file.type, tags, metadata });
      return sendJsonResponse(response, storedAsset, 201);
    }
    if (route === "POST /api/assets/from-hash") {
      const body: { hash: string; tags: string[]; name?: string } = JSON.parse(request.body.toString());
      const existing = assets.find(({ asset_hash }) => asset_hash === body.hash);
      if (!existing) return sendError(404, "ASSET_NOT_FOUND");
      return sendJsonResponse(
        response,
        storeAsset(existing.bytes, { name: body.name ?? existing.name, type: existing.mime_type, tags: body.tags }),
        201,
      );
    }
    if (url.pathname === "/api/assets/tags/refine")
      return sendJsonResponse(response, { tag_counts: Object.fromEntries(countTags(assets)) });
    const [, id, part] = /^\/api\/assets\/([0-9a-f-]{36})(\/content|\/tags)?$/.exec(url.pathname) ?? [];
    const asset = assets.find((asset) => asset.id === id);
    if (!asset) return sendError(404, "ASSET_NOT_FOUND");
    if (part === "/content") return sendBytes(response, asset.bytes, asset.mime_type);
    if (method === "GET") return sendJsonResponse(response, toPublicAsset(asset));
    if (part === "/tags") {
      const { tags }: { tags: string[] } = JSON.parse(request.body.toString());
      asset.tags = method === "POST" ? [...new Set([...asset.tags, ...tags])] : asset.tags.filter((tag) => !tags.includes(tag));
      return sendJsonResponse(response, { total_tags: asset.tags });
    }
    if (method === "DELETE") {
      assets.splice(assets.indexOf(asset), 1);
      return void response.writeHead(204).end();
    }
    Object.assign(asset, JSON.parse(request.body.toString()));
    return sendJsonResponse(response, toPublicAsset(asset));
  }

  async function handleUpload(request: ReceivedRequest, response: ServerResponse): Promise<void> {
    const form = await parseForm(request);
    const image = form.get("image");
    if (!(image instanceof File) || image.size === 0) return void response.writeHead(400).end();
    const bytes = Buffer.from(await image.arrayBuffer());
    const [type, subfolder] = [getText(form.get("type")) || "input", getText(form.get("subfolder"))];
    const prefix = `${type}/${subfolder && `${subfolder}/`}`;
    if (!request.url.startsWith("/api/upload/mask")) {
      const name = storePicture(bytes, image.name, prefix);
      return sendJsonResponse(response, { name, subfolder, type });
    }
    const ref: { filename?: string; subfolder?: string; type?: string } = JSON.parse(getText(form.get("original_ref")) || "{}");
    if (!ref.filename) return void response.writeHead(400).end();
    const original = pictures.get(`${ref.type ?? "output"}/${ref.subfolder ? `${ref.subfolder}/` : ""}${ref.filename}`);
    // Returns a name even if it found no original and stored nothing.
    if (!original) return sendJsonResponse(response, { name: image.name, subfolder, type });
    const alpha = await sharp(bytes).ensureAlpha().extractChannel(3).raw().toBuffer();
    const { data, info } = await sharp(original).ensureAlpha().raw().toBuffer({ resolveWithObject: true });
    for (const [index, value] of alpha.entries()) data[index * 4 + 3] = value;
    const masked = await sharp(data, { raw: { width: info.width, height: info.height, channels: 4 } })
      .png()
      .toBuffer();
    return sendJsonResponse(response, { name: storePicture(masked, image.name, prefix), subfolder, type });
  }

  function handleUserdata({ method, body }: ReceivedRequest, url: URL, response: ServerResponse): void {
    const sendEmpty = (status: number) => void response.writeHead(status).end();
    const getInfo = (path: string, base = "") => ({
      path: path.slice(base.length),
      size: userdata.get(path)?.length ?? 0,
      modified: 1_767_225_600_000,
    });
    if (url.pathname === "/api/userdata") {
      const dir = url.searchParams.get("dir") ?? "";
      const base = dir === "./" ? "" : dir;
      if (base.startsWith("/")) return sendEmpty(403);
      const matchingPaths = [...userdata.keys()].filter((path) => path.startsWith(base)).sort();
      if (base !== "" && matchingPaths.length === 0) return sendEmpty(404);
      const listedPaths =
        url.searchParams.get("recurse") === "true" ? matchingPaths : matchingPaths.filter((path) => !path.slice(base.length).includes("/"));
      const isFull = url.searchParams.get("full_info") === "true";
      return sendJsonResponse(
        response,
        isFull ? listedPaths.map((path) => getInfo(path, base)) : listedPaths.map((path) => path.slice(base.length)),
      );
    }
    const [file = "", dest] = url.pathname.slice("/api/userdata/".length).split("/move/").map(decodeURIComponent);
    const keepsExisting = url.searchParams.get("overwrite") === "false";
    if (file.split("/").includes("..")) return sendEmpty(403);
    const storedFile = userdata.get(file);
    if (method === "POST" && dest === undefined) {
      if (storedFile && keepsExisting) return sendEmpty(409);
      userdata.set(file, body);
      return sendJsonResponse(response, url.searchParams.get("full_info") === "true" ? getInfo(file) : file);
    }
    if (!storedFile) return sendEmpty(404);
    if (method === "GET") return sendBytes(response, storedFile, "application/octet-stream");
    if (dest !== undefined && keepsExisting && userdata.has(dest)) return sendEmpty(409);
    userdata.delete(file);
    if (dest === undefined) return sendEmpty(204);
    userdata.set(dest, storedFile);
    return sendJsonResponse(response, dest);
  }

  async function handleRequest(request: ReceivedRequest, response: ServerResponse): Promise<boolean> {
    const url = new URL(request.url, "http://local");
    if (url.pathname.startsWith("/api/assets")) await handleAssets(request, url, response);
    else if (url.pathname === "/api/tags") {
      const prefix = url.searchParams.get("prefix") ?? "";
      const tags = [...countTags(assets)].filter(([name]) => name.startsWith(prefix)).map(([name, count]) => ({ name, count }));
      sendJsonResponse(response, { tags, total: tags.length, has_more: false });
    } else if (/^\/api\/upload\/(image|mask)$/.test(url.pathname)) await handleUpload(request, response);
    else if (url.pathname.startsWith("/api/userdata")) handleUserdata(request, url, response);
    else if (url.pathname === "/api/view") {
      const [name, folder] = [url.searchParams.get("filename") ?? "", url.searchParams.get("subfolder") ?? ""];
      const bytes = name.startsWith("blake3:")
        ? assets.find(({ asset_hash }) => asset_hash === name)?.bytes
        : pictures.get(`${url.searchParams.get("type") ?? "output"}/${folder && `${folder}/`}${name}`);
      if (bytes) sendBytes(response, bytes, getType(name), { range: request.headers.range, name });
      else response.writeHead(404).end();
    } else return false;
    return true;
  }
  return { pictures, assets, userdata, writeOutput, respond: handleRequest };
}

/** Returns the path within its folder, and the preview URL, which temporary pictures lack. */
function getPlacement(path: string): Pick<Asset, "loader_path" | "preview_url"> {
  const [folder = "", ...rest] = path.split("/");
  const [filename = "", subfolder] = [rest.at(-1), rest.slice(0, -1).join("/")];
  const params = new URLSearchParams({ type: folder, filename, ...(subfolder && { subfolder }) });
  return { loader_path: rest.join("/"), ...(folder !== "temp" && { preview_url: `/api/view?${params.toString()}` }) };
}

function countTags(assets: readonly { tags: string[] }[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const tag of assets.flatMap(({ tags }) => tags)) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  return counts;
}

function parseForm({ headers, body }: ReceivedRequest): Promise<FormData> {
  return new Response(new Uint8Array(body), { headers: { "content-type": headers["content-type"] ?? "" } }).formData();
}

const types: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  webp: "image/webp",
  mp4: "video/mp4",
  webm: "video/webm",
  flac: "audio/flac",
  mp3: "audio/mpeg",
  wav: "audio/x-wav",
  txt: "text/plain",
};

/** Returns the media type for a file name, or application/octet-stream if unknown. */
function getType(name: string): string {
  return types[name.slice(name.lastIndexOf(".") + 1).toLowerCase()] ?? "application/octet-stream";
}

function sendBytes(response: ServerResponse, bytes: Buffer, type: string, { range, name }: { range?: string; name?: string } = {}): void {
  const headers = { "content-type": type, "accept-ranges": "bytes", ...(name && { "content-disposition": `filename="${name}"` }) };
  const [, first, last] = /^bytes=(\d+)-(\d*)$/.exec(range ?? "") ?? [];
  if (first === undefined) return void response.writeHead(200, { ...headers, "content-length": bytes.length }).end(bytes);
  const from = Number(first);
  if (from >= bytes.length) return void response.writeHead(416, { "content-range": `bytes */${bytes.length}` }).end();
  const to = Math.min(last ? Number(last) : bytes.length - 1, bytes.length - 1);
  const part = bytes.subarray(from, to + 1);
  const rangeHeaders = { "content-length": part.length, "content-range": `bytes ${from}-${to}/${bytes.length}` };
  response.writeHead(206, { ...headers, ...rangeHeaders }).end(part);
}

function getText(value: FormDataEntryValue | null): string {
  return typeof value === "string" ? value : "";
}
