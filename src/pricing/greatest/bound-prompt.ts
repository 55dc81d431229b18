/** The most tokens that a prompt can have, and the classes that they can be billed as. */
import type { ProviderName } from '../../vocabulary/call-record.ts';
import type { UsageClass } from '../../vocabulary/token-usage.ts';
import type { AskedRequest } from './asked-request.ts';
import { NO_TOOLS } from './asked-tools.ts';
import { type BoundedCall, DEFAULT_WRITES, HIDDEN_TOKENS, readWindow } from './bounded-call.ts';
import type { KnownPrompt } from './known-prompts.ts';
import { findPictureTokens, NO_MEDIA, readMedia } from './media.ts';
import { readSearchText } from './search-text.ts';

/** A longer stretch of text that nobody counted is taken as the whole context window. */
const MAX_READ_BYTES = 512 * 1024;
/** Providers' introduction to the use of tools, and their own description of a tool such as `bash`. */
const HIDDEN_TOOL_TOKENS = 1_024;
const DESCRIBED_TOOL_TOKENS = 4_096;

const CLAUDE = /(?:^|[./])anthropic\.claude-/;
const LONG_WRITES: readonly UsageClass[] = ['cache_creation_1h', 'cache_creation_12h'];

/** Whose caches are written without a mark in the request. On Bedrock that is every model with a write price but Claude. */
function writesUnasked(provider: ProviderName, model: string): boolean {
  return provider === 'openai' || (provider === 'bedrock' && !CLAUDE.test(model));
}

export interface PromptBound {
  readonly tokens: number;
  readonly classes: readonly UsageClass[];
}

type AskedPrompt = Pick<
  AskedRequest,
  'prompts' | 'tools' | 'namesStored' | 'cacheWrites' | 'isTextOnly' | 'mayHideLetters'
>;

/** Null where it may fill a context window that is not known. */
export function boundPrompt(
  { call, body, model, limits }: BoundedCall,
  { prompts, tools, namesStored, cacheWrites, isTextOnly, mayHideLetters }: AskedPrompt,
  counted: KnownPrompt | null,
): PromptBound | null {
  const window = readWindow(limits);
  const from = counted?.from ?? 0;
  const to = counted?.to ?? body.length;
  const isRead = !namesStored && to - from <= MAX_READ_BYTES;
  const readText = () => (mayHideLetters ? readSearchText(body.subarray(from, to)) : body.toString('latin1', from, to));
  const media = isRead ? (isTextOnly ? NO_MEDIA : readMedia(readText())) : null;
  const ofPicture = findPictureTokens(call.provider, model);
  const ofMedia =
    media === null || media.others > 0 || (media.pictures > 0 && ofPicture === null)
      ? null
      : media.pictures * (ofPicture ?? 0);
  // What was counted before has the introduction to its tools in it.
  const introduced = tools === NO_TOOLS || counted !== null ? 0 : HIDDEN_TOOL_TOKENS;
  const hidden = HIDDEN_TOKENS + introduced + (counted === null ? tools.described * DESCRIBED_TOOL_TOKENS : 0);
  const ofText =
    media === null || ofMedia === null
      ? null
      : (counted?.tokens ?? 0) + to - from - media.payloadBytes + ofMedia + hidden;
  const most = window === null ? null : window * prompts;
  const once = ofText === null ? most : Math.min(ofText, most ?? ofText);
  if (once === null) return null;
  // Each round reads all that came before it, with what its tool found.
  const tokens = tools.rounds === 1 ? once : most === null ? null : most * tools.rounds;
  if (tokens === null) return null;
  const hasMedia = media === null || media.pictures + media.others > 0 || counted !== null;
  const classes: UsageClass[] = ['input', 'cache_read'];
  if (cacheWrites !== 'none' || writesUnasked(call.provider, model)) classes.push(...DEFAULT_WRITES);
  if (cacheWrites === 'long') classes.push(...LONG_WRITES);
  if (hasMedia) classes.push('input_image', 'cache_read_image');
  if (media === null || media.hasSound || counted !== null)
    classes.push('input_audio', 'cache_read_audio', 'input_video');
  return { tokens, classes };
}
