// Everything that reads JSON from others without a server, with keys that reach a prototype.
import fc from "fast-check";
import { expect, it } from "vitest";
import { carriedBy } from "@/lib/browser/carried-texts";
import { bytesOfBlob } from "@/lib/browser/files/byte-source";
import { appDefinitionSchema } from "@/lib/contract/apps/app";
import { savedViewBodySchema } from "@/lib/contract/console";
import { readDrawingOf } from "@/lib/contract/editor-workflow/drawing";
import { toApiWorkflow } from "@/lib/contract/editor-workflow/index";
import { parseFailure, readNodeErrors } from "@/lib/contract/failure";
import { isObject } from "@/lib/contract/json/json";
import { parseJson } from "@/lib/contract/json/parse-json";
import { allOperations } from "@/lib/contract/operations";
import { graphSchema } from "@/lib/contract/schemas/graph";
import { objectInfoSchema } from "@/lib/contract/schemas/object-info";
import { shareBodySchema } from "@/lib/contract/share";
import { readWorkflow, unwrapWorkflow } from "@/lib/contract/workflow/read-workflow";
import { outputsByNode, readEnding, readOutputs } from "@/lib/service/runners/read-outputs";
import { hostileJson, prototypeMembers } from "@/tests/support/hostile-keys";
import { flac, glb, plainText, png, webp } from "../carried/files";

const names = [
  ...["prompt", "workflow", "extra_data", "extra_pnginfo", "inputs", "class_type", "_meta", "title", "nodes", "links", "widgets_values"],
  ...["definitions", "subgraphs", "groupNodes", "extra", "outputs", "status", "messages", "meta", "display_node", "images", "text"],
  ...["node_errors", "errors", "input", "required", "optional", "jobs", "assets", "tags", "user_metadata", "properties", "type", "id"],
];
const before = prototypeMembers();
const graph = graphSchema.parse({ constructor: { class_type: "A", inputs: {} }, "1": { class_type: "B", inputs: {} } });

const readers: Record<string, (value: unknown, text: string) => unknown> = {
  "request bodies and answers of all operations": (value) =>
    allOperations.forEach(({ body, answers }) => {
      if (body?.kind === "json") body.schema.safeParse(value);
      for (const answer of Object.values(answers)) if (answer.kind === "json") answer.schema.safeParse(value);
    }),
  "histories of runners": (value) => [
    readEnding({ status: value, outputs: value }),
    readOutputs(outputsByNode({ outputs: value, meta: value }, graph)),
  ],
  "workflow files": (value, text) => [readWorkflow(text), unwrapWorkflow(value), readWorkflow(`{"1":{"class_type":"A","inputs":${text}}}`)],
  "files of the editor": (value, text) => {
    const file = parseJson(
      `{"nodes":[{"id":1,"type":"constructor","widgets_values":${text},"properties":${text}},${text}],"links":[${text}],"extra":${text}}`,
    );
    const info = objectInfoSchema.safeParse({ constructor: { input: { required: value } } }).data ?? {};
    return [toApiWorkflow(file, info), toApiWorkflow(value, info), readDrawingOf(file, graph), readDrawingOf(value, graph)];
  },
  "refusals of services": (value, text) => [readNodeErrors(value), parseFailure({ status: 400, headers: new Headers() }, text)],
  "saved views, apps and shares": (value) =>
    [savedViewBodySchema, appDefinitionSchema, shareBodySchema].map((schema) => schema.safeParse(isObject(value) ? { ...value } : value)),
};

it.each(Object.entries(readers))("reads hostile keys in %s without touching a prototype", (_, read) => {
  fc.assert(
    fc.property(hostileJson(names), (text) => {
      read(parseJson(text), text);
      expect(prototypeMembers()).toEqual(before);
    }),
    { numRuns: 150 },
  );
});

it("reads hostile keys in metadata of pictures, sounds and scenes without touching a prototype", async () => {
  await fc.assert(
    fc.asyncProperty(hostileJson(names), async (text) => {
      for (const bytes of [
        await png(plainText("prompt", text), plainText("workflow", text), plainText("__proto__", text)),
        flac([`prompt=${text}`, `workflow=${text}`, `comment=${text}`, `__proto__=${text}`].map((one) => Buffer.from(one))),
        glb(`{"asset":{"extras":{"prompt":${text},"workflow":${text}}},"constructor":${text}}`),
        await webp({ Model: `prompt:${text}`, Make: `__proto__:${text}` }),
      ])
        await carriedBy(bytesOfBlob(new Blob([new Uint8Array(bytes)])));
      expect(prototypeMembers()).toEqual(before);
    }),
    { numRuns: 20 },
  );
});
