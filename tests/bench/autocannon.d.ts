// Types for the part of autocannon that the bench uses. The package ships none.
declare module "autocannon" {
  type Options = {
    url: string;
    connections: number;
    duration: number;
    method?: string;
    headers?: Record<string, string>;
    body?: string;
  };
  type Result = { non2xx: number; errors: number; timeouts: number; duration: number; requests: { total: number } };
  type Instance = PromiseLike<Result> & {
    on(event: "response", listener: (client: unknown, status: number, bytes: number, milliseconds: number) => void): void;
  };
  export default function autocannon(options: Options): Instance;
}
