type Json = Record<string, unknown>;

const createClass = (required: Json, output: string[], output_node = false) => ({
  input: { required },
  input_order: { required: Object.keys(required) },
  is_input_list: false,
  output,
  output_is_list: output.map(() => false),
  output_name: output,
  display_name: "",
  description: "",
  category: "test",
  output_node,
});

/** Creates node classes that the built-in runner lacks, with these models, and two that it has. */
export function createGpuClasses(models: readonly string[]): Json {
  const classes: Record<string, Json> = {
    LoadModel: createClass({ model: [[...models], {}] }, ["MODEL"]),
    Sample: createClass(
      { model: ["MODEL"], seed: ["INT", { default: 0, min: 0, max: 18446744073709551615n }], prompt: ["STRING", { multiline: true }] },
      ["IMAGE"],
    ),
    LoadImage: createClass({ image: [["on-the-runner.png"], { image_upload: true }] }, ["IMAGE", "MASK"]),
    SaveImage: createClass({ images: ["IMAGE"], filename_prefix: ["STRING", { default: "x" }] }, [], true),
    ShowText: createClass({ text: ["STRING", {}] }, ["STRING"], true),
  };
  return JSON.parse(
    JSON.stringify(Object.fromEntries(Object.entries(classes).map(([name, info]) => [name, { ...info, name }])), (_key, value: unknown) =>
      typeof value === "bigint" ? Number(value) : value,
    ),
  ) as Json;
}

/** Creates a graph that only a runner with this model can run. */
export const createGpuGraph = (seed = 1, { prompt = "", prefix = "x" } = {}): Json => ({
  "1": { class_type: "LoadModel", inputs: { model: "one.safetensors" } },
  "2": { class_type: "Sample", inputs: { model: ["1", 0], seed, prompt } },
  "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: prefix } },
});
