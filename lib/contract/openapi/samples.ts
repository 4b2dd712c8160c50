// Code samples for each operation, in curl, TypeScript and Python. A test runs them against the embedded service.

import { writeExactJson } from "../json/exact-json";
import { type Operation } from "../operation";

export const sampleLanguages = ["curl", "typescript", "python"] as const;
export type SampleLanguage = (typeof sampleLanguages)[number];

type Example = { query?: string; body?: unknown; fields?: Readonly<Record<string, string>> };

const exampleGraph = {
  "1": { class_type: "EmptyImage", inputs: { width: 512, height: 512, batch_size: 1, color: 0x336699 } },
  "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: "hello" } },
};
const HASH = "blake3:HASH";

/** Values that an operation needs or that show its use. Words in capitals are placeholders. */
const examples: Readonly<Record<string, Example>> = {
  submitPrompt: { body: { prompt: exampleGraph } },
  listJobs: { query: "status=completed&limit=20" },
  manageQueue: { body: { delete: ["JOB_ID"] } },
  manageHistory: { body: { delete: ["JOB_ID"] } },
  interrupt: { body: {} },
  cancelJobs: { body: { job_ids: ["JOB_ID"] } },
  listAssets: { query: "include_tags=output&limit=20" },
  uploadAsset: { fields: { tags: '["input"]' } },
  editAsset: { body: { name: "portrait.png" } },
  addTags: { body: { tags: ["portrait"] } },
  removeTags: { body: { tags: ["portrait"] } },
  createAssetFromHash: { body: { hash: HASH, tags: ["input"] } },
  downloadAsset: { body: { source_url: "https://example.com/photo.png", tags: ["input"] } },
  getRemoteMetadata: { query: "url=https%3A%2F%2Fexample.com%2Fphoto.png" },
  refineTags: { query: "include_tags=output" },
  uploadImage: { fields: { type: "input" } },
  uploadMask: { fields: { type: "input", original_ref: '{"filename":"photo.png","type":"input"}' } },
  getMaskLayers: { query: "filename=MASK_FILE" },
  view: { query: "filename=photo.png&type=input" },
  listUserdata: { query: "dir=workflows%2F&recurse=true" },
  freeMemory: { body: {} },
};

const placeholders = new Map([
  ["id", "ASSET_ID"],
  ["job_id", "JOB_ID"],
  ["task_id", "TASK_ID"],
  ["hash", HASH],
  ["file", "workflows%2Fhello.json"],
  ["dest", "workflows%2Frenamed.json"],
  ["class", "SaveImage"],
  ["folder", "checkpoints"],
]);

type SampleOperation = Pick<Operation, "name" | "method" | "path" | "body" | "responses">;

/** `baseUrl`: of the console or service, without a trailing slash. */
export function createSample(operation: SampleOperation, language: SampleLanguage, baseUrl: string): string {
  const { query, body, fields = {} } = examples[operation.name] ?? {};
  const path = operation.path.replace(/\{(\w+)\}/g, (placeholder, name: string) => placeholders.get(name) ?? placeholder);
  const file = operation.body?.kind === "multipart" ? operation.body.file : undefined;
  const parts: RequestParts = {
    method: operation.method,
    url: `${baseUrl}${path}${query ? `?${query}` : ""}`,
    json: operation.body?.kind === "json" ? (body ?? {}) : undefined,
    form: file === undefined ? undefined : { file, fields },
    isUpload: operation.body?.kind === "octets",
    responseKind: getResponseKind(operation),
  };
  return language === "curl" ? writeCurl(parts) : language === "typescript" ? writeTypescript(parts) : writePython(parts);
}

type RequestParts = {
  method: Operation["method"];
  url: string;
  json: unknown;
  form: { file: string; fields: Readonly<Record<string, string>> } | undefined;
  isUpload: boolean;
  responseKind: "json" | "bytes" | "none";
};

function getResponseKind({ method, responses }: SampleOperation): RequestParts["responseKind"] {
  const { kind } = Object.values(responses)[0] ?? { kind: "empty" };
  if (method === "HEAD" || kind === "empty") return "none";
  return kind === "json" ? "json" : "bytes";
}

function writeCurl({ method, url, json, form, isUpload, responseKind }: RequestParts): string {
  const methodOptions = method === "GET" || (method === "POST" && (json !== undefined || form || isUpload)) ? [] : [`-X ${method}`];
  const lines = [
    ["curl", "--fail-with-body", ...(method === "HEAD" ? ["--head"] : methodOptions), `-H "X-API-Key: $LIGHTDESK_TOKEN"`].join(" "),
    ...(json === undefined ? [] : [`-H "Content-Type: application/json"`, `-d '${writeExactJson(json)}'`]),
    ...(form ? [`-F ${form.file}=@photo.png`, ...Object.entries(form.fields).map(([name, value]) => `-F ${name}='${value}'`)] : []),
    ...(isUpload ? [`-H "Content-Type: application/octet-stream"`, "--data-binary @hello.json"] : []),
    ...(responseKind === "bytes" ? ["-L -o output.png"] : []),
    `"${url}"`,
  ];
  return lines.join(" \\\n  ");
}

function writeTypescript({ method, url, json, form, isUpload, responseKind }: RequestParts): string {
  const needsFile = form !== undefined || isUpload;
  const fileImports = [needsFile && "openAsBlob"].filter(Boolean).join(", ");
  const imports = [
    ...(fileImports ? [`import { ${fileImports} } from "node:fs";`] : []),
    ...(responseKind === "bytes" ? [`import { writeFile } from "node:fs/promises";`] : []),
  ];
  const formLines = form
    ? [
        "const form = new FormData();",
        `form.set("${form.file}", await openAsBlob("photo.png"), "photo.png");`,
        ...Object.entries(form.fields).map(([name, value]) => `form.set("${name}", ${writeExactJson(value)});`),
      ]
    : [];
  const headers = [`"X-API-Key": process.env.LIGHTDESK_TOKEN ?? ""`, ...(json === undefined ? [] : [`"Content-Type": "application/json"`])];
  const options = [
    ...(method === "GET" ? [] : [`  method: "${method}",`]),
    `  headers: { ${headers.join(", ")} },`,
    ...(json === undefined ? [] : [`  body: JSON.stringify(${writeExactJson(json)}),`]),
    ...(form ? ["  body: form,"] : isUpload ? [`  body: await openAsBlob("hello.json"),`] : []),
  ];
  const result = {
    json: "console.log(await response.json());",
    bytes: `await writeFile("output.png", Buffer.from(await response.arrayBuffer()));`,
    none: "console.log(response.status);",
  }[responseKind];
  return [
    ...(imports.length > 0 ? [...imports, ""] : []),
    ...formLines,
    `const response = await fetch("${url}", {`,
    ...options,
    "});",
    "if (!response.ok) throw new Error(await response.text());",
    result,
  ].join("\n");
}

function writePython({ method, url, json, form, isUpload, responseKind }: RequestParts): string {
  const options = [
    `    headers={"X-API-Key": os.environ["LIGHTDESK_TOKEN"]},`,
    ...(json === undefined ? [] : [`    json=${writeExactJson(json)},`]),
    ...(form ? [`    files={"${form.file}": open("photo.png", "rb")},`] : []),
    ...(form && Object.keys(form.fields).length > 0 ? [`    data=${writeExactJson(form.fields)},`] : []),
    ...(isUpload ? [`    data=open("hello.json", "rb"),`] : []),
  ];
  const result = {
    json: "print(response.json())",
    bytes: `open("output.png", "wb").write(response.content)`,
    none: "print(response.status_code)",
  }[responseKind];
  return [
    "import os",
    "import requests",
    "",
    `response = requests.${method.toLowerCase()}(`,
    `    "${url}",`,
    ...options,
    ")",
    "response.raise_for_status()",
    result,
  ].join("\n");
}
