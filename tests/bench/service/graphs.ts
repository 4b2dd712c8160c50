// The measured graphs that are not bundled samples.
import { type Graph } from "./client";

/** Creates a graph of thirty nodes: literals, masks, scaling, filters, a composite and two outputs. */
export function createThirtyNodeGraph(): Graph {
  const graph: Graph = {};
  const add = (class_type: string, inputs: Record<string, unknown>): [string, number] => {
    const id = String(Object.keys(graph).length + 1);
    graph[id] = { class_type, inputs };
    return [id, 0];
  };
  const width = add("PrimitiveInt", { value: 512 });
  const text = add("StringConcatenate", { string_a: "a quiet", string_b: "harbour", delimiter: " " });
  let image = add("EmptyImage", { width, height: 512, batch_size: 1, color: 3368652 });
  const mask = add("InvertMask", { mask: add("SolidMask", { value: 0.5, width: 512, height: 512 }) });
  for (let round = 0; round < 4; round += 1) {
    image = add("ImageScale", { image, upscale_method: "lanczos", width: 512 + round, height: 512, crop: "disabled" });
    image = add("ImageBlur", { image, blur_radius: 1 + round, sigma: 1 });
    image = add("ImageInvert", { image });
    image = add("ImageSharpen", { image, sharpen_radius: 1, sigma: 1, alpha: 0.5 });
    image = add("ImageCrop", { image, width: 500, height: 500, x: 2, y: round });
  }
  const composite = add("ImageCompositeMasked", { destination: image, source: image, x: 8, y: 8, resize_source: false, mask });
  add("PreviewAny", { source: text });
  const flipped = add("ImageFlip", { image: composite, flip_method: "x-axis: vertically" });
  add("SaveImage", { images: flipped, filename_prefix: "thirty" });
  add("PreviewImage", { images: composite });
  return graph;
}

export const waitingGraph: Graph = {
  "1": { class_type: "Wait", inputs: { seconds: 3600 } },
  "2": { class_type: "PreviewAny", inputs: { source: ["1", 0] } },
};
