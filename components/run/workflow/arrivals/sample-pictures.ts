// The samples' pictures at any service: one that ships them is given their content names; another is sent the pictures it lacks. A member's
// own photo.png is never used in place of one. Guarantees: changes only inputs that load a picture, and keeps the name shown for it.

import { contentName } from "@/components/run/form/controls/asset-value";
import { type UnsentPicture } from "@/components/run/form/controls/use-picture-upload";
import { type OpenedFile } from "@/components/run/workflow/opened";
import { withSpellingsOf } from "@/lib/contract/json/exact-json";
import { own } from "@/lib/contract/json/own";
import { type Graph } from "@/lib/contract/schemas/graph";
import { failed, ok, type Result } from "@/lib/shared/result";

/** BLAKE3 of the files in public/samples. */
export const samplePictures: Readonly<Record<string, string>> = {
  "photo.png": "5023359c7c541aa3f6495f7fe30a91e2a73cb6a3bd44ff9bde0d346b30b0fd1d",
  "product.png": "6036438ca04228ac3d18a893f15661d88c027404a5e134a5a4131bba3004f2d0",
};

/** The name of a sample's picture at a service that ships the pictures. */
export function shippedName(name: string): SentSamplePicture | undefined {
  const hash = own(samplePictures, name);
  return hash === undefined ? undefined : ok(contentName(hash, name));
}

/** `missing`: the console could not deliver its own file. */
export type SentSamplePicture = Result<string, UnsentPicture | "missing">;

/** `valueOf`: the picture's name at the service, once it has it. A picture that was refused keeps its name, and its failure is recorded. */
export async function withSamplePictures(
  file: OpenedFile,
  valueOf: (name: string) => Promise<SentSamplePicture | undefined> | SentSamplePicture | undefined,
): Promise<Result<OpenedFile, "missing">> {
  const values = new Map<string, string>();
  const unsent = new Map<string, UnsentPicture>();
  for (const { inputs } of Object.values(file.graph)) {
    const name = inputs.image;
    if (typeof name !== "string" || own(samplePictures, name) === undefined || values.has(name) || unsent.has(name)) continue;
    const sent = await valueOf(name);
    if (sent?.ok) values.set(name, sent.value);
    else if (sent?.failure === "missing") return failed("missing");
    else if (sent) unsent.set(name, sent.failure);
  }
  const left = unsent.size > 0 && { unsent: Object.fromEntries(unsent) };
  if (values.size === 0) return ok({ ...file, ...left });
  const graph: Graph = Object.fromEntries(
    Object.entries(file.graph).map(([id, node]) => {
      const image = typeof node.inputs.image === "string" ? values.get(node.inputs.image) : undefined;
      return [id, image === undefined ? node : { ...node, inputs: withSpellingsOf(node.inputs, { ...node.inputs, image }) }];
    }),
  );
  return ok({ ...file, ...left, graph, ownNames: Object.fromEntries([...values].map(([name, value]) => [value, name])) });
}
