import { type FileName } from "@/lib/browser/urls";
import { type Outputs } from "@/lib/contract/schemas/outputs";

export type JobOutput = { key: string; node: string } & (
  { kind: "image" | "file"; file: FileName; name: string; isTemporary: boolean } | { kind: "text"; text: string }
);

/** Every file and every text that the nodes put out. Flags, nulls and whatever else a node sends are no outputs to look at. */
export function outputsOf(outputs: Outputs, names: ReadonlyMap<string, string>): JobOutput[] {
  return Object.entries(outputs).flatMap(([nodeId, byKey]) =>
    Object.entries(byKey ?? {}).flatMap(([kind, items]) =>
      (Array.isArray(items) ? items : []).flatMap((item: unknown, index) => {
        const output = outputOf(kind, item);
        return output ? [{ key: `${nodeId}/${kind}/${index}`, node: names.get(nodeId) ?? nodeId, ...output }] : [];
      }),
    ),
  );
}

function outputOf(kind: string, item: unknown) {
  if (typeof item === "string") return item === "" ? undefined : { kind: "text" as const, text: item };
  if (!isRecord(item) || typeof item.filename !== "string" || item.filename === "") return undefined;
  const type = text(item.type) ?? "output";
  const name = text(item.display_name) ?? item.filename;
  const isImage = kind === "images" || text(item.mediaType)?.startsWith("image") === true || /\.(png|jpe?g|webp|gif|avif)$/i.test(name);
  const found = { file: { filename: item.filename, subfolder: text(item.subfolder), type }, name, isTemporary: type === "temp" };
  return isImage ? { kind: "image" as const, ...found } : { kind: "file" as const, ...found };
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
