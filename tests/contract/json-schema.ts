// Validates JSON against JSON Schema 2020-12, for the keywords that the OpenAPI document uses. Unknown keywords are errors.
// Stricter than the standard: a property that the document doesn't describe is a problem, since the document is then outdated.

type Schema = Readonly<Record<string, unknown>>;
export type Resolve = (ref: string) => unknown;

const annotationKeywords = new Set(["description", "default", "contentMediaType", "contentSchema", "title", "examples"]);

/** Returns the problems, each with its path. */
export function findProblems(value: unknown, schema: unknown, resolve: Resolve, at = "$"): string[] {
  if (typeof schema !== "object" || schema === null) return [`${at}: its schema is not an object`];
  const rules: Schema = { ...schema };
  return Object.entries(rules).flatMap(([keyword, rule]) =>
    annotationKeywords.has(keyword) ? [] : checkKeyword(keyword, rule, value, rules, resolve, at),
  );
}

function checkKeyword(keyword: string, rule: unknown, value: unknown, rules: Schema, resolve: Resolve, at: string): string[] {
  const problemUnless = (isValid: boolean, message: string) =>
    isValid ? [] : [`${at}: ${message} (${JSON.stringify(value)?.slice(0, 120)})`];
  const schemas = Array.isArray(rule) ? rule : [];
  const list = Array.isArray(value) ? value : undefined;
  const object = typeof value === "object" && value !== null && !list ? new Map(Object.entries(value)) : undefined;
  const limit = Number(rule);
  switch (keyword) {
    case "$ref":
      return findProblems(value, resolve(String(rule)), resolve, at);
    case "type":
      return problemUnless(
        (Array.isArray(rule) ? rule : [rule]).some((type) => isType(value, String(type))),
        `is not of type ${String(rule)}`,
      );
    case "const":
      return problemUnless(value === rule, `is not ${String(rule)}`);
    case "enum":
      return problemUnless(value === undefined || schemas.includes(value), `is not one of ${schemas.join(", ")}`);
    case "format":
      return problemUnless(typeof value !== "string" || isFormat(value, String(rule)), `is not a valid ${String(rule)}`);
    case "pattern":
      return problemUnless(typeof value !== "string" || new RegExp(String(rule), "u").test(value), `does not match ${String(rule)}`);
    case "minimum":
      return problemUnless(typeof value !== "number" || value >= limit, `is below ${limit}`);
    case "maximum":
      return problemUnless(typeof value !== "number" || value <= limit, `is above ${limit}`);
    case "minLength":
      return problemUnless(typeof value !== "string" || value.length >= limit, "is too short");
    case "maxLength":
      return problemUnless(typeof value !== "string" || value.length <= limit, "is too long");
    case "minItems":
      return problemUnless(!list || list.length >= limit, "has too few items");
    case "maxItems":
      return problemUnless(!list || list.length <= limit, "has too many items");
    case "prefixItems":
      return list ? schemas.flatMap((schema, index) => findProblems(list[index], schema, resolve, `${at}[${index}]`)) : [];
    case "items":
      return (list ?? [])
        .slice(Array.isArray(rules.prefixItems) ? rules.prefixItems.length : 0)
        .flatMap((item, index) => findProblems(item, rule, resolve, `${at}[${index}]`));
    case "allOf":
      return schemas.flatMap((schema) => findProblems(value, schema, resolve, at));
    case "anyOf":
      return problemUnless(
        schemas.some((schema) => findProblems(value, schema, resolve, at).length === 0),
        "matches no schema of anyOf",
      );
    case "required":
      return object ? schemas.flatMap((name) => problemUnless(object.has(String(name)), `is missing ${String(name)}`)) : [];
    case "properties":
      return checkProperties(object, rule, rules, resolve, at);
    case "additionalProperties":
      return typeof rule === "object" && object
        ? [...object]
            .filter(([name]) => !isNamed(rules.properties, name))
            .flatMap(([name, subschema]) => findProblems(subschema, rule, resolve, `${at}.${name}`))
        : [];
    default:
      return [`${at}: unsupported keyword ${keyword}`];
  }
}

function checkProperties(object: Map<string, unknown> | undefined, rule: unknown, rules: Schema, resolve: Resolve, at: string): string[] {
  if (!object || typeof rule !== "object" || rule === null) return [];
  const errors = Object.entries(rule).flatMap(([name, schema]) =>
    object.has(name) ? findProblems(object.get(name), schema, resolve, `${at}.${name}`) : [],
  );
  // A schema within allOf may describe only some of the object's properties.
  const isComplete = rules.required !== undefined || rules.additionalProperties === false;
  const undescribedNames =
    isComplete && rules.additionalProperties === undefined ? [...object.keys()].filter((name) => !isNamed(rule, name)) : [];
  return [...errors, ...undescribedNames.map((name) => `${at}: ${name} is not in the document`)];
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
  throw new Error(`unsupported format ${format}`);
}
