// A checker of JSON Schema 2020-12 for the keywords that the OpenAPI document uses; an unknown keyword is an error, never ignored.
// Stricter than the standard: a property missing in the document is a problem, since the document is then outdated.

type Schema = Readonly<Record<string, unknown>>;
export type Resolve = (ref: string) => unknown;

const silent = new Set(["description", "default", "contentMediaType", "contentSchema", "title", "examples"]);

/** The problems found, each with its path. */
export function findProblems(value: unknown, schema: unknown, resolve: Resolve, at = "$"): string[] {
  if (typeof schema !== "object" || schema === null) return [`${at}: its schema is no object`];
  const rules: Schema = { ...schema };
  return Object.entries(rules).flatMap(([keyword, rule]) => (silent.has(keyword) ? [] : check(keyword, rule, value, rules, resolve, at)));
}

function check(keyword: string, rule: unknown, value: unknown, rules: Schema, resolve: Resolve, at: string): string[] {
  const unless = (isSo: boolean, otherwise: string) => (isSo ? [] : [`${at}: ${otherwise} (${JSON.stringify(value)?.slice(0, 120)})`]);
  const schemas = Array.isArray(rule) ? rule : [];
  const list = Array.isArray(value) ? value : undefined;
  const object = typeof value === "object" && value !== null && !list ? new Map(Object.entries(value)) : undefined;
  const limit = Number(rule);
  switch (keyword) {
    case "$ref":
      return findProblems(value, resolve(String(rule)), resolve, at);
    case "type":
      return unless(
        (Array.isArray(rule) ? rule : [rule]).some((type) => isType(value, String(type))),
        `is no ${String(rule)}`,
      );
    case "const":
      return unless(value === rule, `is not ${String(rule)}`);
    case "enum":
      return unless(value === undefined || schemas.includes(value), `is none of ${schemas.join(", ")}`);
    case "format":
      return unless(typeof value !== "string" || isFormat(value, String(rule)), `is no ${String(rule)}`);
    case "pattern":
      return unless(typeof value !== "string" || new RegExp(String(rule), "u").test(value), `does not match ${String(rule)}`);
    case "minimum":
      return unless(typeof value !== "number" || value >= limit, `is below ${limit}`);
    case "maximum":
      return unless(typeof value !== "number" || value <= limit, `is above ${limit}`);
    case "minLength":
      return unless(typeof value !== "string" || value.length >= limit, "is too short");
    case "maxLength":
      return unless(typeof value !== "string" || value.length <= limit, "is too long");
    case "minItems":
      return unless(!list || list.length >= limit, "has too few items");
    case "maxItems":
      return unless(!list || list.length <= limit, "has too many items");
    case "prefixItems":
      return list ? schemas.flatMap((schema, index) => findProblems(list[index], schema, resolve, `${at}[${index}]`)) : [];
    case "items":
      return (list ?? [])
        .slice(Array.isArray(rules.prefixItems) ? rules.prefixItems.length : 0)
        .flatMap((item, index) => findProblems(item, rule, resolve, `${at}[${index}]`));
    case "allOf":
      return schemas.flatMap((schema) => findProblems(value, schema, resolve, at));
    case "anyOf":
      return unless(
        schemas.some((schema) => findProblems(value, schema, resolve, at).length === 0),
        "is none of what it may be",
      );
    case "required":
      return object ? schemas.flatMap((name) => unless(object.has(String(name)), `lacks ${String(name)}`)) : [];
    case "properties":
      return properties(object, rule, rules, resolve, at);
    case "additionalProperties":
      return typeof rule === "object" && object
        ? [...object]
            .filter(([name]) => !isNamed(rules.properties, name))
            .flatMap(([name, subschema]) => findProblems(subschema, rule, resolve, `${at}.${name}`))
        : [];
    default:
      return [`${at}: the checker does not know the keyword ${keyword}`];
  }
}

function properties(object: Map<string, unknown> | undefined, rule: unknown, rules: Schema, resolve: Resolve, at: string): string[] {
  if (!object || typeof rule !== "object" || rule === null) return [];
  const errors = Object.entries(rule).flatMap(([name, schema]) =>
    object.has(name) ? findProblems(object.get(name), schema, resolve, `${at}.${name}`) : [],
  );
  // A part of an allOf names only some properties of an object that is described elsewhere.
  const isWhole = rules.required !== undefined || rules.additionalProperties === false;
  const unnamed = isWhole && rules.additionalProperties === undefined ? [...object.keys()].filter((name) => !isNamed(rule, name)) : [];
  return [...errors, ...unnamed.map((name) => `${at}: ${name} is not in the document`)];
}

function isNamed(properties: unknown, name: string): boolean {
  return typeof properties === "object" && properties !== null && Object.hasOwn(properties, name);
}

function isType(value: unknown, type: string): boolean {
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "integer") return Number.isInteger(value);
  if (type === "object") return typeof value === "object" && value !== null && !Array.isArray(value);
  return typeof value === type;
}

function isFormat(value: string, format: string): boolean {
  if (format === "uuid") return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value);
  if (format === "date-time") return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(value);
  if (format === "uri") return URL.canParse(value);
  throw new Error(`the checker does not know the format ${format}`);
}
