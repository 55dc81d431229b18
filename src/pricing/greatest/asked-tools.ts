/**
 * Tools in a request. One that the client runs adds its description to the prompt; one that the provider runs calls the
 * model again with all that came before, and may cost by itself.
 */

export interface AskedTools {
  /** Tools with a description of the provider's own, which no byte of the request is for. */
  readonly described: number;
  /** How often the provider may call the model: 1 without tools of its own; null where nothing limits it. */
  readonly rounds: number | null;
  /** Grounding that is billed for the answer, however many searches it took. */
  readonly isGrounded: boolean;
}

export const NO_TOOLS: AskedTools = Object.freeze({ described: 0, rounds: 1, isGrounded: false });
export const UNREAD_TOOLS: AskedTools = Object.freeze({ described: 0, rounds: null, isGrounded: false });

/** Types of JSON schemas, and of tools whose description the request holds. */
const WRITTEN_OUT =
  /^(?:string|number|integer|boolean|object|array|null|function|custom|tool|text|ephemeral|grammar|json_schema|url|auto|any|none)$/;
/** Run by the client. Sources: OpenAI, Tools; Anthropic, Tool use; November 2026. */
const BY_CLIENT = /^(?:computer|text_editor|bash|memory|local_shell|apply_patch)(?:_|$)/;

const TYPE = /"type"\s*:\s*"([^"\\]{1,100})"/g;
const MAX_USES = /"max_uses"\s*:\s*(\d{1,6})/g;
const GROUNDING = /"(?:google_?[sS]earch|google_?[mM]aps)"\s*:/;
const BY_GOOGLE =
  /"(?:google_?[sS]earch_?[rR]etrieval|url_?[cC]ontext|code_?[eE]xecution|file_?[sS]earch|enterprise_?[wW]eb_?[sS]earch)"\s*:/;
const BY_AWS = /"systemTool"\s*:/;
/** Before Gemini 3 Google bills the grounded answer; since then each search, without a limit. */
const IS_BILLED_ONCE = /gemini-(?:1|2)\b/;

/** `text`: the member with the tools, as Latin-1. `maxCalls`: what the request states for all tools together. */
export function readAskedTools(text: string, model: string, maxCalls: number | null): AskedTools {
  if (BY_GOOGLE.test(text) || BY_AWS.test(text)) return UNREAD_TOOLS;
  const isGrounded = GROUNDING.test(text);
  if (isGrounded && !IS_BILLED_ONCE.test(model)) return { described: 0, rounds: null, isGrounded };
  let described = 0;
  let byProvider = 0;
  for (const [, type = ''] of text.matchAll(TYPE)) {
    if (WRITTEN_OUT.test(type)) continue;
    if (BY_CLIENT.test(type)) described += 1;
    else byProvider += 1;
  }
  if (byProvider === 0) return { described, rounds: 1, isGrounded };
  const uses = [...text.matchAll(MAX_USES)].map(([, count]) => Number.parseInt(count ?? '', 10));
  const calls = maxCalls ?? (uses.length === byProvider ? uses.reduce((sum, count) => sum + count, 0) : null);
  return { described: described + byProvider, rounds: calls === null ? null : calls + 1, isGrounded };
}
