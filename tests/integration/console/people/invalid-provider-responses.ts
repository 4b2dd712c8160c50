// Invalid OpenID provider responses with the expected error message.
import { type TokenIssuer } from "@/tests/support/token-issuer";

const nowSeconds = Math.floor(Date.now() / 1000);
export const invalidProviderResponses: [string, Parameters<TokenIssuer["setOverrides"]>[0], string][] = [
  ["a signature by another key", { withOtherKey: true }, "untrusted"],
  ["alg none", { algorithm: "none" }, "untrusted"],
  ["alg HS256 with the client's secret", { algorithm: "HS256" }, "untrusted"],
  ["another audience", { claims: { aud: "somebody else" } }, "untrusted"],
  ["several audiences with another authorized party", { claims: { aud: ["lightdesk", "other"], azp: "other" } }, "untrusted"],
  ["an expired token", { claims: { iat: nowSeconds - 7200, exp: nowSeconds - 3600 } }, "untrusted"],
  ["a token that is not valid yet", { claims: { nbf: nowSeconds + 3600 } }, "untrusted"],
  ["a token that was issued in the future", { claims: { iat: nowSeconds + 3600, exp: nowSeconds + 7200 } }, "untrusted"],
  ["an issue time beyond every valid date", { claims: { iat: 1e300, exp: nowSeconds + 7200 } }, "untrusted"],
  ["another nonce", { claims: { nonce: "of another sign-in" } }, "untrusted"],
  ["no nonce", { claims: { nonce: undefined } }, "untrusted"],
  ["another issuer", { claims: { iss: "https://evil.example" } }, "untrusted"],
  ["no subject", { claims: { sub: undefined } }, "untrusted"],
  ["an unverified email address", { claims: { email_verified: false } }, "unverified"],
  ["an email address without a verified claim", { claims: { email_verified: undefined }, userinfo: { sub: "ada" } }, "unverified"],
  ["a verified claim that is a string", { claims: { email_verified: "true" } }, "unverified"],
  [
    "a different address that only userinfo marks as verified",
    { claims: { email_verified: undefined }, userinfo: { sub: "ada", email: "eve@evil.example", email_verified: true } },
    "domain",
  ],
  [
    "userinfo of another subject",
    { claims: { email: undefined }, userinfo: { sub: "eve", email: "ada@example.com", email_verified: true } },
    "untrusted",
  ],
  ["no email address", { claims: { email: undefined } }, "unverified"],
  ["another domain", { claims: { email: "ada@example.org" } }, "domain"],
  ["a domain with the same ending", { claims: { email: "ada@notexample.com" } }, "domain"],
  ["an address with two @ signs", { claims: { email: "ada@example.com@evil.example" } }, "unverified"],
  ["a provider that fails", { status: 503 }, "away"],
];
