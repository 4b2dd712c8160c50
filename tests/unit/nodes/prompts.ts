// Prompt builders for the validation tests.
import { validatePrompt } from "@/lib/service/nodes/validate";

export const validate = (prompt: Record<string, unknown>, options: { targets?: string[]; images?: string[] } = {}) =>
  validatePrompt(prompt, {
    files: new Map(options.images?.map((name) => [name, { mediaType: "image/png", isImage: true }])),
    ...(options.targets ? { targets: options.targets } : {}),
  });

export const emptyImageNode = { class_type: "EmptyImage", inputs: { width: 8, height: 8, batch_size: 1, color: 0 } };
export const createInvertNode = (from: unknown) => ({ class_type: "ImageInvert", inputs: { image: from } });
export const createSaveNode = (from: unknown) => ({ class_type: "SaveImage", inputs: { images: from, filename_prefix: "x" } });
export const getErrors = (validation: ReturnType<typeof validate>, id: string) => validation.nodeErrors[id]?.errors ?? [];
