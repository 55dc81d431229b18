/** Judges whether a fully delivered answer also reached the end that its format defines. */
import { hasFinalUsage, type ReportedUsage } from '../../vocabulary/token-usage.ts';
import type { FramingForm } from './framing.ts';
import { isAnswered, withFlag, withTerminal } from './reported-usage.ts';
import type { UsageFormat } from './usage-format.ts';

export interface Delivered {
  readonly form: FramingForm | null;
  /** It ended inside a value, array, line or frame. */
  readonly isOpen: boolean;
  readonly isEmpty: boolean;
}

/** These formats also have whole answers of unread types: sound, text, files. */
export const MEDIA_FORMATS: readonly UsageFormat['name'][] = [
  'opaque',
  'transcriptions',
  'speech',
  'message-batch',
  'gemini-batch',
];

export function judgeEnding(
  format: UsageFormat,
  { form, isOpen, isEmpty }: Delivered,
  reported: ReportedUsage,
): ReportedUsage {
  // An error is an ending of its own.
  if (reported.error !== null) return reported;
  switch (form) {
    case null:
      return MEDIA_FORMATS.includes(format.name) ? reported : withFlag(reported, 'no_ending');
    case 'json':
      if (!isOpen && !isEmpty) return reported;
      // Some APIs answer with an empty body whatever the type.
      if (isEmpty && format.name === 'opaque') return withFlag(reported, 'no_ending');
      return { ...reported, shortfall: 'not_json' };
    case 'array':
      return isOpen || isEmpty ? { ...reported, shortfall: 'ended_early' } : reported;
    case 'lines':
      return isOpen || isEmpty ? withFlag(reported, 'no_ending') : reported;
    case 'events':
      return judgeStream(format, isOpen, reported);
  }
}

function judgeStream(format: UsageFormat, isOpen: boolean, reported: ReportedUsage): ReportedUsage {
  if (reported.terminal) return reported;
  if (isAnswered(reported) && hasFinalUsage(reported)) return withTerminal(reported);
  if (isAnswered(reported) && format.hasUsageAtEnd !== true) return withFlag(reported, 'no_ending');
  const isKnownToEnd = isOpen || format.hasLastEvent === true || reported.parts !== undefined;
  return isKnownToEnd ? { ...reported, shortfall: 'ended_early' } : withFlag(reported, 'no_ending');
}
