// The pictures of the samples by their content, for a service that ships them: a person's own photo.png never takes the place of one.
// Guarantees: pure; only what loads a picture is changed, and what its owner calls the picture stays.

import { type Graph } from "@/lib/contract/schemas/graph";
import { contentName } from "./asset-value";
import { own } from "./own";
import { type OpenedFile } from "./run-state";

/** BLAKE3 of the files in public/samples. */
export const samplePictures: Readonly<Record<string, string>> = {
  "photo.png": "5023359c7c541aa3f6495f7fe30a91e2a73cb6a3bd44ff9bde0d346b30b0fd1d",
  "product.png": "6036438ca04228ac3d18a893f15661d88c027404a5e134a5a4131bba3004f2d0",
};

export function withShippedPictures(file: OpenedFile): OpenedFile {
  const ownNames = new Map<string, string>();
  const graph: Graph = Object.fromEntries(
    Object.entries(file.graph).map(([id, node]) => {
      const name = node.inputs.image;
      const hash = typeof name === "string" ? own(samplePictures, name) : undefined;
      if (typeof name !== "string" || hash === undefined) return [id, node];
      const image = contentName(hash, name);
      ownNames.set(image, name);
      return [id, { ...node, inputs: { ...node.inputs, image } }];
    }),
  );
  return ownNames.size === 0 ? file : { ...file, graph, ownNames: Object.fromEntries(ownNames) };
}
