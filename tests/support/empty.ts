// Replaces "server-only" and "client-only", which throw outside the bundler.
export {};
