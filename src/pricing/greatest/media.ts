/**
 * Pictures, sound and documents in a request: their bytes say nothing about their tokens. A picture has a greatest size
 * where the provider documents one; all else may fill the model's context window.
 */
import type { ProviderName } from '../../vocabulary/call-record.ts';

export interface Media {
  readonly pictures: number;
  /** Sound, video, documents, files by id or address. */
  readonly others: number;
  readonly hasSound: boolean;
  /** Of the pictures' and others' base64, which is no text. */
  readonly payloadBytes: number;
}

/** Quotes within strings are escaped, so these names are members and types of the request's own. */
const MARK =
  /"type"\s*:\s*"(image|image_url|input_image|document|input_file|file|input_audio|audio|audio_url|video|video_url|input_video|container_upload)"|"(inlineData|inline_data|fileData|bytesBase64Encoded|s3Location)"\s*:|"(image|document|video|audio)"\s*:\s*\{\s*"(?:format|source|name)"/g;
/** Without a match there are none, which is found in half the time. */
export const MAY_TELL_MEDIA =
  /"(?:image|input_|document|file|audio|video|container_upload|inline|bytesBase64Encoded|s3Location)/;
const PAYLOAD =
  /"(?:data|url|image_url|file_data|bytes|bytesBase64Encoded)"\s*:\s*"((?:data:[\w/.+;=-]{1,200},)?[A-Za-z0-9+/_-]+={0,2})"/g;
/** Shorter ones are addresses, whose bytes do no harm in the count. */
const SHORTEST_PAYLOAD = 256;

const PICTURES: readonly string[] = ['image', 'image_url', 'input_image', 'bytesBase64Encoded'];
const SOUND = /"(?:input_audio|audio|audio_url|video|video_url|input_video)"|"(?:audio|video)\/[\w.+-]{1,40}"/;
const MIME = /"mime_?[tT]ype"\s*:\s*"(\w+)\//g;

export const NO_MEDIA: Media = Object.freeze({ pictures: 0, others: 0, hasSound: false, payloadBytes: 0 });

/** `text`: the request's bytes as Latin-1. */
export function readMedia(text: string): Media {
  let pictures = 0;
  let others = 0;
  let inline = 0;
  for (const [, type, member, block] of text.matchAll(MARK)) {
    const name = type ?? member ?? block ?? '';
    if (name === 'inlineData' || name === 'inline_data') inline += 1;
    else if (PICTURES.includes(name)) pictures += 1;
    else others += 1;
  }
  if (pictures + others + inline === 0) return NO_MEDIA;
  // Google names what is inline by its type alone.
  const named = inline === 0 ? 0 : [...text.matchAll(MIME)].filter(([, kind]) => kind === 'image').length;
  const inlinePictures = Math.min(inline, named);
  const payloads = [...text.matchAll(PAYLOAD)]
    .map(([, payload = '']) => payload.length)
    .filter((length) => length >= SHORTEST_PAYLOAD);
  const items = pictures + others + inline;
  return {
    pictures: pictures + inlinePictures,
    others: others + inline - inlinePictures,
    hasSound: SOUND.test(text),
    payloadBytes: payloads.slice(0, items).reduce((sum, length) => sum + length, 0),
  };
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
