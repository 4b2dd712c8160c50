// Types for the part of oidc-provider that the tests use; the package ships none.
declare module "oidc-provider" {
  import { type IncomingMessage, type ServerResponse } from "node:http";
  type Grant = { addOIDCScope(scope: string): void; save(): Promise<string> };
  type Context = {
    oidc: { provider: Provider; client: { clientId: string }; session: { accountId?: string } };
  };
  type Account = { accountId: string; claims(): Record<string, unknown> };
  type Configuration = {
    clients: readonly Record<string, unknown>[];
    claims: Record<string, readonly string[]>;
    scopes: readonly string[];
    cookies: { keys: readonly string[]; names: Record<"session" | "interaction" | "resume", string> };
    jwks: { keys: readonly object[] };
    ttl: Record<string, number>;
    pkce: { required(): boolean };
    findAccount(context: unknown, id: string): Account | undefined;
    loadExistingGrant(context: Context): Promise<Grant>;
  };
  export default class Provider {
    constructor(issuer: string, configuration: Configuration);
    callback(): (request: IncomingMessage, response: ServerResponse) => void;
    Client: { prototype: { redirectUriAllowed(uri: string): boolean; postLogoutRedirectUriAllowed(uri: string): boolean } };
    Grant: new (options: { clientId: string; accountId?: string }) => Grant;
  }
}
