// The graphs of the load, with their expected state and number of files.
import { type Random } from "./random";

export type GraphKind = "single" | "several" | "loaded" | "slow" | "text" | "failing" | "partial";
type Node = { class_type: string; inputs: Record<string, unknown> };
export type PromptRequest = { prompt: Record<string, Node>; partial_execution_targets?: string[] };

export const expectedResults: Readonly<Record<GraphKind, { state: "completed" | "failed"; files: number }>> = {
  single: { state: "completed", files: 1 },
  several: { state: "completed", files: 5 },
  loaded: { state: "completed", files: 1 },
  slow: { state: "completed", files: 1 },
  text: { state: "completed", files: 0 },
  failing: { state: "failed", files: 1 },
  partial: { state: "completed", files: 1 },
};

/** `image`: the name of an upload. A random colour prevents hits in the worker's cache. */
export function createGraph(kind: GraphKind, random: Random, image: string): PromptRequest {
  const color = random.integerBelow(0xffffff);
  const empty = (batch_size = 1) => ({ class_type: "EmptyImage", inputs: { width: 16, height: 16, batch_size, color } });
  const save = (source: string) => ({ class_type: "SaveImage", inputs: { images: [source, 0], filename_prefix: "kill" } });
  const wait = (source: string, seconds: number) => ({ class_type: "Wait", inputs: { seconds, anything: [source, 0] } });
  switch (kind) {
    case "single":
      return { prompt: { "1": empty(), "2": save("1") } };
    case "several":
      return {
        prompt: {
          "1": empty(2),
          "2": save("1"),
          "3": { class_type: "ImageInvert", inputs: { image: ["1", 0] } },
          "4": wait("3", 0.02),
          "5": { class_type: "PreviewImage", inputs: { images: ["4", 0] } },
          "6": empty(),
          "7": save("6"),
        },
      };
    case "loaded":
      return {
        prompt: {
          "1": { class_type: "LoadImage", inputs: { image } },
          "2": {
            class_type: "ImageScale",
            inputs: { image: ["1", 0], upscale_method: "lanczos", width: 8 + random.integerBelow(64), height: 24, crop: "disabled" },
          },
          "3": save("2"),
        },
      };
    case "slow":
      return { prompt: { "1": empty(), "2": wait("1", random.integerBelow(400) / 1000), "3": save("2") } };
    case "text":
      return {
        prompt: {
          "1": { class_type: "PrimitiveString", inputs: { value: `text ${color}` } },
          "2": { class_type: "PreviewAny", inputs: { source: ["1", 0] } },
        },
      };
    case "failing":
      return {
        prompt: {
          "1": empty(),
          "2": save("1"),
          "3": wait("1", 0.05),
          "4": { class_type: "Fail", inputs: { message: "on purpose", anything: ["3", 0] } },
          "5": save("4"),
        },
      };
    case "partial":
      return { prompt: { "1": empty(), "2": save("1"), "3": wait("1", 3000), "4": save("3") }, partial_execution_targets: ["2"] };
  }
}
