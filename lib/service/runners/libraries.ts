// The node classes of each runner, merged for validation and GET /api/object_info. Equal catalogues are stored once.

import { writeExactJson } from "@/lib/contract/json/exact-json";
import { asObject, getOwn, isObject } from "@/lib/contract/json/json";
import { parseExactJson } from "@/lib/contract/json/parse-json";
import { getInputType, getSettings, readInputSpec } from "@/lib/contract/nodes/input-spec";
import { BUILT_IN_RUNNER } from "@/lib/contract/runners/runners";
import { type InputField, type NodeDeclaration, type NodeLibrary } from "../nodes/definition";
import { describeLibrary, nodeClasses } from "../nodes/library";
import { isPrivateName } from "../nodes/needs";
import { type Database, query } from "../store/database";

type ClassInfo = Record<string, unknown>;
type Catalogue = ReadonlyMap<string, ClassInfo>;
const inputGroups = ["required", "optional"] as const;

export function createLibraries(database: Database) {
  let entryByRunner = new Map<string, { hash: string; catalogue: Catalogue; library: NodeLibrary }>();
  let mergedCatalogues: { library: NodeLibrary; catalogue: Catalogue; texts: Map<string, string> };

  async function refresh(): Promise<boolean> {
    const storedCatalogues = await database.rows(
      query
        .selectFrom("runner_catalogues")
        .innerJoin("runners", "runners.id", "runner_id")
        .select(["runner_id", "hash"])
        .where("removed_at", "is", null)
        .orderBy("created_at")
        .orderBy("runner_id"),
    );
    const isUnchanged =
      mergedCatalogues !== undefined &&
      storedCatalogues.length === entryByRunner.size &&
      storedCatalogues.every(({ runner_id, hash }) => entryByRunner.get(runner_id)?.hash === hash);
    if (isUnchanged) return false;
    const entryByHash = new Map([...entryByRunner.values()].map((item) => [item.hash, item]));
    const latestEntries: typeof entryByRunner = new Map();
    for (const { runner_id, hash } of storedCatalogues) {
      const existingEntry = entryByHash.get(hash);
      if (existingEntry) {
        latestEntries.set(runner_id, existingEntry);
        continue;
      }
      const row = await database.row(query.selectFrom("runner_catalogues").select(["hash", "text"]).where("runner_id", "=", runner_id));
      const catalogue = new Map(
        Object.entries(asObject(parseExactJson(row?.text ?? "{}")) ?? {}).filter((entry): entry is [string, ClassInfo] =>
          isObject(entry[1]),
        ),
      );
      const libraryEntry = { hash: row?.hash ?? hash, catalogue, library: toLibrary(catalogue) };
      entryByHash.set(libraryEntry.hash, libraryEntry);
      latestEntries.set(runner_id, libraryEntry);
    }
    entryByRunner = latestEntries;
    mergedCatalogues = mergeCatalogues([...new Set(latestEntries.values())].map(({ catalogue }) => catalogue));
    return true;
  }

  const emptyLibrary: NodeLibrary = new Map();
  return {
    refresh,
    getMergedLibrary: () => mergedCatalogues.library,
    getLibrary: (runnerId: string): NodeLibrary =>
      runnerId === BUILT_IN_RUNNER ? nodeClasses : (entryByRunner.get(runnerId)?.library ?? emptyLibrary),

    /** Returns the body of GET /api/object_info for one class or all. `images` are the choices of image inputs. */
    writeObjectInfo(images: readonly string[], className?: string): string {
      const builtInInfos = describeLibrary({ images });
      const members = [...mergedCatalogues.catalogue].flatMap(([name, info]) => {
        if (className !== undefined && name !== className) return [];
        const text = hasFileInputs(info)
          ? writeExactJson({ ...getOwn(builtInInfos, name), ...offerUserFiles(info, images) })
          : (mergedCatalogues.texts.get(name) ?? "{}");
        return [`${writeExactJson(name)}:${text}`];
      });
      return `{${members.join(",")}}`;
    },
  };
}

function mergeCatalogues(catalogues: readonly Catalogue[]) {
  const catalogue = new Map<string, ClassInfo>(Object.entries(describeLibrary()));
  const sharedNames = new Set<string>();
  for (const runnerCatalogue of catalogues) {
    for (const [name, info] of runnerCatalogue) {
      const existingInfo = catalogue.get(name);
      catalogue.set(name, existingInfo ? mergeInfo(existingInfo, info) : info);
      sharedNames.add(name);
    }
  }
  const library = new Map(
    [...catalogue].map(([name, info]) => [name, (sharedNames.has(name) ? undefined : nodeClasses.get(name)) ?? toDeclaration(name, info)]),
  );
  return { catalogue, library, texts: new Map([...catalogue].map(([name, info]) => [name, writeExactJson(info)])) };
}

/** Keeps the first class's description and joins lists of choices. An input is required only if both classes require it. */
function mergeInfo(info: ClassInfo, otherInfo: ClassInfo): ClassInfo {
  const [ownInputs, otherInputs] = [getInputs(info), getInputs(otherInfo)];
  const mergeEntry = ([name, spec]: [string, unknown]): [string, unknown] => {
    const otherSpec = getOwn(otherInputs.required, name) ?? getOwn(otherInputs.optional, name);
    return [name, otherSpec === undefined ? spec : mergeSpec(spec, otherSpec)];
  };
  const isRequired = ([name]: [string, unknown]) => Object.hasOwn(ownInputs.required, name) && Object.hasOwn(otherInputs.required, name);
  const required = Object.entries(ownInputs.required).map(mergeEntry).filter(isRequired);
  const otherEntries = Object.entries({ ...otherInputs.required, ...otherInputs.optional });
  const ownEntries = Object.entries({ ...ownInputs.required, ...ownInputs.optional }).map(mergeEntry);
  const optional = [...new Map([...otherEntries, ...ownEntries].filter((entry) => !isRequired(entry)))];
  const input = {
    ...asObject(info.input),
    required: Object.fromEntries(required),
    ...(optional.length > 0 && { optional: Object.fromEntries(optional) }),
  };
  const input_order = {
    ...asObject(info.input_order),
    required: required.map(([name]) => name),
    ...(optional.length > 0 && { optional: optional.map(([name]) => name) }),
  };
  return { ...info, input, input_order, output_node: info.output_node === true || otherInfo.output_node === true };
}

function mergeSpec(ownSpec: unknown, otherSpec: unknown): unknown {
  const addedChoices = getChoices(otherSpec).filter((choice) => !getChoices(ownSpec).includes(choice));
  return Array.isArray(ownSpec) && addedChoices.length > 0 && getInputType(ownSpec) === "COMBO"
    ? replaceChoices(ownSpec, [...getChoices(ownSpec), ...addedChoices])
    : ownSpec;
}

function replaceChoices([type, ...options]: readonly unknown[], choices: readonly unknown[]): unknown {
  return type === "COMBO" ? [type, { ...asObject(options[0]), options: choices }] : [choices, ...options];
}

function getChoices(spec: unknown): readonly unknown[] {
  const type: unknown = Array.isArray(spec) ? spec[0] : undefined;
  if (Array.isArray(type)) return type;
  return type === "COMBO" ? (getSettings(spec).options ?? []) : [];
}

function getInputs(info: ClassInfo): Record<(typeof inputGroups)[number], ClassInfo> {
  const input = asObject(info.input);
  return { required: asObject(input?.required) ?? {}, optional: asObject(input?.optional) ?? {} };
}

const uploadOptions = ["image_upload", "video_upload", "audio_upload", "file_upload", "animated_image_upload"];
const isFileSpec = (spec: unknown) => {
  const options = asObject(Array.isArray(spec) ? spec[1] : undefined);
  return options !== undefined && uploadOptions.some((name) => options[name] === true);
};

const isImageSpec = (spec: unknown) => asObject(Array.isArray(spec) ? spec[1] : undefined)?.image_upload === true;

function hasFileInputs(info: ClassInfo): boolean {
  const { required, optional } = getInputs(info);
  return [...Object.values(required), ...Object.values(optional)].some(isFileSpec);
}

function mapSpecs(info: ClassInfo, mapSpec: (spec: unknown) => unknown): ClassInfo {
  const input = asObject(info.input) ?? {};
  const mappedGroups = inputGroups.flatMap((group) => {
    const specs = asObject(input[group]);
    return specs ? [[group, Object.fromEntries(Object.entries(specs).map(([name, spec]) => [name, mapSpec(spec)]))] as const] : [];
  });
  return { ...info, input: { ...input, ...Object.fromEntries(mappedGroups) } };
}

/** Lists the user's own files as choices, never files on a runner. */
function offerUserFiles(info: ClassInfo, images: readonly string[]): ClassInfo {
  return mapSpecs(info, (spec) => {
    if (!isFileSpec(spec) || !Array.isArray(spec)) return spec;
    const isOffered = isImageSpec(spec) || asObject(spec[1])?.animated_image_upload === true;
    return replaceChoices(spec, isOffered ? images : []);
  });
}

/** Omits names of files on the runner, because they are private and change often. */
export function formatCatalogue(catalogue: Readonly<Record<string, unknown>>): string {
  const infos = Object.entries(catalogue).map(([name, info]) => [
    name,
    isObject(info) ? mapSpecs(offerUserFiles(info, []), removeUploadedFiles) : info,
  ]);
  return writeExactJson(Object.fromEntries(infos));
}

/** Loaders without an upload control also list files that jobs have uploaded to the runner. */
function removeUploadedFiles(spec: unknown): unknown {
  const choices = getChoices(spec);
  const publicChoices = choices.filter((choice) => typeof choice !== "string" || !isPrivateName(choice));
  return Array.isArray(spec) && publicChoices.length < choices.length ? replaceChoices(spec, publicChoices) : spec;
}

function toLibrary(catalogue: Catalogue): NodeLibrary {
  return new Map([...catalogue].map(([name, info]) => [name, toDeclaration(name, info)]));
}

function toDeclaration(name: string, info: ClassInfo): NodeDeclaration {
  const inputs = inputGroups.flatMap((group) =>
    Object.entries(getInputs(info)[group]).map(([input, spec]) => toField(input, spec, group === "optional")),
  );
  const names = Array.isArray(info.output_name) ? info.output_name : [];
  const types = Array.isArray(info.output) ? info.output : [];
  // A list of choices in place of a type is a COMBO.
  const outputs = types.map((type: unknown, index) => ({
    type: typeof type === "string" ? type : "COMBO",
    name: String(names[index] ?? type),
  }));
  const image = inputs.find(({ spec }) => isImageSpec(spec));
  const declaration = { name, inputs, outputs, isOutput: info.output_node === true, acceptsUndeclared: true as const };
  if (!nodeClasses.has(name)) return { ...declaration, isForeign: true };
  return image
    ? { ...declaration, inputs: inputs.map((field) => (field === image ? { ...field, isFileName: false } : field)), imageInput: image.name }
    : declaration;
}

const checkedTypes = new Set(["INT", "FLOAT", "STRING", "BOOLEAN", "*"]);

function toField(name: string, spec: unknown, isOptional: boolean): InputField {
  const type = getInputType(spec);
  // A growing input never has a value of its own. Inputs with other names replace it ("images.image0").
  const optional = isOptional || /^COMFY_(AUTOGROW|DYNAMIC)/.test(type);
  const field: InputField = { name, type, optional, spec: Array.isArray(spec) ? spec : [type] };
  if (isFileSpec(spec)) return { ...field, isFileName: true };
  if (type === "COMBO") {
    const inputSpec = readInputSpec(name, spec);
    const { multiselect, multi_select } = asObject(Array.isArray(spec) ? spec[1] : undefined) ?? {};
    return inputSpec.kind === "choice" && !inputSpec.isOpen && !multiselect && !multi_select
      ? { ...field, choices: inputSpec.options }
      : { ...field, isOpen: true };
  }
  if (!checkedTypes.has(type)) return { ...field, isOpen: true };
  const { min, max, multiline } = getSettings(spec);
  return { ...field, options: { ...(min !== undefined && { min }), ...(max !== undefined && { max }), ...(multiline && { multiline }) } };
}
