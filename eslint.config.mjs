import nextVitals from "eslint-config-next/core-web-vitals";
import nextTs from "eslint-config-next/typescript";

const config = [
  { ignores: [".next/**", "dist/**", "next-env.d.ts", "coverage/**", "test-results/**"] },
  ...nextVitals,
  ...nextTs,
  {
    rules: {
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
          message: "Read configuration from the env file of this room.",
        },
        {
          selector: "MemberExpression[object.name='JSON'][property.name='stringify']",
          message: "It throws on the BigInt of a seed: use writeExactJson of lib/contract/json/exact-json.",
        },
      ],
      "no-restricted-imports": [
        "error",
        {
          paths: [
            { name: "next/image", message: "Use components/ui/pictures/picture." },
            { name: "next/link", message: "Use components/ui/link." },
          ],
          patterns: [{ group: ["../../*"], message: "Use @/…" }],
        },
      ],
      "@typescript-eslint/consistent-type-imports": ["error", { fixStyle: "inline-type-imports" }],
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
    },
  },
  // Plain <img> with width and height, through one component: the optimiser does not serve private bytes.
  {
    files: ["components/ui/pictures/picture.tsx", "components/ui/pictures/plain-picture.tsx"],
    rules: { "@next/next/no-img-element": "off" },
  },
  { files: ["components/ui/link.tsx"], rules: { "no-restricted-imports": "off" } },
  // The readers of process.env; instrumentation needs NEXT_RUNTIME literally so the bundler can drop the branch.
  {
    files: ["lib/server/env.ts", "lib/service/env.ts", "instrumentation.ts", "bin/**", "tests/**", "*.config.{js,ts,mjs}"],
    rules: { "no-restricted-syntax": "off" },
  },
];
export default config;
