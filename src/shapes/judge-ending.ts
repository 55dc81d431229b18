/**
 * Whether an answer that was delivered well, as HTTP goes, also came to the end that its own format has. Asked once, of
 * an answer whose every byte was read; what could not be read is not judged.
 */
import { hasFinalUsage, type UsageReading } from '../token-usage.ts';
import type { FramingForm } from './framing.ts';
import { isAnswered, withFlag, withTerminal } from './reading.ts';
import type { Shape } from './shape.ts';

export interface Delivered {
  /** Null when the content type is not one that is read. */
  readonly form: FramingForm | null;
  /** It ended in the middle of a value, an array, a line or a frame. */
  readonly isOpen: boolean;
  /** Nothing came, or nothing but blanks. */
  readonly isEmpty: boolean;
}

/** Shapes whose whole answers are also of types that are not read: sound, text, files. */
const MEDIA_SHAPES: readonly Shape['name'][] = ['opaque', 'transcriptions', 'speech', 'message-batch', 'gemini-batch'];

export function judgeEnding(shape: Shape, { form, isOpen, isEmpty }: Delivered, reading: UsageReading): UsageReading {
  // It has an ending of another kind.
  if (reading.error !== null) return reading;
  switch (form) {
    case null:
      return MEDIA_SHAPES.includes(shape.name) ? reading : withFlag(reading, 'no_ending');
    case 'json':
      if (!isOpen && !isEmpty) return reading;
      // Many an API answers with nothing where nothing is to be said, whatever the type.
      if (isEmpty && shape.name === 'opaque') return withFlag(reading, 'no_ending');
      return { ...reading, shortfall: 'not_json' };
    case 'array':
      return isOpen || isEmpty ? { ...reading, shortfall: 'ended_early' } : reading;
    case 'lines':
      return isOpen || isEmpty ? withFlag(reading, 'no_ending') : reading;
    case 'events':
      return judgeStream(shape, isOpen, reading);
  }
}

function judgeStream(shape: Shape, isOpen: boolean, reading: UsageReading): UsageReading {
  if (reading.terminal) return reading;
  if (isAnswered(reading) && hasFinalUsage(reading)) return withTerminal(reading);
  if (isAnswered(reading) && shape.hasUsageAtEnd !== true) return withFlag(reading, 'no_ending');
  const isKnownToEnd = isOpen || shape.hasLastEvent === true || reading.parts !== undefined;
  return isKnownToEnd ? { ...reading, shortfall: 'ended_early' } : withFlag(reading, 'no_ending');
}
