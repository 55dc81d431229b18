/** The greatest cost of sound: a file that is written down, or a text that is spoken. */
import { readBoundary, readMultipartFields } from '../../formats/wire/multipart-fields.ts';
import { type BoundedCall, dearest, HIDDEN_TOKENS, known, PLAIN, ROUNDING, unknown } from './bounded-call.ts';
import { priceAtMost } from './dearest-rates.ts';
import type { GreatestCost } from './greatest-cost.ts';

export const SPEECH = 'audio.speech';
/** Of sound at 4 kbit/s; the lowest rate in use, of Opus, is 6. */
const MS_PER_SOUND_BYTE = 2;
/** Models hear at most 17 tokens a second, and people say fewer: OpenAI bills a minute of `gpt-4o-transcribe` as about 1,000. */
const MS_PER_SOUND_TOKEN = 50;

/** Some hosts fetch the sound themselves. */
const FILE_FIELDS = ['file', 'url', 'audio_url'];
const IS_ADDRESS = /^\s*https?:/i;

function holdsSound({ call, body }: BoundedCall): boolean {
  const boundary = readBoundary(call.contentType);
  if (boundary === null) return false;
  return ![...readMultipartFields(body, boundary, FILE_FIELDS).values()].some((value) => IS_ADDRESS.test(value));
}

export function boundSound(asked: BoundedCall): GreatestCost {
  const { body, call } = asked;
  const rateOf = asked.rateFor(PLAIN);
  const [byCharacter, byTime] = [rateOf('input_characters', 0), rateOf('input_audio_ms', 0)];
  const isSpeech = call.endpoint.family === SPEECH;
  if (isSpeech && byCharacter !== null)
    return known(priceAtMost(body.length, byCharacter) + ROUNDING, 'fixed', body.length, 0);
  if (!isSpeech && !holdsSound(asked)) return unknown('unknown-length');
  const ms = body.length * MS_PER_SOUND_BYTE;
  const inputRate = dearest(rateOf, ['input', 'input_audio'], 0);
  const outputRate = dearest(rateOf, ['output', 'output_audio'], 0);
  if (!isSpeech && byTime !== null && outputRate === null)
    return known(priceAtMost(ms, byTime) + ROUNDING, 'fixed', 0, 0);
  if (inputRate === null || outputRate === null) return unknown('unpriced');
  // How long it takes to say a text is not in the text.
  if (isSpeech) return unknown('unknown-length');
  const heard = (ms - (ms % MS_PER_SOUND_TOKEN)) / MS_PER_SOUND_TOKEN + HIDDEN_TOKENS;
  const amount = priceAtMost(heard, inputRate) + priceAtMost(heard, outputRate) + ROUNDING;
  return known(amount, 'fixed', heard, heard);
}
