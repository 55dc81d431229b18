/**
 * Pictures, sound and documents in a request: their bytes say nothing about their tokens. A picture has a greatest size
 * where the provider documents one; all else may fill the model's context window.
 */
import { isObject, parseJson } from '../../formats/usage/read-json.ts';
import type { ProviderName } from '../../vocabulary/call-record.ts';
import type { JsonValue } from '../../vocabulary/token-usage.ts';
import { findObjectEnd, findObjectStart } from './object-edges.ts';

export interface Media {
  readonly pictures: number;
  /** Sound, video, documents, files by id or address. */
  readonly others: number;
  readonly hasSound: boolean;
  /** Of the pictures' and others' base64, which is no text. */
  readonly payloadBytes: number;
}

/**
 * Quotes within strings are escaped, so these names are members and types of the request's own: types of items and blocks;
 * Google's members, of which `file_data` is a text elsewhere; blocks of AWS, and the sound of an earlier answer, by its id; an
 * item of the Responses API that is nothing but an id, and members that are null.
 */
const MARK =
  /"type"\s*:\s*"(image|image_url|input_image|computer_screenshot|image_generation_call|document|input_file|file|input_audio|audio|audio_url|video|video_url|input_video|container_upload|item_reference|reasoning|compaction)"|"(inlineData|inline_data|fileData|bytesBase64Encoded|s3Location)"\s*:|"(file_data)"\s*:\s*\{|"(image|document|video|audio)"\s*:\s*\{\s*"(?:format|source|name|citations|context|id|data|transcript|expires_at)"|"(id)"(?<=[[,]\s*\{\s*(?:"\w+"\s*:\s*null\s*,\s*)*"id")\s*:\s*"[a-z]+_[\w-]+"\s*(?:,\s*"\w+"\s*:\s*null\s*)*\}/g;
/** Without a match there are none, which is found in half the time. */
export const MAY_TELL_MEDIA =
  /"(?:image|input_|document|file|audio|video|container_upload|inline|bytesBase64Encoded|s3Location|computer_screenshot|item_reference|type"\s*:\s*"(?:reasoning|compaction)"|id"\s*:\s*"[a-z]+_[\w-]+"\s*(?:\}|,\s*"\w+"\s*:\s*null))/;
const PAYLOAD =
  /"(?:data|url|image_url|file_data|bytes|bytesBase64Encoded)"\s*:\s*"((?:data:[\w/.+;=-]{1,200},)?[A-Za-z0-9+/_-]+={0,2})"/g;
/** Shorter ones are addresses, whose bytes do no harm in the count. */
const SHORTEST_PAYLOAD = 256;

const PICTURES: readonly string[] = [
  'image',
  'image_url',
  'input_image',
  'computer_screenshot',
  'image_generation_call',
  'bytesBase64Encoded',
];
/** Google's, which a type of their own describes. */
const INLINE: readonly string[] = ['inlineData', 'inline_data'];
const FILES: readonly string[] = ['fileData', 'file_data'];
/** By an id alone: of whatever the provider keeps. */
const REFERENCES: readonly string[] = ['item_reference', 'id'];
/** What a model thought, by its id or as it was. */
const THOUGHTS: readonly string[] = ['reasoning', 'compaction'];
const SOUND = /"(?:input_audio|audio|audio_url|video|video_url|input_video)"|"(?:audio|video)\\?\/[\w.+-]{1,40}"/;
/** Some encoders write `\/` for a slash. */
const MIME = /"mime_?[tT]ype"\s*:\s*"(\w+)\\?\//g;
const SILENT: readonly string[] = ['image', 'text', 'application'];

export const NO_MEDIA: Media = Object.freeze({ pictures: 0, others: 0, hasSound: false, payloadBytes: 0 });

/** `text`: the request, as `readSearchText` gives it. */
export function readMedia(text: string): Media {
  let pictures = 0;
  let others = 0;
  let inline = 0;
  let files = 0;
  let references = 0;
  const thoughts: number[] = [];
  for (const { 1: type, 2: member, 3: spelled, 4: block, 5: item, index } of text.matchAll(MARK)) {
    const name = type ?? member ?? spelled ?? block ?? item ?? '';
    if (INLINE.includes(name)) inline += 1;
    else if (FILES.includes(name)) files += 1;
    else if (PICTURES.includes(name)) pictures += 1;
    else if (REFERENCES.includes(name)) references += 1;
    else if (THOUGHTS.includes(name)) thoughts.push(index);
    else others += 1;
  }
  if (!areCarried(text, thoughts)) references += 1;
  const items = pictures + others + inline + files + references;
  if (items === 0) return NO_MEDIA;
  // Google names what is inline by its type alone.
  const kinds = inline + files === 0 ? [] : [...text.matchAll(MIME)].map(([, kind = '']) => kind);
  const inlinePictures = Math.min(inline, kinds.filter((kind) => kind === 'image').length);
  const isSilent = inline + files <= kinds.filter((kind) => SILENT.includes(kind)).length;
  const payloads = [...text.matchAll(PAYLOAD)]
    .map(([, payload = '']) => payload.length)
    .filter((length) => length >= SHORTEST_PAYLOAD);
  return {
    pictures: pictures + inlinePictures,
    others: others + inline - inlinePictures + files + references,
    // A film or an item may be nothing but an address or an id.
    hasSound: references > 0 || !isSilent || SOUND.test(text),
    payloadBytes: payloads.slice(0, items).reduce((sum, length) => sum + length, 0),
  };
}

/** Whether each item with one of these types has its text with it. One that is cut counts as kept by the provider. */
function areCarried(text: string, typesAt: readonly number[]): boolean {
  let readTo = 0;
  for (const at of typesAt) {
    // A type within an item that was read says nothing of its own.
    if (at < readTo) continue;
    const start = findObjectStart(text, at, readTo);
    const end = start === null ? null : findObjectEnd(text, start);
    if (start === null || end === null || !isCarried(parseJson(Buffer.from(text.slice(start, end), 'latin1'))))
      return false;
    readTo = end;
  }
  return true;
}

function isCarried(item: JsonValue | undefined): boolean {
  if (!isObject(item)) return false;
  const { encrypted_content: encrypted, content } = item;
  // Anthropic's compaction is a text.
  if (isText(encrypted) || isText(content)) return true;
  return (
    Array.isArray(content) &&
    content.some((part: JsonValue) => isObject(part) && part['type'] === 'reasoning_text' && isText(part['text']))
  );
}

function isText(value: JsonValue | undefined): boolean {
  return typeof value === 'string' && value !== '';
}

interface PictureRule {
  readonly models: RegExp;
  readonly tokens: number;
}

/**
 * Sources: Anthropic, Vision (up to 4,784 tokens since Opus 4.7, 1,600 before); OpenAI, Images and vision (tiles of a
 * picture of at most 2,048 by 768 points; patches, at most 10,000 with `original` detail, times 1.2); Google, Image
 * understanding (258 tokens for each tile, 2,240 at the highest resolution since Gemini 3); November 2026.
 */
const PICTURE_TOKENS: Partial<Readonly<Record<ProviderName, readonly PictureRule[]>>> = {
  openai: [
    { models: /gpt-4o-mini/, tokens: 48_169 },
    { models: /./, tokens: 12_000 },
  ],
  anthropic: [{ models: /./, tokens: 4_784 }],
  bedrock: [{ models: /claude/, tokens: 4_784 }],
  gemini: [{ models: /./, tokens: 10_000 }],
};

/** Null where it may fill the context window. */
export function findPictureTokens(provider: ProviderName, model: string): number | null {
  return PICTURE_TOKENS[provider]?.find(({ models }) => models.test(model))?.tokens ?? null;
}
