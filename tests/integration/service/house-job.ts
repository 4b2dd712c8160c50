// A job of one picture by a model, as only runners can do it, and what a runner makes of it.
import { type RunnerOptions } from "@/tests/support/runner-server";
import { type Json, png } from "./support";

export const picture = (seed: number) => Buffer.from(png(16, 8, { seed }));

/** One picture by the model, with a text beside it. */
export function made(model = "one.safetensors", seed = 1): Json {
  return {
    "1": { class_type: "LoadModel", inputs: { model } },
    "2": { class_type: "Sample", inputs: { model: ["1", 0], seed, prompt: "a house" } },
    "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "house" } },
  };
}

export const makes: RunnerOptions["makes"] = (node) =>
  node.class_type === "SaveImage" ? { files: [{ name: "house_00001_.png", bytes: picture(1) }] } : { others: { text: ["said"] } };
