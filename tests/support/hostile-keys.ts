// JSON objects for property tests, with keys that reach a prototype in careless code.
import fc from "fast-check";

const inheritedKeys = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "valueOf", "__defineGetter__"];

/** JSON text, since object literals can't have an own `__proto__`. `names`: field names that the code reads. */
export function createHostileJson(names: readonly string[]): fc.Arbitrary<string> {
  const key = fc.oneof(fc.constantFrom(...inheritedKeys), fc.constantFrom(...names), fc.constantFrom("0", "1", "operations"));
  return fc.letrec<{ value: string; object: string }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom("null", "true", "1", '"x"', '"__proto__"', '"constructor"', '["1",0]', '["__proto__",0]', "[]"),
      tie("object"),
      fc.array(tie("value"), { maxLength: 3 }).map((items) => `[${items.join(",")}]`),
    ),
    object: fc
      .array(fc.tuple(key, tie("value")), { minLength: 1, maxLength: 5, size: "max" })
      .map((entries) => `{${entries.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(",")}}`),
  })).object;
}

const watchedObjects = [Object.prototype, Object, Function.prototype, Array.prototype, String.prototype, Object.prototype.toString];

/** Returns the prototype members that pollution would change. */
export function listPrototypeMembers(): unknown[] {
  return watchedObjects.map((item) => Reflect.ownKeys(item).map((name) => [name, Object.getOwnPropertyDescriptor(item, name)]));
}
