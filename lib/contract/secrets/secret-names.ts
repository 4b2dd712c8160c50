// Which names of fields, inputs and widgets announce a secret. Names are compared without case and separators: X-API-Key is xapikey.
// When in doubt, mask; but leave alone names that only sound alike: max_tokens, tokenizer, trigger_token, keyframe.

const anywhere =
  /apikey|apitoken|apisecret|authtoken|accesstoken|refreshtoken|bearertoken|sessiontoken|password|passwd|passphrase|secretkey|accesskey|privatekey|authorization|credential/;
const whole = new Set(["token", "tokens", "secret", "secrets", "auth", "cookie", "setcookie", "pwd"]);
const tokenOfService = /^(hf|huggingface|civitai|github|gitlab|openai|replicate|id|user|bot|csrf|jwt|oauth|login|client)(token|secret)$/;

export function isSecretName(name: string): boolean {
  const known = remembered.get(name);
  if (known !== undefined) return known;
  const word = name.length > 100 ? "" : name.toLowerCase().replace(/[^a-z0-9]/g, "");
  const secret = anywhere.test(word) || whole.has(word) || tokenOfService.test(word);
  if (remembered.size < MOST_REMEMBERED) remembered.set(name, secret);
  return secret;
}

/** Field names repeat by the thousand in one answer; the bound keeps names sent by strangers from filling the memory. */
const remembered = new Map<string, boolean>();
const MOST_REMEMBERED = 5000;
