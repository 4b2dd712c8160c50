// Invalid provider responses, and the message shown.
import { type TokenIssuer } from "@/tests/support/token-issuer";

const second = Math.floor(Date.now() / 1000);
export const bentAnswers: [string, Parameters<TokenIssuer["bend"]>[0], string][] = [
  ["a signature of another key", { withOtherKey: true }, "untrusted"],
  ["alg none", { algorithm: "none" }, "untrusted"],
  ["alg HS256 with the client's secret", { algorithm: "HS256" }, "untrusted"],
  ["another audience", { claims: { aud: "somebody else" } }, "untrusted"],
  ["several audiences, for another party", { claims: { aud: ["lightdesk", "other"], azp: "other" } }, "untrusted"],
  ["an expired token", { claims: { iat: second - 7200, exp: second - 3600 } }, "untrusted"],
  ["a token that is not valid yet", { claims: { nbf: second + 3600 } }, "untrusted"],
  ["a token that was issued in the future", { claims: { iat: second + 3600, exp: second + 7200 } }, "untrusted"],
  ["a token that was issued beyond every date", { claims: { iat: 1e300, exp: second + 7200 } }, "untrusted"],
  ["another nonce", { claims: { nonce: "of another sign-in" } }, "untrusted"],
  ["no nonce", { claims: { nonce: undefined } }, "untrusted"],
  ["another issuer", { claims: { iss: "https://evil.example" } }, "untrusted"],
  ["no subject", { claims: { sub: undefined } }, "untrusted"],
  ["an address that is not verified", { claims: { email_verified: false } }, "unverified"],
  ["an address of which nothing is said", { claims: { email_verified: undefined }, userinfo: { sub: "ada" } }, "unverified"],
  ["a word that looks like verified", { claims: { email_verified: "true" } }, "unverified"],
  [
    "an address that only userinfo calls verified, another one",
    { claims: { email_verified: undefined }, userinfo: { sub: "ada", email: "eve@evil.example", email_verified: true } },
    "domain",
  ],
  [
    "userinfo about somebody else",
    { claims: { email: undefined }, userinfo: { sub: "eve", email: "ada@example.com", email_verified: true } },
    "untrusted",
  ],
  ["no address", { claims: { email: undefined } }, "unverified"],
  ["another domain", { claims: { email: "ada@example.org" } }, "domain"],
  ["a domain that ends like it", { claims: { email: "ada@notexample.com" } }, "domain"],
  ["a domain behind two signs", { claims: { email: "ada@example.com@evil.example" } }, "unverified"],
  ["a provider that fails", { status: 503 }, "away"],
];
