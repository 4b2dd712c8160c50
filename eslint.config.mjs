import { basename } from "node:path";
import nextVitals from "eslint-config-next/core-web-vitals";
import nextTs from "eslint-config-next/typescript";
import importSort from "eslint-plugin-simple-import-sort";

/** Paths of the console in source code, without the base path (LIGHTDESK_BASE_PATH). */
const absolutePathPattern = "^\\u002F";
const consolePath = `:matches(Literal[value=/${absolutePathPattern}/], TemplateLiteral[quasis.0.value.raw=/${absolutePathPattern}/], CallExpression[callee.name='withQuery'])`;
const plainElement = "JSXOpeningElement[name.name=/^([a-z].*|Picture|PlainPicture)$/]";
const urlAttribute = `${plainElement} > JSXAttribute[name.name=/^(href|src|srcSet|poster|action|formAction|data)$/]`;
const missingBasePath = [
  `CallExpression[callee.name='fetch'] > ${consolePath}.arguments`,
  `CallExpression[callee.object.property.name='location'] > ${consolePath}.arguments`,
  `CallExpression[callee.object.property.name='history'] > ${consolePath}.arguments`,
  `CallExpression[callee.property.name=/^(open|sendBeacon)$/] > ${consolePath}.arguments`,
  `NewExpression[callee.name=/^(Request|URL|Worker|SharedWorker|EventSource|WebSocket)$/] > ${consolePath}.arguments`,
  `AssignmentExpression[left.property.name=/^(href|src|action|location)$/] > ${consolePath}.right`,
  `${urlAttribute} > ${consolePath}`,
  `${urlAttribute} > JSXExpressionContainer > ${consolePath}`,
  `${urlAttribute} > JSXExpressionContainer > :matches(ConditionalExpression, LogicalExpression) > ${consolePath}`,
].map((selector) => ({ selector, message: "Add the base path with apiPath of lib/browser/urls." }));
const duplicateBasePath = [
  "CallExpression[callee.name=/^(callApi|upload|useLive|useReadOnce)$/] > CallExpression[callee.name='apiPath'].arguments",
  "CallExpression[callee.object.name='router'] > CallExpression[callee.name='apiPath'].arguments",
  "JSXOpeningElement[name.name=/^(Link|ButtonLink)$/] > JSXAttribute[name.name='href'] CallExpression[callee.name='apiPath']",
].map((selector) => ({ selector, message: "This adds the base path itself. Remove apiPath." }));

/**
 * Reports `object[key] = value` and similar code if the key may be external, because `__proto__` and `constructor` change prototypes.
 * Recognizes lists, typed arrays and constant keys by their declarations. A rule with types takes ten times as long.
 */
const externalKey = {
  create(context) {
    const findDefinition = (node) => {
      for (let scope = context.sourceCode.getScope(node); scope; scope = scope.upper) {
        const variable = scope.set.get(node.name);
        if (variable) return variable.defs[0];
      }
    };
    const isNumeric = (node) => {
      if (node.type === "Literal") return typeof node.value === "number";
      if (node.type === "BinaryExpression") return node.operator !== "+" || isNumeric(node.left) || isNumeric(node.right);
      if (node.type === "MemberExpression") return node.property.name === "length";
      if (node.type === "LogicalExpression") return isNumeric(node.right);
      return node.type === "UpdateExpression" || (node.type === "Identifier" && isCounter(node));
    };
    /** Declared as a number, or counted up. */
    const isCounter = (node) => {
      const definition = findDefinition(node);
      if (definition?.node.parent?.parent?.type === "ForStatement") return true;
      const { init } = definition?.node ?? {};
      if (init && definition.node.id.type === "Identifier") return init !== node && isNumeric(init);
      if (definition?.name.typeAnnotation?.typeAnnotation.type === "TSNumberKeyword") return true;
      return (
        definition?.name.parent.type === "ArrayPattern" &&
        definition.name.parent.elements[0] === definition.name &&
        isEntries(definition.node)
      );
    };
    const isEntries = (declarator) =>
      declarator.parent?.parent?.right?.callee?.property?.name === "entries" && declarator.parent.parent.right.arguments.length === 0;
    const isList = (node) => {
      if (node.type === "ArrayExpression") return true;
      if (node.type === "NewExpression") return /Array$/.test(node.callee.name);
      if (node.type === "CallExpression") return /^(map|from|slice|alloc|fill|concat|filter|subarray)$/.test(node.callee.property?.name);
      if (node.type !== "Identifier") return false;
      const definition = findDefinition(node);
      const type = definition?.name.typeAnnotation?.typeAnnotation;
      if (type) return type.type === "TSArrayType" || /(Array|Bits|Buffer)$/.test(type.typeName?.name);
      return (
        definition?.type === "Variable" &&
        definition.node.id.type === "Identifier" &&
        definition.node.init != null &&
        isList(definition.node.init)
      );
    };
    const isConstant = (key) =>
      (key.type === "TemplateLiteral" && key.quasis[0].value.raw !== "") ||
      (key.type === "ConditionalExpression" && isConstant(key.consequent) && isConstant(key.alternate)) ||
      (key.type === "Literal" && key.value !== "__proto__") ||
      (key.type === "Identifier" && /^[A-Z][A-Z0-9_]*$/.test(key.name));
    const check = (target) => {
      if (target.type !== "MemberExpression" || !target.computed) return;
      if (isConstant(target.property) || isNumeric(target.property) || isList(target.object)) return;
      context.report({ node: target, message: "The key may be __proto__ or constructor. Use a Map or Object.fromEntries." });
    };
    return {
      AssignmentExpression: ({ left }) => check(left),
      UpdateExpression: ({ argument }) => check(argument),
      "CallExpression[callee.object.name='Object'][callee.property.name='assign']"(node) {
        const isPlain = ({ type, properties = [] }) => type === "ObjectExpression" && properties.every(({ computed }) => !computed);
        if (node.arguments.slice(1).every(isPlain) || isPlain(node.arguments[0])) return;
        context.report({ node, message: "Object.assign may set a prototype. Use an object literal with spread." });
      },
    };
  },
};

/** Words that do not describe the value. Use specific names, such as cachedAssets, requestedIds, defaultColumns or MAX_BODY_BYTES. */
const deniedNames = ["asked", "given", "heard", "known", "linked", "meant", "told", "usual", "wanted"];
const deniedDeclarations = /^(held|kept|landed|most|usual[A-Z].*|(MOST|LONGEST)_.*)$/;
const deniedFiles =
  /(^|-)(asked|beside|heard|known|landed|ledger|linked|receipt|silence|soon|there|told|usual|wall|wanted|ways-in|where)(-|\.)/;
const plainNames = {
  create(context) {
    const report = (node, name) => context.report({ node, message: `Use a more specific name than "${name}".` });
    const check = (node) => deniedDeclarations.test(node.name) && report(node, node.name);
    return {
      Program: (node) => deniedFiles.test(basename(context.filename)) && report(node, basename(context.filename)),
      "VariableDeclarator > Identifier.id": check,
      ":function > Identifier": check,
      "Property[shorthand=true] > Identifier.value": check,
      "ArrayPattern > Identifier": check,
      "TSPropertySignature > Identifier.key": check,
    };
  },
};

/** These rules compile each file to find components, which takes half of the time. Files without components skip them. */
const reactRules = [...nextVitals, ...nextTs].flatMap(({ rules }) => Object.keys(rules ?? {})).filter((name) => /^(react|jsx)/.test(name));
const nonReactFiles = ["bin/**", "lib/{contract,http,messages,server,service,shared}/**/*.ts", "tests/**"];

const config = [
  { ignores: [".next*/**", "dist/**", "next-env.d.ts", "coverage/**", "test-results/**"] },
  ...nextVitals,
  ...nextTs,
  {
    plugins: { lightdesk: { rules: { "outside-key": externalKey, "plain-names": plainNames } }, "simple-import-sort": importSort },
    rules: {
      "lightdesk/outside-key": "error",
      "lightdesk/plain-names": "error",
      "id-denylist": ["error", ...deniedNames],
      "max-lines": ["error", { max: 300, skipBlankLines: true, skipComments: true }],
      "no-restricted-syntax": [
        "error",
        {
          selector: "ExpressionStatement[directive=/^(server|client)-only$/]",
          message: 'A bare string does nothing: write import "server-only".',
        },
        { selector: "ExportAllDeclaration", message: "No barrels: import from the file that defines it." },
        {
          selector: "MemberExpression[object.name='process'][property.name='env']",
          message: "Read configuration from the env file of this folder.",
        },
        {
          selector: "MemberExpression[object.name='JSON'][property.name='stringify']",
          message: "It throws on BigInt seeds. Use writeExactJson of lib/contract/json/exact-json.",
        },
        ...missingBasePath,
        ...duplicateBasePath,
      ],
      "no-restricted-imports": [
        "error",
        {
          paths: [
            { name: "next/image", message: "Use components/ui/pictures/picture." },
            { name: "next/link", message: "Use components/ui/link." },
            {
              name: "next/navigation",
              importNames: ["useRouter", "usePathname"],
              message: "Use components/ui/link, because embedded pages have other addresses.",
            },
          ],
          patterns: [{ group: ["../../*"], message: "Use @/…" }],
        },
      ],
      "simple-import-sort/imports": ["error", { groups: [["^\\u0000", "^node:", "^@?\\w", "^@/", "^\\.\\.", "^\\."]] }],
      "@typescript-eslint/consistent-type-imports": ["error", { fixStyle: "inline-type-imports" }],
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
    },
  },
  { files: nonReactFiles, rules: Object.fromEntries(reactRules.map((name) => [name, "off"])) },
  { files: ["tests/**"], rules: { "lightdesk/outside-key": "off" } },
  // Other products read the field EmbedCheck.known.
  {
    files: ["lib/contract/embed/embedding.ts", "app/api/embed/check/route.ts", "tests/unit/embed/element.test.tsx"],
    rules: { "id-denylist": "off" },
  },
  // One component renders <img> with width and height. The image optimizer can't serve private files.
  {
    files: ["components/ui/pictures/picture.tsx", "components/ui/pictures/plain-picture.tsx"],
    rules: { "@next/next/no-img-element": "off" },
  },
  { files: ["components/ui/link.tsx"], rules: { "no-restricted-imports": "off" } },
  // These files read process.env. The bundler replaces NEXT_RUNTIME in instrumentation.ts.
  {
    files: ["lib/server/env.ts", "instrumentation.ts", "bin/**", "docs/examples/**", "tests/**", "*.config.{js,ts,mjs}"],
    rules: { "no-restricted-syntax": "off" },
  },
];
export default config;
